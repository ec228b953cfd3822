/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Firing at the moment at which a block begins or ends, or its thread does. Every test is a balance: no
 * firing is lost, none hits twice, none hits another block or another thread. Not here: races at chosen
 * instructions (steps/test_every_instruction.c). */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"
#include "thread.h"

#if defined __SANITIZE_ADDRESS__ || defined FEWER_ROUNDS
enum { ROUNDS = 20000 };
#else
enum { ROUNDS = 100000 };
#endif

static struct dlex_trigger trigger, never_fired;

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void spin(int steps)
{
    for (volatile int i = steps; i > 0; i = i - 1)
        ;
}

/* Takes 0 to 4 us, about the time that a block with a trigger takes. */
static void spin_randomly(uint32_t *state)
{
    spin((int)(next_random(state) % 2048));
}

/* How long a body takes. It changes so that the end of the body meets the firing, also on a busy
 * machine, where the two threads may share a processor. */
static int body_steps;

static void approach(bool was_left)
{
    enum { MOST = 20000 }; /* some 20 us: a busy machine interrupts even such bodies often enough */
    body_steps += was_left ? -(body_steps / 8) : body_steps / 8 + 16;
    if (body_steps > MOST)
        body_steps = MOST;
}

/* ---- The owner announces each round; the firers fire once in it -------------------------- */

static _Atomic int round_begun, rounds_fired;

static void *fire_once_in_each_round(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;
    intptr_t errors = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        while (round_begun < round)
            sched_yield();
        spin_randomly(&random);
        errors += dlex_trigger_fire(&trigger) != 0;
        rounds_fired++;
    }
    return (void *)errors;
}

struct balance {
    int begun, ended, left, cleaned, strays, impossible;
};

/* The last rounds' firings must be over before a reset: they would belong to the next round. */
static void begin_round(int round, int firers)
{
    while (rounds_fired < (round - 1) * firers)
        sched_yield();
    dlex_trigger_reset(&trigger);
    round_begun = round;
}

/* If it waits, the body only ends by the firing. */
static void one_block(struct balance *balance, uint32_t *random, bool waits)
{
    volatile struct balance *const b = balance;
    const int left_before = b->left;
    spin_randomly(random);
    b->begun = b->begun + 1;
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        spin(body_steps);
        while (waits || next_random(random) % 4 == 0) {
            sched_yield(); /* the other thread may share the processor */
            spin_randomly(random);
        }
        dlex_try_within_disable();
        b->ended = b->ended + 1;
        dlex_try_within_enable();
    } dlex_finally {
        b->cleaned = b->cleaned + 1;
    } dlex_handle dlex_when(dlex_trigger_violation) {
        b->left = b->left + 1;
        b->impossible = b->impossible + (trigger.fired_ns_ == 0);
    } dlex_end
    approach(waits || b->left > left_before);
}

/* A firing that came too late for the block before must not reach this one. */
static void another_block(struct balance *balance, uint32_t *random)
{
    volatile struct balance *const b = balance;
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&never_fired);
        spin_randomly(random);
    } dlex_handle dlex_when_any {
        b->strays = b->strays + 1;
    } dlex_end
}

static struct balance balance_of(int firers, bool waits, intptr_t *errors)
{
    pthread_t threads[2];
    struct balance balance = { 0 };
    uint32_t random = 12345;
    round_begun = rounds_fired = 0;
    for (intptr_t i = 0; i < firers; i++)
        pthread_create(&threads[i], NULL, fire_once_in_each_round, (void *)(67890 + i));
    for (int round = 1; round <= ROUNDS; round++) {
        begin_round(round, firers);
        one_block(&balance, &random, waits);
        another_block(&balance, &random);
    }
    for (int i = 0; i < firers; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        *errors += (intptr_t)result;
    }
    return balance;
}

static void every_firing_hits(int firers)
{
    intptr_t errors = 0;
    const struct balance b = balance_of(firers, true, &errors);
    ck_assert_int_eq(errors, 0);
    ck_assert_int_eq(b.left, ROUNDS);
    ck_assert_int_eq(b.cleaned, ROUNDS);
    ck_assert_int_eq(b.ended, 0);
    ck_assert_int_eq(b.strays, 0);
    ck_assert_int_eq(b.impossible, 0);
    ck_assert_int_eq(dlex_guard_.depth, 0);
}

START_TEST(no_firing_is_lost_when_the_block_is_just_being_bound)
{
    every_firing_hits(1);
}
END_TEST

START_TEST(no_firing_of_two_threads_is_lost_and_each_block_is_left_once)
{
    every_firing_hits(2);
}
END_TEST

