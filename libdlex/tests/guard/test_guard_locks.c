/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks with libdlex-guard: they are counted and never left held, and waits for them end at the deadline.
 * Not here: locks between processes; mutexes with priority inheritance. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include "dlex_testing.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static mtx_t c11_mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* One of these locks, as a pair of functions. */
struct lock {
    int (*take)(void);
    int (*give)(void);
};

#define LOCK(name, take_it, give_it)                                                            \
    static int take_##name(void) { return take_it; }                                            \
    static int give_##name(void) { return give_it; }                                            \
    static const struct lock name##_lock = { take_##name, give_##name };

LOCK(mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
LOCK(read, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCK(write, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCK(spin, pthread_spin_lock(&spinlock), pthread_spin_unlock(&spinlock))
LOCK(c11, mtx_lock(&c11_mutex), mtx_unlock(&c11_mutex))
LOCK(stream, (flockfile(stdin), 0), (funlockfile(stdin), 0))

static const struct lock *const locks[] = {
    &mutex_lock, &read_lock, &write_lock, &spin_lock, &c11_lock, &stream_lock,
};
enum { LOCKS = sizeof(locks) / sizeof(locks[0]), INTERRUPTIBLE = LOCKS - 1 };

static void make_locks(void)
{
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    mtx_init(&c11_mutex, mtx_plain);
}

START_TEST(violation_waits_until_the_lock_is_released)
{
    const struct lock *const lock = locks[_i];
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        if (lock->take() == 0)
            log_mark('t');
        burn_until(deadline_ns + MS);
        log_mark('l');
        lock->give();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "tld");
    ck_assert_int_eq(dlex_guard_.held, 0);
    ck_assert_int_gt(dlex_last_violation()->released_ns, deadline_ns);
}
END_TEST

static volatile bool taken, give_up;

static void *hold(void *lock)
{
    const struct lock *const l = lock;
    l->take();
    taken = true;
    while (!give_up)
        usleep(100);
    l->give();
    return NULL;
}

static pthread_t start_holder(const struct lock *lock)
{
    /* For the read lock the holder takes the write lock, because a reader does not block a reader. */
    taken = give_up = false;
    pthread_t thread;
    const struct lock *const held = lock == &read_lock ? &write_lock : lock;
    pthread_create(&thread, NULL, hold, (void *)(uintptr_t)held);
    while (!taken)
        usleep(100);
    return thread;
}

static void end_holder(pthread_t thread)
{
    give_up = true;
    pthread_join(thread, NULL);
}

START_TEST(wait_for_a_lock_ends_at_the_deadline)
{
    const struct lock *const lock = locks[_i];
    const pthread_t holder = start_holder(lock);
    log_clear();
    dlex_try_within_rel(SOON) {
        lock->take();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
    ck_assert_int_eq(dlex_guard_.held, 0);
    end_holder(holder);
    ck_assert_int_eq(lock->take(), 0);
    ck_assert_int_eq(lock->give(), 0);
}
END_TEST

static void *give_up_late(void *deadline_ns)
{
    volatile int64_t *const deadline = deadline_ns;
    while (!*deadline)
        usleep(100);
    burn_until(*deadline + SOON);
    give_up = true;
    return NULL;
}

START_TEST(wait_for_a_second_lock_is_not_interrupted)
{
    const pthread_t holder = start_holder(&mutex_lock);
    log_clear();
    static volatile int64_t deadline_ns;
    deadline_ns = 0;
    pthread_t later;
    pthread_create(&later, NULL, give_up_late, (void *)(uintptr_t)&deadline_ns);
    deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        pthread_mutex_lock(&other_mutex);
        pthread_mutex_lock(&mutex);
        log_mark('2');
        pthread_mutex_unlock(&mutex);
        log_mark('1');
        pthread_mutex_unlock(&other_mutex);
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    pthread_join(later, NULL);
    end_holder(holder);
    ck_assert_str_eq(log_text(), "21d");
}
END_TEST

static struct timespec on(clockid_t clock, int64_t from_now_ns)
{
    struct timespec time;
    clock_gettime(clock, &time);
    const int64_t ns = time.tv_nsec + from_now_ns;
    return (struct timespec){ time.tv_sec + ns / 1000000000, ns % 1000000000 };
}

START_TEST(time_out_of_the_call_before_the_deadline_is_reported_as_time_out)
{
    const pthread_t holder = start_holder(&mutex_lock);
    volatile int timed = 0, clocked = 0;
    dlex_try_within_rel(HOUR) {
        const struct timespec real = on(CLOCK_REALTIME, 5 * MS);
        timed = pthread_mutex_timedlock(&mutex, &real);
        const struct timespec monotonic = on(CLOCK_MONOTONIC, 5 * MS);
        clocked = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &monotonic);
    } dlex_end
    end_holder(holder);
    ck_assert_int_eq(timed, ETIMEDOUT);
    ck_assert_int_eq(clocked, ETIMEDOUT);
    ck_assert_int_eq(dlex_guard_.held, 0);
}
END_TEST

/* The time-out may also be so far away that an int64_t of nanoseconds cannot hold it. */
START_TEST(deadline_before_the_time_out_of_the_call_is_a_violation)
{
    const struct timespec far[] = { on(CLOCK_REALTIME, HOUR), { .tv_sec = LONG_MAX / 2 } };
    const pthread_t holder = start_holder(&mutex_lock);
    log_clear();
    dlex_try_within_rel(SOON) {
        pthread_mutex_timedlock(&mutex, &far[_i]);
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    end_holder(holder);
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

START_TEST(recursive_and_error_checking_mutexes_work_as_without_the_guard)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t recursive, checking;
    pthread_mutex_init(&recursive, &attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attr);
    volatile int again = 0;
    dlex_try_within_rel(HOUR) {
        again = pthread_mutex_lock(&checking);
        again = pthread_mutex_lock(&checking);
    } dlex_end
    ck_assert_int_eq(again, EDEADLK);
    ck_assert_int_eq(dlex_guard_.held, 1);
    ck_assert_int_eq(pthread_mutex_unlock(&checking), 0);
    ck_assert_int_eq(pthread_mutex_unlock(&checking), EPERM);
    ck_assert_int_eq(dlex_guard_.held, 0);
    ck_assert_int_eq(pthread_mutex_lock(&recursive), 0);
    ck_assert_int_eq(pthread_mutex_trylock(&recursive), 0);
    ck_assert_int_eq(dlex_guard_.held, 2);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    ck_assert_int_eq(dlex_guard_.held, 0);
}
END_TEST

static pthread_mutex_t robust;

static void *end_with_it(void *unused)
{
    pthread_mutex_lock(&robust);
    return unused;
}

START_TEST(mutex_of_a_dead_owner_counts_as_held)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_t thread;
    pthread_create(&thread, NULL, end_with_it, NULL);
    pthread_join(thread, NULL);
    ck_assert_int_eq(pthread_mutex_lock(&robust), EOWNERDEAD);
    ck_assert_int_eq(dlex_guard_.held, 1);
    ck_assert_int_eq(pthread_mutex_consistent(&robust), 0);
    ck_assert_int_eq(pthread_mutex_unlock(&robust), 0);
    ck_assert_int_eq(dlex_guard_.held, 0);
}
END_TEST

static bool is_free(pthread_mutex_t *a_mutex)
{
    const bool free = pthread_mutex_trylock(a_mutex) == 0;
    if (free)
        pthread_mutex_unlock(a_mutex);
    return free;
}

static pthread_cond_t monotonic_cond; /* its attribute sets the clock of timedwait */

static void make_conditions(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&monotonic_cond, &attr);
}

enum how { WAIT, TIMED, CLOCKED, TIMED_MONOTONIC, HOWS };

static int wait_somehow(enum how how, int64_t own_ns)
{
    const struct timespec real = on(CLOCK_REALTIME, own_ns);
    const struct timespec monotonic = on(CLOCK_MONOTONIC, own_ns);
    switch (how) {
    case TIMED: return pthread_cond_timedwait(&cond, &mutex, &real);
    case CLOCKED: return pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &monotonic);
    case TIMED_MONOTONIC: return pthread_cond_timedwait(&monotonic_cond, &mutex, &monotonic);
    default: return pthread_cond_wait(&cond, &mutex);
    }
}

