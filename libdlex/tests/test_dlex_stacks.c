/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads with an alternate stack: the library's handler runs there, and so do handlers of the program. Not here: a
 * handler at each instruction of a jump from there (steps/test_handlers_everywhere.c). */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "dlex_testing.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

enum { SIZE = 1 << 16 };
static char memory[SIZE];

static bool is_untouched(void)
{
    const volatile char *const bytes = memory;
    for (int i = 0; i < SIZE; i++)
        if (bytes[i])
            return false;
    return true;
}

static stack_t set_stack(unsigned flags)
{
    const stack_t stack = { .ss_sp = memory, .ss_size = SIZE, .ss_flags = (int)flags };
    stack_t before; /* a sanitizer gives each thread one */
    memset(memory, 0, SIZE);
    ck_assert_int_eq(sigaltstack(&stack, &before), 0);
    return before;
}

/* The timer stays armed, so the signal comes after the end of the block. On a busy machine it may come before. */
static void end_before_the_signal(void)
{
    dlex_try_within_rel(10 * MS) {
    } dlex_handle dlex_when_any {
    } dlex_end
}

/* Computes until the signal has come, or until it is certain that its handler ran on another stack. */
static void outlast_the_signal(void)
{
    const int64_t limit_ns = dlex_now_ns() + 10000 * MS;
    while (is_untouched() && dlex_now_ns() < limit_ns)
        ;
}

static void be_aborted(void)
{
    dlex_try_within_rel(MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
}

START_TEST(late_signal_is_handled_on_the_alternate_stack)
{
    const stack_t before = set_stack(0);
    end_before_the_signal();
    outlast_the_signal();
    sigaltstack(&before, NULL);
    ck_assert(!is_untouched());
}
END_TEST

START_TEST(violations_leave_the_alternate_stack_free)
{
    const unsigned flags[] = { 0, SS_AUTODISARM };
    for (volatile int i = 0; i < 6; i = i + 1) {
        stack_t after;
        log_clear();
        const stack_t before = set_stack(flags[i % 2]);
        be_aborted();
        ck_assert(!is_untouched());
        ck_assert_int_eq(sigaltstack(&before, &after), 0);
        ck_assert_ptr_eq(after.ss_sp, memory);
        ck_assert_int_eq(after.ss_flags, (int)flags[i % 2]);
        ck_assert_str_eq(log_text(), "d");
    }
}
END_TEST

/* Frames of AddressSanitizer do not fit, and musl has no makecontext. */
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__
#define HAS_SMALL_STACKS
static ucontext_t outside, coroutine;

static void run_on_a_page(void (*body)(void))
{
    enum { PAGE = 4096 };
    char *const stack = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(stack, MAP_FAILED);
    ck_assert_int_eq(mprotect(stack, PAGE, PROT_NONE), 0);
    getcontext(&coroutine);
    coroutine.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = 2 * PAGE };
    coroutine.uc_link = &outside;
    makecontext(&coroutine, body, 0);
    swapcontext(&outside, &coroutine);
    munmap(stack, 2 * PAGE);
}

static void outlast_with_little_room(void)
{
    volatile char use[1600] = { 0 };
    (void)use;
    outlast_the_signal();
}

static void be_aborted_with_little_room(void)
{
    volatile char use[800] = { 0 };
    (void)use;
    be_aborted();
}