/* A block that counted its end in its section may still be left at the end of that section. */
static void block_ends_or_is_left(int firers)
{
    intptr_t errors = 0;
    const struct balance b = balance_of(firers, false, &errors);
    ck_assert_int_eq(errors, 0);
    ck_assert_int_eq(b.begun, ROUNDS);
    ck_assert_int_eq(b.cleaned, ROUNDS);
    ck_assert_int_ge(b.ended + b.left, ROUNDS);
    ck_assert_int_gt(b.ended, 0);
    ck_assert_int_gt(b.left, 0);
    ck_assert_int_eq(b.strays, 0);
    ck_assert_int_eq(b.impossible, 0);
    ck_assert_int_eq(dlex_guard_.depth, 0);
    ck_assert_int_eq(trigger.thread_, 0);
}

START_TEST(firing_at_the_end_of_a_block_hits_this_block_or_nothing)
{
    block_ends_or_is_left(1);
}
END_TEST

START_TEST(two_firings_at_the_end_of_a_block_hit_this_block_or_nothing)
{
    block_ends_or_is_left(2);
}
END_TEST

/* ---- Threads that come and go ------------------------------------------------------------ */

static _Atomic bool stop;
static _Atomic int firings, hits, interrupted;

static void *fire_all_the_time(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;
    intptr_t errors = 0;
    while (!stop) {
        errors += dlex_trigger_fire(&trigger) != 0;
        firings++;
        spin_randomly(&random);
    }
    return (void *)errors;
}

/* Some threads end with the block open. */
static void *bind_and_end(void *arg)
{
    const intptr_t i = (intptr_t)arg;
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        if (i % 4 == 0) {
            dlex_try_within_disable();
            pthread_exit(NULL);
        }
    } dlex_handle dlex_when(dlex_trigger_violation) {
        hits++;
    } dlex_end
    return NULL;
}

/* Uses the library for nothing, and may have the memory and the id of a thread that has ended. A signal
 * would interrupt the sleep. */
static void *sleep_shortly(void *unused)
{
    const struct timespec nap = { .tv_nsec = 1 };
    if (nanosleep(&nap, NULL) != 0)
        interrupted++;
    return unused;
}

START_TEST(firing_while_threads_end_reaches_their_blocks_or_nothing)
{
    pthread_t firers[2];
    intptr_t errors = 0;
    stop = false;
    for (intptr_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&firers[i], NULL, fire_all_the_time, (void *)(i + 1)), 0);
    for (intptr_t i = 0; i < ROUNDS; i++) {
        pthread_t owner, bystander;
        ck_assert_int_eq(pthread_create(&owner, NULL, bind_and_end, (void *)i), 0);
        const bool has_bystander =
            i % 8 == 0 && pthread_create(&bystander, NULL, sleep_shortly, NULL) == 0;
        pthread_join(owner, NULL);
        if (has_bystander)
            pthread_join(bystander, NULL);
    }
    stop = true;
    for (int i = 0; i < 2; i++) {
        void *result = NULL;
        pthread_join(firers[i], &result);
        errors += (intptr_t)result;
    }
    ck_assert_int_eq(errors, 0);
    ck_assert_int_gt(hits, 0);
    ck_assert_int_eq(interrupted, 0);
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
    ck_assert_ptr_null(dlex_thread_state.target.next);
}
END_TEST

/* ---- Leftovers --------------------------------------------------------------------------- */

START_TEST(no_leftover_interrupts_a_sleep_after_dlex_idle)
{
    pthread_t firer;
    volatile int eintr = 0, left = 0;
    stop = false;
    ck_assert_int_eq(pthread_create(&firer, NULL, fire_all_the_time, (void *)4711), 0);
    for (volatile int i = 0; i < ROUNDS / 10; i = i + 1) {
        const struct timespec nap = { .tv_nsec = 1 };
        const int left_before = left;
        dlex_try {
            dlex_trigger_reset(&trigger);
            dlex_trigger_bind(&trigger);
            spin(body_steps);
            if (i % 4 == 0)
                sched_yield();
        } dlex_handle dlex_when(dlex_trigger_violation) {
            left = left + 1;
        } dlex_end
        approach(left > left_before);
        dlex_idle();
        eintr = eintr + (nanosleep(&nap, NULL) != 0);
    }
    stop = true;
    pthread_join(firer, NULL);
    ck_assert_int_gt(left, 0);
    ck_assert_int_eq(eintr, 0);
}
END_TEST

/* ---- Handlers that fire ------------------------------------------------------------------- */

static _Atomic int handled, firings_in_a_handler;