START_TEST(wait_on_a_condition_ends_at_the_deadline_without_the_mutex)
{
    log_clear();
    volatile bool mutex_was_free = false;
    dlex_try_within_rel(SOON) {
        pthread_mutex_lock(&mutex);
        for (;;)
            wait_somehow(_i, HOUR);
    } dlex_finally {
        mutex_was_free = is_free(&mutex);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
    ck_assert(mutex_was_free);
    ck_assert_int_eq(dlex_guard_.held, 0);
}
END_TEST

START_TEST(time_out_of_a_condition_before_the_deadline_is_reported)
{
    volatile int err = 0;
    dlex_try_within_rel(HOUR) {
        pthread_mutex_lock(&mutex);
        err = wait_somehow(_i, 5 * MS);
        pthread_mutex_unlock(&mutex);
    } dlex_end
    ck_assert_int_eq(err, ETIMEDOUT);
}
END_TEST

START_TEST(wait_on_a_condition_with_a_second_mutex_held_runs_to_its_end)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        pthread_mutex_lock(&other_mutex);
        pthread_mutex_lock(&mutex);
        while (dlex_now_ns() < deadline_ns + MS)
            wait_somehow(TIMED, 10 * MS);
        log_mark('w');
        pthread_mutex_unlock(&mutex);
        pthread_mutex_unlock(&other_mutex);
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "wd");
    ck_assert(is_free(&mutex));
}
END_TEST

