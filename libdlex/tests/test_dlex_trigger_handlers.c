/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Triggers and signal handlers of the program and of libc: which handlers are never left, and what a jump restores. Not here:
 * handlers at each instruction of the library (steps/test_handlers_everywhere.c). */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "dlex_testing.h"

static struct dlex_trigger trigger, outer_trigger, other_trigger;
static volatile bool over;

static void on(int signo, void (*handler)(int signo))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_NODEFER };
    sigemptyset(&action.sa_mask);
    sigaction(signo, &action, NULL);
}

/* ---- Handlers of libc ---------------------------------------------------------------------- */

static void fire(int signo)
{
    (void)signo;
    dlex_trigger_fire(&trigger);
}

static void *be_violated_by_own_handler(void *unused)
{
    while (!over) {
        dlex_trigger_reset(&trigger);
        dlex_try_within_rel(HOUR) {
            dlex_trigger_bind(&trigger);
            for (;;)
                ;
        } dlex_handle dlex_when(dlex_trigger_violation) {
        } dlex_end
    }
    return unused;
}

static _Atomic int ids_set;

/* libc runs a handler in every thread, and waits for all of them. */
static void *set_ids(void *unused)
{
    while (!over && seteuid(geteuid()) == 0)
        ids_set++;
    return unused;
}

/* Interrupts the thread until the ids were set `times` times. Returns false if that stood still for 30 s. */
static bool interrupt_until(pthread_t thread, int times)
{
    int last = ids_set;
    for (int64_t since_ns = dlex_now_ns(); ids_set < times; last = ids_set) {
        pthread_kill(thread, SIGUSR1);
        usleep(20);
        if (ids_set != last)
            since_ns = dlex_now_ns();
        else if (dlex_now_ns() - since_ns > 30000 * MS)
            return false;
    }
    return true;
}

/* A violation in a handler of the program, which has interrupted libc's, once left both: seteuid waited for ever. */
START_TEST(handler_of_libc_below_a_handler_of_the_program_is_not_left)
{
    pthread_t owner, setter;
    on(SIGUSR1, fire);
    ck_assert_int_eq(pthread_create(&owner, NULL, be_violated_by_own_handler, NULL), 0);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    ck_assert_int_eq(pthread_create(&setter, NULL, set_ids, NULL), 0);
    ck_assert(interrupt_until(owner, 3000));
    over = true;
    pthread_join(setter, NULL);
    pthread_kill(owner, SIGUSR1);
    pthread_join(owner, NULL);
    pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
}
END_TEST

/* ---- What a jump restores ------------------------------------------------------------------ */

enum { ROUNDS = 300 };
static _Atomic int begun, asleep;
static int wrong_masks, lost_stacks;

static void note_what_is_wrong(const stack_t *stack)
{
    sigset_t now;
    stack_t alternate;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    wrong_masks += sigismember(&now, SIGTERM) || !sigismember(&now, SIGUSR2) || sigismember(&now, dlex_signal());
    sigaltstack(NULL, &alternate);
    lost_stacks += !!(alternate.ss_flags & SS_DISABLE);
    sigaltstack(stack, NULL);
}

static void sleep_in_two_blocks(const stack_t *stack, int round)
{
    sigset_t of_call;
    sigfillset(&of_call);
    sigdelset(&of_call, dlex_signal());
    dlex_try {
        dlex_trigger_bind(&outer_trigger);
        dlex_try {
            dlex_trigger_bind(&trigger);
            asleep = round;
            for (;;)
                ppoll(NULL, 0, NULL, &of_call);
        } dlex_end
    } dlex_handle dlex_when(dlex_trigger_violation) {
        note_what_is_wrong(stack);
    } dlex_end
}

static void *sleep_in_ppoll(void *unused)
{
    static char memory[1 << 16];
    const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory), .ss_flags = (int)(1U << 31) /* SS_AUTODISARM */ };
    stack_t before; /* a sanitizer gives each thread one, and takes it back */
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    sigaltstack(&stack, &before);
    for (volatile int round = 1; round <= ROUNDS; round++) {
        while (begun < round)
            sched_yield();
        dlex_trigger_reset(&trigger);
        dlex_trigger_reset(&outer_trigger);
        sleep_in_two_blocks(&stack, round);
    }
    sigaltstack(&before, NULL);
    return unused;
}