static void fire_in_a_handler(int signo)
{
    (void)signo;
    handled++;
    for (int i = 0; i < firings_in_a_handler; i++)
        dlex_trigger_fire(&trigger);
}

static void handle_sigusr1(void)
{
    struct sigaction action = { .sa_handler = fire_in_a_handler };
    sigemptyset(&action.sa_mask);
    dlex_sigaction(SIGUSR1, &action, NULL);
}

static void *signal_all_the_time(void *thread)
{
    while (!stop) {
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
        usleep(20); /* longer than the handler: its thread must get on between two signals */
    }
    return NULL;
}

/* A handler that waited for the lock of its own thread would wait for ever. */
START_TEST(handler_fires_while_its_thread_fires)
{
    pthread_t own = pthread_self(), signaller;
    int errors = 0;
    handle_sigusr1();
    stop = false;
    handled = 0;
    firings_in_a_handler = 1;
    ck_assert_int_eq(pthread_create(&signaller, NULL, signal_all_the_time, &own), 0);
    while (handled < ROUNDS / 10)
        errors += dlex_trigger_fire(&trigger) != 0;
    stop = true;
    pthread_join(signaller, NULL);
    ck_assert_int_eq(errors, 0);
}
END_TEST

static _Atomic pid_t reader;

static void *read_for_ever(void *fd)
{
    char byte;
    reader = (pid_t)syscall(SYS_gettid);
    while (read(*(int *)fd, &byte, 1) != 0)
        ;
    return NULL;
}

static void cancel(pthread_t thread)
{
    pthread_cancel(thread);
}

/* In a call that sleeps libc lets cancellation come at any instruction, also at those of a handler. A
 * thread that ended in dlex_trigger_fire would keep its lock. */
static void cancel_while_a_handler_fires(void (*cancel_thread)(pthread_t))
{
    int fd[2];
    uint32_t random = 4;
    ck_assert_int_eq(pipe(fd), 0);
    handle_sigusr1();
    firings_in_a_handler = 20;
    for (int i = 0; i < ROUNDS / 20; i++) {
        pthread_t thread;
        handled = reader = 0;
        ck_assert_int_eq(pthread_create(&thread, NULL, read_for_ever, &fd[0]), 0);
        while (!reader)
            sched_yield();
        usleep(100); /* it shall sleep in its call */
        pthread_kill(thread, SIGUSR1);
        while (!handled)
            sched_yield();
        spin(8 * (int)(next_random(&random) % 2048));
        cancel_thread(thread);
        pthread_join(thread, NULL);
        ck_assert_int_eq(dlex_trigger_fire(&trigger), 0);
    }
    close(fd[0]);
    close(fd[1]);
}

START_TEST(thread_is_cancelled_while_its_handler_fires)
{
    cancel_while_a_handler_fires(cancel);
}
END_TEST

/* From 2.41 on, glibc heeds the signal of cancellation only at a call that sleeps, and a signal alone may end nothing. */
#ifdef __GLIBC__
#if !__GLIBC_PREREQ(2, 41)
#define CANCELS_BY_SIGNAL
#endif
#endif

#ifdef CANCELS_BY_SIGNAL
/* What pthread_cancel of glibc does after it has found cancellation enabled. It may have found that long ago. */
static void send_cancellation(pthread_t thread)
{
    enum { SIGNAL_OF_CANCELLATION = 32 };
    (void)thread;
    syscall(SYS_tgkill, getpid(), reader, SIGNAL_OF_CANCELLATION);
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* The first pthread_cancel of a process installs libc's handler. */
static void cancel_somebody(void)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

START_TEST(cancellation_that_was_begun_earlier_spares_a_handler_that_fires)
{
    cancel_somebody();
    cancel_while_a_handler_fires(send_cancellation);
}
END_TEST
#endif

int main(void)
{
    const TTest *const tests[] = {
        no_firing_is_lost_when_the_block_is_just_being_bound,
        no_firing_of_two_threads_is_lost_and_each_block_is_left_once,
        firing_at_the_end_of_a_block_hits_this_block_or_nothing,
        two_firings_at_the_end_of_a_block_hit_this_block_or_nothing,
        firing_while_threads_end_reaches_their_blocks_or_nothing,
        no_leftover_interrupts_a_sleep_after_dlex_idle,
        handler_fires_while_its_thread_fires,
        thread_is_cancelled_while_its_handler_fires,
#ifdef CANCELS_BY_SIGNAL
        cancellation_that_was_begun_earlier_spares_a_handler_that_fires,
#endif
        NULL,
    };
    return suite_run("libdlex trigger races", 240, tests);
}
