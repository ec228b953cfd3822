/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that arrive although nothing has expired, and expiries whose signal never arrives. Before Linux
 * 6.13 the signal of a timer may still arrive after the timer was disarmed or set again. Here such
 * signals are sent with the same contents as those of the kernel. Not here: a stray or lost signal at
 * each instruction (steps), and dlex_idle (test_dlex_processes.c). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"

enum { BLOCKS = 1000000, LEFT_EARLY = 1000 };

/* ---- A storm ------------------------------------------------------------------------------ */

struct storm {
    pid_t victim;
    int stop;
    int blocks; /* that the victim has completed */
};

/* If the queue is full (EAGAIN), nothing is sent. */
static void send_like_a_timer(pid_t thread)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = dlex_signal();
    info.si_code = SI_TIMER;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, info.si_signo, &info);
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* If the victim waits for a CPU, all signals that were sent meanwhile arrive at once, and their frames are
 * stacked on each other. A timer leaves only one signal, so this test must not send thousands. */
enum { UNANSWERED_MOST = 64 };

static void *blow(void *arg)
{
    struct storm *const storm = arg;
    uint32_t random = 1;
    int seen = 0, unanswered = 0;
    while (!__atomic_load_n(&storm->stop, __ATOMIC_RELAXED)) {
        const struct timespec calm = { .tv_nsec = next_random(&random) % 20000 };
        const int blocks = __atomic_load_n(&storm->blocks, __ATOMIC_RELAXED);
        unanswered = blocks == seen ? unanswered + 1 : 0;
        seen = blocks;
        if (unanswered < UNANSWERED_MOST)
            send_like_a_timer(storm->victim);
        nanosleep(&calm, NULL);
    }
    return NULL;
}

/* Returns whether the last violation belongs to this limit, and the limit has passed on its clock. */
static bool is_due(int64_t limit_ns, int64_t now_ns)
{
    return dlex_last_violation()->deadline_ns == limit_ns && now_ns >= limit_ns;
}

static void spin(uint32_t times)
{
    for (volatile uint32_t i = 0; i < times; i++)
        ;
}

/* Each of these returns whether the result is wrong. The limit must expire, because the body has no end. */
static bool endless_body(int64_t within_ns)
{
    volatile bool wrong = true;
    const int64_t deadline_ns = dlex_now_ns() + within_ns;
    dlex_try_within_abs(deadline_ns) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        wrong = !is_due(deadline_ns, dlex_now_ns());
    } dlex_end
    return wrong;
}

static bool endless_body_in_a_far_block(int64_t within_ns)
{
    volatile bool wrong = true;
    dlex_try_within_rel(HOUR) {
        wrong = endless_body(within_ns);
    } dlex_handle dlex_when_any {
        wrong = true;
    } dlex_end
    return wrong;
}

static bool endless_body_in_two_blocks(int64_t within_ns)
{
    volatile bool wrong = true;
    const int64_t deadline_ns = dlex_now_ns() + within_ns;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_abs(deadline_ns + HOUR) {
            burn(HOUR);
        } dlex_handle dlex_when_any {
            wrong = true;
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        wrong = !is_due(deadline_ns, dlex_now_ns());
    } dlex_end
    return wrong;
}

static bool endless_body_with_little_cpu_time(int64_t within_ns)
{
    volatile bool wrong = true;
    const int64_t earliest_ns = dlex_cpu_ns() + within_ns;
    dlex_try_within_wcet(within_ns) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        wrong = dlex_last_violation()->deadline_ns < earliest_ns
             || dlex_cpu_ns() < dlex_last_violation()->deadline_ns;
    } dlex_end
    return wrong;
}

static bool short_body(int64_t within_ns, uint32_t times)
{
    volatile bool wrong = false;
    const int64_t deadline_ns = dlex_now_ns() + within_ns;
    dlex_try_within_abs(deadline_ns) {
        spin(times);
    } dlex_handle dlex_when_any {
        wrong = !is_due(deadline_ns, dlex_now_ns());
    } dlex_end
    return wrong;
}

static bool short_body_with_much_cpu_time(uint32_t times)
{
    volatile bool wrong = false;
    dlex_try_within_wcet(HOUR) {
        spin(times);
    } dlex_handle dlex_when_any {
        wrong = true;
    } dlex_end
    return wrong;
}

static bool random_block(uint32_t random)
{
    const int64_t near_ns = 1000 + (random >> 16) % 16384;
    const uint32_t times = random >> 27;
    switch (random % 256) {
    case 0: return endless_body(near_ns);
    case 1: return endless_body_in_a_far_block(near_ns);
    case 2: return endless_body_in_two_blocks(near_ns);
    case 3: return endless_body_with_little_cpu_time(near_ns);
    default: break;
    }
    if (random % 256 < 32)
        return short_body(near_ns / 8, times);
    return random % 2 ? short_body(HOUR, times) : short_body_with_much_cpu_time(times);
}

