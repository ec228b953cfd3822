/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a firing makes visible to the owner of the block, and the lock of the library. For
 * ThreadSanitizer too: so the bodies are left at checkpoints and when they are bound, and by no signal,
 * which it holds back. Not here: bodies that are left by the signal (test_dlex_triggers.c). */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "dlex_testing.h"

enum { ROUNDS = 10000 };

static struct dlex_trigger trigger;

/* Not atomic on purpose: the trigger hands it over. */
static int request;
static _Atomic int answered;

static void *ask_and_fire(void *unused)
{
    for (int i = 1; i <= ROUNDS; i++) {
        request = i;
        dlex_trigger_fire(&trigger);
        while (answered < i)
            sched_yield();
    }
    return unused;
}

static int wait_at_checkpoints(void)
{
    volatile int seen = 0;
    dlex_try_within_rel_cooperative(HOUR) {
        dlex_trigger_bind(&trigger);
        for (;;) {
            dlex_checkpoint();
            sched_yield();
        }
    } dlex_handle dlex_when(dlex_trigger_violation) {
        seen = request;
    } dlex_end
    return seen;
}

/* The block ends at once, so that it is sometimes fired when it is bound, and sometimes too late. */
static int try_until_fired(void)
{
    volatile int seen = 0;
    while (!seen) {
        dlex_try {
            dlex_try_within_disable();
            dlex_trigger_bind(&trigger);
            dlex_try_within_enable();
        } dlex_handle dlex_when(dlex_trigger_violation) {
            seen = request;
        } dlex_end
    }
    return seen;
}

static void check_requests(int (*wait)(void))
{
    pthread_t thread;
    int wrong = 0;
    answered = 0;
    dlex_trigger_reset(&trigger);
    ck_assert_int_eq(pthread_create(&thread, NULL, ask_and_fire, NULL), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        wrong += wait() != i;
        dlex_trigger_reset(&trigger);
        answered = i;
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(wrong, 0);
}

START_TEST(request_before_a_firing_is_seen_by_the_handler_of_a_cooperative_block)
{
    check_requests(wait_at_checkpoints);
}
END_TEST

START_TEST(request_before_a_firing_is_seen_when_the_trigger_is_bound)
{
    check_requests(try_until_fired);
}
END_TEST

/* Two threads ask; the second one fires at a fired trigger. The owner reads after the reset. */
static _Atomic int asked;
static int asked_before_firing[2];
static _Atomic bool stop;

static void *ask_often(void *which)
{
    int *const slot = which;
    for (int i = 1; i <= ROUNDS; i++) {
        __atomic_store_n(slot, i, __ATOMIC_RELAXED);
        dlex_trigger_fire(&trigger);
    }
    asked++;
    return NULL;
}

static int newest(int which)
{
    return __atomic_load_n(&asked_before_firing[which], __ATOMIC_RELAXED);
}

START_TEST(last_request_of_each_of_two_threads_is_seen)
{
    pthread_t threads[2];
    int seen[2] = { 0, 0 };
    asked = 0;
    dlex_trigger_reset(&trigger);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_often, &asked_before_firing[i]), 0);
    while (seen[0] < ROUNDS || seen[1] < ROUNDS) {
        wait_at_checkpoints();
        dlex_trigger_reset(&trigger);
        seen[0] = newest(0);
        seen[1] = newest(1);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(asked, 2);
}
END_TEST

/* Threads that enter and leave the library's list while another one fires. */
static void *bind_and_end(void *unused)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_handle dlex_when(dlex_trigger_violation) {
    } dlex_end
    return unused;
}

static void *fire_until_stopped(void *unused)
{
    while (!stop) {
        dlex_trigger_fire(&trigger);
        sched_yield();
    }
    return unused;
}

START_TEST(threads_end_while_another_one_fires)
{
    pthread_t firer;
    stop = false;
    ck_assert_int_eq(pthread_create(&firer, NULL, fire_until_stopped, NULL), 0);
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        dlex_trigger_reset(&trigger);
        ck_assert_int_eq(pthread_create(&thread, NULL, bind_and_end, NULL), 0);
        pthread_join(thread, NULL);
    }
    stop = true;
    pthread_join(firer, NULL);
    ck_assert_int_eq(trigger.thread_, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        request_before_a_firing_is_seen_by_the_handler_of_a_cooperative_block,
        request_before_a_firing_is_seen_when_the_trigger_is_bound,
        last_request_of_each_of_two_threads_is_seen,
        threads_end_while_another_one_fires,
        NULL,
    };
    return suite_run("libdlex trigger handover", 120, tests);
}
