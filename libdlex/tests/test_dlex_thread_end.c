/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks in the destructors of thread-specific data, which run in rounds. In each round deadlines are
 * enforced, and after the last round no resource is left. Not here: the first timed block of a thread in
 * the last round, which the contract excludes; threads that end inside blocks (test_dlex_threads.c). */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "dlex_testing.h"
#include "thread.h"

enum { THREADS = 1000, ROUNDS = DESTRUCTOR_ROUNDS };

/* What one thread does in its destructors, and the results. */
struct visit {
    pthread_key_t key;
    void (*act)(struct visit *visit);
    int rounds, violations, failures;
};

/* In each round the destructor of one key runs before that of the library, and that of the other after it. */
static pthread_key_t early_key, late_key;

static void come_back(void *arg)
{
    struct visit *const visit = arg;
    visit->rounds++;
    visit->act(visit);
    if (visit->rounds < ROUNDS)
        pthread_setspecific(visit->key, visit);
}

static void miss_a_deadline(struct visit *visit)
{
    volatile int *const violations = &visit->violations, *const failures = &visit->failures;
    dlex_try_within_rel(20000) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        *violations = *violations + 1;
    } dlex_when_any {
        *failures = *failures + 1;
    } dlex_end
}

static void keep_several_deadlines(struct visit *visit)
{
    volatile int *const failures = &visit->failures;
    for (volatile int i = 0; i < 3; i = i + 1) {
        dlex_try_within_rel(HOUR + i) {
            dlex_try_within_rel(HOUR) { } dlex_end
        } dlex_handle dlex_when_any {
            *failures = *failures + 1;
        } dlex_end
    }
}

static void prepare_the_thread(struct visit *visit)
{
    visit->failures += dlex_thread_init() != 0;
}

/* The memory belongs to the program, which frees it without a call of the library. */
static void take_memory(struct visit *visit)
{
    void *volatile memory = NULL;
    dlex_try {
        memory = dlex_scoped_malloc(1);
    } dlex_end
    free(memory);
    if (visit->rounds > 1)
        visit->failures += dlex_thread_state.resources != NULL;
}

static void *end_with_visits(void *arg)
{
    struct visit *const visit = arg;
    dlex_try_within_rel(HOUR) { } dlex_end
    pthread_setspecific(visit->key, visit);
    return NULL;
}

static void *end_with_first_block(void *arg)
{
    struct visit *const visit = arg;
    pthread_setspecific(visit->key, visit);
    return NULL;
}

static struct visit visited(void *(*thread)(void *), pthread_key_t key,
                            void (*act)(struct visit *visit))
{
    struct visit visit = { .key = key, .act = act };
    pthread_t id;
    if (pthread_create(&id, NULL, thread, &visit) == 0)
        pthread_join(id, NULL);
    return visit;
}

static void every_round_of_every_thread(void (*act)(struct visit *visit), int violations)
{
    for (int i = 0; i < THREADS; i++) {
        const struct visit visit = visited(i % 4 < 2 ? end_with_visits : end_with_first_block,
                                           i % 2 ? early_key : late_key, act);
        ck_assert_int_eq(visit.rounds, ROUNDS);
        ck_assert_int_eq(visit.failures, 0);
        ck_assert_int_eq(visit.violations, violations);
    }
}

/* Each timer counts against RLIMIT_SIGPENDING, as do the signals of the user's other programs. */
static rlim_t signals_queued(void)
{
    FILE *const status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long queued = 0;
    while (status && fgets(line, sizeof(line), status)) {
        if (sscanf(line, "SigQ: %lu", &queued) == 1)
            break;
    }
    if (status)
        fclose(status);
    return queued;
}

static struct rlimit usual;

/* Fewer than the number of threads: if each thread left a timer behind, blocks would fail. Other tests, which may run at
 * the same time, need some too. */
static void allow_few_timers(void)
{
    getrlimit(RLIMIT_SIGPENDING, &usual);
    const struct rlimit low = { .rlim_cur = signals_queued() + 600, .rlim_max = usual.rlim_max };
    setrlimit(RLIMIT_SIGPENDING, &low);
}

static void allow_as_before(void)
{
    setrlimit(RLIMIT_SIGPENDING, &usual);
}

START_TEST(deadlines_are_enforced_in_every_round_of_destructors)
{
    every_round_of_every_thread(miss_a_deadline, ROUNDS);
}
END_TEST

START_TEST(several_blocks_in_every_round_leave_no_timer_behind)
{
    every_round_of_every_thread(keep_several_deadlines, 0);
}
END_TEST

START_TEST(preparing_the_thread_in_every_round_leaves_no_timer_behind)
{
    every_round_of_every_thread(prepare_the_thread, 0);
}
END_TEST

START_TEST(memory_acquired_in_every_round_leaves_no_record_behind)
{
    every_round_of_every_thread(take_memory, 0);
}
END_TEST

/* When the router looks for threads that are due, it walks the list of all threads. */
static int still_in_time(void)
{
    volatile int violated = 0;
    dlex_try_within_rel(SOON) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        violated = 1;
    } dlex_end
    return violated;
}

START_TEST(deadlines_are_enforced_after_such_threads_have_ended)
{
    for (int i = 0; i < 20; i++)
        visited(end_with_visits, late_key, keep_several_deadlines);
    ck_assert(still_in_time());
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        deadlines_are_enforced_in_every_round_of_destructors,
        several_blocks_in_every_round_leave_no_timer_behind,
        preparing_the_thread_in_every_round_leaves_no_timer_behind,
        memory_acquired_in_every_round_leaves_no_record_behind,
        deadlines_are_enforced_after_such_threads_have_ended,
        NULL,
    };
    if (pthread_key_create(&early_key, come_back) != 0 || dlex_thread_init() != 0
        || pthread_key_create(&late_key, come_back) != 0)
        return EXIT_FAILURE;
    allow_few_timers();
    const int result = suite_run("libdlex thread ends", 120, tests);
    allow_as_before();
    return result;
}