/* On one CPU, both signals wait until the owner runs again. */
START_TEST(two_firings_at_once_restore_mask_and_stack)
{
    cpu_set_t cpus, one;
    pthread_t owner;
    sched_getaffinity(0, sizeof(cpus), &cpus);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &cpus))
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    ck_assert_int_eq(pthread_create(&owner, NULL, sleep_in_ppoll, NULL), 0);
    for (int round = 1; round <= ROUNDS; round++) {
        begun = round;
        while (asleep < round)
            sched_yield();
        usleep(50);
        dlex_trigger_fire(&trigger);
        dlex_trigger_fire(&outer_trigger);
    }
    pthread_join(owner, NULL);
    sched_setaffinity(0, sizeof(cpus), &cpus);
    ck_assert_int_eq(wrong_masks, 0);
    ck_assert_int_eq(lost_stacks, 0);
}
END_TEST

static int cancel_type;
static sem_t is_bound;

static void fire_in_section(int signo)
{
    dlex_try_within_disable();
    fire(signo);
    dlex_try_within_enable();
}

static void *pause_until_fired(void *unused)
{
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        sem_post(&is_bound);
        for (;;)
            pause();
    } dlex_handle dlex_when(dlex_trigger_violation) {
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &cancel_type);
    } dlex_end
    return unused;
}

/* libc makes it asynchronous within pause, which is never returned from. */
START_TEST(cancellation_is_deferred_after_a_jump_out_of_a_handler)
{
    static void (*const handlers[])(int signo) = { fire, fire_in_section };
    sem_init(&is_bound, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_t owner;
        on(SIGUSR1, handlers[i]);
        cancel_type = -1;
        ck_assert_int_eq(pthread_create(&owner, NULL, pause_until_fired, NULL), 0);
        sem_wait(&is_bound);
        usleep(20000);
        pthread_kill(owner, SIGUSR1);
        pthread_join(owner, NULL);
        ck_assert_int_eq(cancel_type, PTHREAD_CANCEL_DEFERRED);
    }
}
END_TEST

/* ---- The owner of a trigger ---------------------------------------------------------------- */

static void *bind_and_be_fired(void *caught)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_trigger_fire(&trigger);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        *(bool *)caught = true;
    } dlex_end
    return NULL;
}

static void bind_and_leave(jmp_buf *out)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        longjmp(*out, 1);
    } dlex_end
}

/* The number of this thread is still in the trigger, but none of its blocks is bound. */
START_TEST(trigger_of_a_block_that_was_left_by_longjmp_can_be_bound_in_another_thread)
{
    jmp_buf out;
    bool caught = false;
    pthread_t other;
    dlex_trigger_reset(&trigger);
    if (setjmp(out) == 0)
        bind_and_leave(&out);
    dlex_try {
        dlex_checkpoint();
    } dlex_end
    ck_assert_int_eq(pthread_create(&other, NULL, bind_and_be_fired, &caught), 0);
    pthread_join(other, NULL);
    ck_assert(caught);
}
END_TEST

/* ---- The end of threads -------------------------------------------------------------------- */

static void open_and_bind(int signo)
{
    (void)signo;
    dlex_try {
        dlex_trigger_bind(&other_trigger);
    } dlex_end
}

static void *bind_once(void *unused)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
    } dlex_end
    return unused;
}

/* The signals come at many places, also while the library gives back what the thread has. */
START_TEST(handlers_may_bind_while_their_thread_ends)
{
    struct sigaction action = { .sa_handler = open_and_bind };
    sigemptyset(&action.sa_mask);
    dlex_sigaction(SIGUSR1, &action, NULL);
    dlex_trigger_reset(&trigger);
    dlex_trigger_reset(&other_trigger);
    for (int i = 0; i < 10000; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, bind_once, NULL), 0);
        burn(i % 100 * 1000);
        for (int sent = 0; sent < 3; sent++)
            pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
        dlex_trigger_fire(&trigger); /* walks the list of threads */
        dlex_trigger_reset(&trigger);
    }
}
END_TEST

int main(void)
{
    return suite_run("libdlex triggers and handlers", 60,
                     (const TTest *const[]){
                         handler_of_libc_below_a_handler_of_the_program_is_not_left,
                         two_firings_at_once_restore_mask_and_stack,
                         cancellation_is_deferred_after_a_jump_out_of_a_handler,
                         trigger_of_a_block_that_was_left_by_longjmp_can_be_bound_in_another_thread,
                         handlers_may_bind_while_their_thread_ends,
                         NULL,
                     });
}