START_TEST(million_blocks_in_a_storm_of_stale_signals_get_only_their_own_violations)
{
    struct storm storm = { .victim = gettid() };
    pthread_t thread;
    ck_assert_int_eq(dlex_thread_init(), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, blow, &storm), 0);
    uint32_t random = 1;
    int wrong = 0;
    for (int i = 0; i < BLOCKS; i++) {
        wrong += random_block(next_random(&random));
        __atomic_store_n(&storm.blocks, i + 1, __ATOMIC_RELAXED);
        if (i % 64 == 0)
            send_like_a_timer(storm.victim);
    }
    __atomic_store_n(&storm.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* ---- Lost signals ------------------------------------------------------------------------- */

static void own_signal(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, dlex_signal());
}

static void block_own_signal(void)
{
    sigset_t own;
    ck_assert_int_eq(dlex_thread_init(), 0);
    dlex_idle(); /* otherwise a leftover of another test could arrive instead of the expected signal */
    own_signal(&own);
    pthread_sigmask(SIG_BLOCK, &own, NULL);
}

/* The signal is blocked and pending. This function removes it, so that nobody gets it. */
static void lose_own_signal(void)
{
    sigset_t own;
    own_signal(&own);
    while (sigwaitinfo(&own, NULL) < 0)
        ;
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    log_mark('l');
}

static void open_a_block(void)
{
    dlex_try_within_rel(HOUR) {
        log_mark('x');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when_any {
        log_mark('y');
    } dlex_end
}

static const char *log_of_lost_deadline(void (*then)(void))
{
    log_clear();
    block_own_signal();
    dlex_try_within_rel(SOON) {
        lose_own_signal();
        then();
        log_mark('z');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    return log_text();
}

static const char *log_of_lost_wcet(void (*then)(void))
{
    log_clear();
    block_own_signal();
    dlex_try_within_wcet(5 * MS) {
        const int64_t end_ns = dlex_cpu_ns() + 5 * MS;
        while (dlex_cpu_ns() < end_ns)
            ;
        lose_own_signal();
        then();
        log_mark('z');
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('o');
    } dlex_end
    return log_text();
}

START_TEST(deadline_whose_signal_was_lost_is_noticed_by_the_next_block)
{
    ck_assert_str_eq(log_of_lost_deadline(open_a_block), "lfo");
}
END_TEST

START_TEST(deadline_whose_signal_was_lost_is_noticed_by_a_checkpoint)
{
    ck_assert_str_eq(log_of_lost_deadline(dlex_checkpoint), "lo");
}
END_TEST

START_TEST(wcet_whose_signal_was_lost_is_noticed_by_the_next_block)
{
    ck_assert_str_eq(log_of_lost_wcet(open_a_block), "lfo");
}
END_TEST

START_TEST(wcet_whose_signal_was_lost_is_noticed_by_a_checkpoint)
{
    ck_assert_str_eq(log_of_lost_wcet(dlex_checkpoint), "lo");
}
END_TEST

/* The signal was armed for a block that was left early. The next block must not rely on it. */
START_TEST(block_after_a_lost_leftover_signal_gets_its_violation)
{
    log_clear();
    block_own_signal();
    dlex_try_within_rel(SOON) {
        log_mark('b');
    } dlex_end
    lose_own_signal();
    ck_assert(!endless_body(5 * MS));
    ck_assert_str_eq(log_text(), "bl");
}
END_TEST

/* ---- Leftovers ---------------------------------------------------------------------------- */

static int interruptions_of_a_sleep(int64_t ns)
{
    struct timespec rest = { ns / 1000000000, ns % 1000000000 };
    int count = 0;
    while (nanosleep(&rest, &rest) < 0)
        count++;
    return count;
}

/* Each deadline is earlier than the one before it, so each block arms the timer. */
static void leave_blocks_early(void)
{
    const int64_t last_ns = dlex_now_ns() + SOON;
    for (int i = 0; i < LEFT_EARLY; i++) {
        dlex_try_within_abs(last_ns - i) { } dlex_end
    }
}

START_TEST(blocks_left_early_interrupt_a_sleep_at_most_once)
{
    leave_blocks_early();
    /* If the router had to wait for the CPU, its signal may come after the first sleep. */
    const int first = interruptions_of_a_sleep(2 * SOON);
    ck_assert_int_le(first + interruptions_of_a_sleep(2 * SOON), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        million_blocks_in_a_storm_of_stale_signals_get_only_their_own_violations,
        deadline_whose_signal_was_lost_is_noticed_by_the_next_block,
        deadline_whose_signal_was_lost_is_noticed_by_a_checkpoint,
        wcet_whose_signal_was_lost_is_noticed_by_the_next_block,
        wcet_whose_signal_was_lost_is_noticed_by_a_checkpoint,
        block_after_a_lost_leftover_signal_gets_its_violation,
        blocks_left_early_interrupt_a_sleep_at_most_once,
        NULL,
    };
    return suite_run("libdlex stale signals", 120, tests);
}
