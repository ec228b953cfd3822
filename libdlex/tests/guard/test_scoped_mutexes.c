/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mutexes that are unlocked when their block is aborted, and waits for them. Not here: mutexes that
 * libdlex-guard counts (locks); the release of resources in general (scoped). */
#include <pthread.h>

#include "dlex_testing.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_once(void *a_mutex)
{
    if (pthread_mutex_trylock(a_mutex) != 0)
        return NULL;
    pthread_mutex_unlock(a_mutex);
    return a_mutex;
}

static bool others_can_lock(void)
{
    pthread_t thread;
    void *locked = NULL;
    pthread_create(&thread, NULL, lock_once, &mutex);
    pthread_join(thread, &locked);
    return locked;
}

START_TEST(mutex_of_an_aborted_block_is_unlocked)
{
    volatile int err = -1;
    volatile bool was_locked = false, is_free = false;
    dlex_try_within_rel(SOON) {
        err = dlex_scoped_mutex_lock(&mutex);
        dlex_try_within_disable();
        was_locked = !others_can_lock();
        dlex_try_within_enable();
        burn(HOUR);
    } dlex_finally {
        is_free = others_can_lock();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_int_eq(err, 0);
    ck_assert(was_locked);
    ck_assert(is_free);
}
END_TEST

START_TEST(wait_for_a_mutex_ends_at_the_deadline_without_the_mutex)
{
    log_clear();
    pthread_mutex_lock(&mutex);
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_rel(HOUR) {
        dlex_try_within_abs(deadline_ns) {
            dlex_scoped_mutex_lock(&mutex);
            log_mark('x');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
    } dlex_end
    ck_assert_int_ge(dlex_now_ns(), deadline_ns);
    ck_assert(!others_can_lock());
    pthread_mutex_unlock(&mutex);
    ck_assert(others_can_lock());
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

/* Another thread holds the mutex, and unlocks it some time after the deadline of the waiting thread. */
static volatile bool is_held;

static void *hold_beyond(void *deadline_ns)
{
    volatile int64_t *const deadline = deadline_ns;
    pthread_mutex_lock(&mutex);
    is_held = true;
    while (!*deadline)
        usleep(100);
    burn_until(*deadline + SOON);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Returns the deadline. It is set when the mutex is held, just before the wait. */
static int64_t start_holder(pthread_t *thread, volatile int64_t *deadline_ns)
{
    *deadline_ns = 0;
    is_held = false;
    pthread_create(thread, NULL, hold_beyond, (void *)(uintptr_t)deadline_ns);
    while (!is_held)
        usleep(100);
    return *deadline_ns = dlex_now_ns() + SOON;
}

START_TEST(wait_for_a_mutex_in_a_section_is_not_interrupted)
{
    static volatile int64_t shared_ns;
    pthread_t holder;
    const int64_t deadline_ns = start_holder(&holder, &shared_ns);
    log_clear();
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        if (dlex_scoped_mutex_lock(&mutex) == 0)
            log_mark('l');
        dlex_scoped_mutex_unlock(&mutex);
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    pthread_join(holder, NULL);
    ck_assert_str_eq(log_text(), "ld");
}
END_TEST

/* The outer block has expired, but the island delays its violation. The wait must not end at that past
 * deadline, and must not spin, which would use CPU time for all of SOON. */
START_TEST(wait_for_a_mutex_in_an_island_ignores_the_blocks_outside)
{
    static volatile int64_t shared_ns;
    pthread_t holder;
    const int64_t deadline_ns = start_holder(&holder, &shared_ns);
    log_clear();
    const int64_t cpu_before_ns = dlex_cpu_ns();
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_rel_shielded(HOUR) {
            if (dlex_scoped_mutex_lock(&mutex) == 0)
                log_mark('l');
            dlex_scoped_mutex_unlock(&mutex);
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    const int64_t cpu_ns = dlex_cpu_ns() - cpu_before_ns;
    pthread_join(holder, NULL);
    ck_assert_int_lt(cpu_ns, SOON / 4);
    ck_assert_str_eq(log_text(), "ld");
}
END_TEST

struct pair {
    int64_t first, second;
    int64_t torn;
};

static void count_for_ever(struct pair *pair)
{
    for (;;) {
        dlex_scoped_mutex_lock(&mutex);
        dlex_try_within_disable();
        pair->torn += pair->first != pair->second;
        pair->first++;
        pair->second++;
        dlex_try_within_enable();
        dlex_scoped_mutex_unlock(&mutex);
    }
}

static void *storm_of_counters(void *pair)
{
    for (volatile int i = 0; i < 1500; i++) {
        dlex_try_within_rel(INT64_C(10000) + i * 7919 % 30000) {
            count_for_ever(pair);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_clear();
        } dlex_end
    }
    return NULL;
}

START_TEST(storm_of_four_threads_over_a_mutex_leaves_it_free_and_the_data_whole)
{
    static struct pair pair;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, storm_of_counters, &pair);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(pair.torn, 0);
    ck_assert_int_eq(pair.first, pair.second);
    ck_assert_int_gt(pair.first, 1000);
    ck_assert(others_can_lock());
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        mutex_of_an_aborted_block_is_unlocked,
        wait_for_a_mutex_ends_at_the_deadline_without_the_mutex,
        wait_for_a_mutex_in_a_section_is_not_interrupted,
        wait_for_a_mutex_in_an_island_ignores_the_blocks_outside,
        storm_of_four_threads_over_a_mutex_leaves_it_free_and_the_data_whole,
        NULL,
    };
    return suite_run("libdlex scoped mutexes", 120, tests);
}