/* Tokens are handed over under the mutex. A consumer that is aborted while it waits takes no token. */
enum { TOKENS = 20000 };
static int put, got;

static void take_tokens(void)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (put == got && got < TOKENS)
            pthread_cond_wait(&cond, &mutex);
        const bool over = got >= TOKENS;
        got += !over;
        pthread_mutex_unlock(&mutex);
        if (over)
            return;
    }
}

static bool all_are_got(void)
{
    pthread_mutex_lock(&mutex);
    const bool all = got == TOKENS;
    pthread_mutex_unlock(&mutex);
    return all;
}

static void *consume(void *unused)
{
    volatile bool over = false;
    for (volatile int i = 0; !over; i++) {
        dlex_try_within_rel(INT64_C(5000) + i * 7919 % 50000) {
            take_tokens();
            over = true;
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_clear();
        } dlex_end
    }
    return unused;
}

START_TEST(no_token_is_lost_when_consumers_are_aborted)
{
    put = got = 0;
    pthread_t consumers[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    for (int i = 0; i < TOKENS; i++) {
        pthread_mutex_lock(&mutex);
        put++;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    /* A lost wake-up would leave a token while consumers sleep. Aborted consumers check again. */
    while (!all_are_got())
        usleep(1000);
    pthread_cond_broadcast(&cond);
    for (int i = 0; i < 3; i++)
        pthread_join(consumers[i], NULL);
    ck_assert_int_eq(got, TOKENS);
    ck_assert(is_free(&mutex));
}
END_TEST

static void *wait_again_and_again(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (!give_up)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* If a lock inside the condition variable were left held, the last wake-up would hang. */
START_TEST(waking_others_is_never_interrupted_half_way)
{
    pthread_t waiters[2];
    give_up = false;
    for (int i = 0; i < 2; i++)
        pthread_create(&waiters[i], NULL, wait_again_and_again, NULL);
    for (volatile int i = 0; i < 20000; i++) {
        dlex_try_within_rel(INT64_C(15000) + i % 977 * 7) {
            for (;;) {
                pthread_cond_signal(&cond);
                pthread_cond_broadcast(&cond);
            }
        } dlex_handle dlex_when(dlex_deadline_violation) {
        } dlex_end
    }
    pthread_mutex_lock(&mutex);
    give_up = true;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 2; i++)
        pthread_join(waiters[i], NULL);
    ck_assert_int_eq(dlex_guard_.held, 0);
}
END_TEST

int main(void)
{
    make_locks();
    make_conditions();
    TCase *const tests = tcase_create("locks");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, violation_waits_until_the_lock_is_released, 0, LOCKS);
    tcase_add_loop_test(tests, wait_for_a_lock_ends_at_the_deadline, 0, INTERRUPTIBLE);
    tcase_add_test(tests, wait_for_a_second_lock_is_not_interrupted);
    tcase_add_test(tests, time_out_of_the_call_before_the_deadline_is_reported_as_time_out);
    tcase_add_loop_test(tests, deadline_before_the_time_out_of_the_call_is_a_violation, 0, 2);
    tcase_add_test(tests, recursive_and_error_checking_mutexes_work_as_without_the_guard);
    tcase_add_test(tests, mutex_of_a_dead_owner_counts_as_held);
    tcase_add_loop_test(tests, wait_on_a_condition_ends_at_the_deadline_without_the_mutex, 0,
                        HOWS);
    tcase_add_loop_test(tests, time_out_of_a_condition_before_the_deadline_is_reported, TIMED, HOWS);
    tcase_add_test(tests, wait_on_a_condition_with_a_second_mutex_held_runs_to_its_end);
    tcase_add_test(tests, waking_others_is_never_interrupted_half_way);
    tcase_add_test(tests, no_token_is_lost_when_consumers_are_aborted);
    return suite_run_case("libdlex-guard locks", tests, CK_FORK_GETENV);
}