/* The first violation of the process: what the handler calls is bound lazily by then. */
START_TEST(first_violation_needs_the_documented_size)
{
#ifdef _SC_MINSIGSTKSZ
    enum { BELOW = 1 << 16 };
    const size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024;
    char *const low = mmap(NULL, BELOW + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(low, MAP_FAILED);
    ck_assert_int_eq(mprotect(low, BELOW, PROT_NONE), 0);
    const stack_t stack = { .ss_sp = low + BELOW, .ss_size = size };
    stack_t before;
    ck_assert_int_eq(sigaltstack(&stack, &before), 0);
    log_clear();
    be_aborted();
    sigaltstack(&before, NULL);
    munmap(low, BELOW + size);
    ck_assert_str_eq(log_text(), "d");
#endif
}
END_TEST

START_TEST(stack_of_a_coroutine_has_no_room_for_a_signal)
{
    log_clear();
    for (int i = 0; i < 3; i++) {
        const stack_t before = set_stack(i == 2 ? SS_AUTODISARM : 0);
        end_before_the_signal();
        run_on_a_page(outlast_with_little_room);
        run_on_a_page(be_aborted_with_little_room);
        sigaltstack(&before, NULL);
    }
    ck_assert_str_eq(log_text(), "ddd");
}
END_TEST
#endif

static jmp_buf way_out;

static __attribute__((noinline)) void leave_a_block(void)
{
    dlex_try_within_rel(SOON) {
        longjmp(way_out, 1);
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
}

static __attribute__((noinline)) int leave_a_block_from_far_below(void)
{
    volatile char distance[SIZE];
    distance[0] = 1;
    leave_a_block();
    return distance[0];
}

/* The handler is on another stack than the block, but the interrupted code is not. */
START_TEST(block_left_by_longjmp_is_forgotten_when_its_signal_is_handled_there)
{
    const unsigned flags[] = { 0, SS_AUTODISARM };
    for (volatile int i = 0; i < 2; i = i + 1) {
        log_clear();
        const stack_t before = set_stack(flags[i]);
        dlex_try {
            if (setjmp(way_out) == 0)
                leave_a_block_from_far_below();
            outlast_the_signal();
            burn(MS);
            log_mark('b');
        } dlex_end
        sigaltstack(&before, NULL);
        ck_assert_str_eq(log_text(), "b");
    }
}
END_TEST

/* A stack above those of the threads that are created after it. Because of SS_AUTODISARM the kernel
 * does not report that it is in use. */
static stack_t high_stack;

static void open_on_another_stack(int signo)
{
    (void)signo;
    dlex_try_within_rel(HOUR) {
        log_mark('b');
    } dlex_end
}

static void burn_on_another_stack(int signo)
{
    (void)signo;
    burn(HOUR);
}

static void *be_interrupted_below(void *handler)
{
    const struct sigaction action = {
        .sa_handler = *(void (**)(int))handler, .sa_flags = SA_ONSTACK | SA_NODEFER
    };
    stack_t before; /* that of AddressSanitizer, which unmaps whatever stack is set at the end */
    sigaltstack(&high_stack, &before);
    sigaction(SIGUSR1, &action, NULL);
    log_clear();
    dlex_try {
        dlex_try_within_rel(SOON) {
            raise(SIGUSR1);
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
        dlex_throw(dlex_exception);
    } dlex_handle dlex_when_any {
        log_mark('e');
    } dlex_end
    sigaltstack(&before, NULL);
    return strdup(log_text());
}

static void expect_below(void (*handler)(int), const char *expected)
{
    pthread_t thread;
    void *text = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, be_interrupted_below, &handler), 0);
    ck_assert_int_eq(pthread_join(thread, &text), 0);
    ck_assert_str_eq((char *)text, expected);
    free(text);
}

START_TEST(blocks_stay_open_under_a_handler_on_a_disarmed_alternate_stack)
{
    const size_t size = 1 << 18;
    high_stack.ss_sp =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    high_stack.ss_size = size;
    ck_assert_ptr_ne(high_stack.ss_sp, MAP_FAILED);
    const unsigned flags[] = { SS_AUTODISARM, 0 };
    for (int i = 0; i < 2; i++) {
        high_stack.ss_flags = (int)flags[i];
        expect_below(open_on_another_stack, "bde");
        expect_below(burn_on_another_stack, "de");
    }
    munmap(high_stack.ss_sp, size);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
#ifdef HAS_SMALL_STACKS
        first_violation_needs_the_documented_size,
#endif
        late_signal_is_handled_on_the_alternate_stack,
        violations_leave_the_alternate_stack_free,
#ifdef HAS_SMALL_STACKS
        stack_of_a_coroutine_has_no_room_for_a_signal,
#endif
        block_left_by_longjmp_is_forgotten_when_its_signal_is_handled_there,
        blocks_stay_open_under_a_handler_on_a_disarmed_alternate_stack,
        NULL,
    };
    return suite_run("libdlex stacks", 120, tests);
}
