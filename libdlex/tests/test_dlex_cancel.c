/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that end inside blocks, by pthread_exit or cancellation. The contract: the timer and scoped
 * resources are released, finally parts do not run, and no constraint of the thread has any effect any
 * more. The contract excludes a thread that begins to end where a violation may come, if the library
 * cannot see that the thread is ending: the violation would jump back into the block. So here threads
 * end in a protected section or in a cooperative block, or their constraints are far away. This file
 * also tests violations that come in libc's own handlers, for cancellation and for set*id in all
 * threads.
 *
 * Not here: timers that add up (test_dlex_threads.c), threads that come and go with an armed timer
 * (test_dlex_processes.c).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"

enum { THREADS = 300 };

/* AddressSanitizer does not learn that the frames of an ending thread are gone, and mistakes later
 * contents of the stack for their red zones. */
#define ENDS_HERE __attribute__((no_sanitize("address")))

ENDS_HERE static void nap(int64_t ns)
{
    const struct timespec time = { .tv_nsec = ns };
    nanosleep(&time, NULL);
}

/* Cancels a thread after ns. Returns how it ended: PTHREAD_CANCELED, or its result. */
static void *cancelled_after(int64_t ns, void *(*run)(void *), void *arg)
{
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, arg), 0);
    nap(ns);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    return result;
}

/* ---- The cancellation type ---------------------------------------------------------------- */

static void *type_after_a_violation(void *arg)
{
    (void)arg;
    int type = -1;
    volatile bool violated = false;
    dlex_try_within_rel(MS) {
        for (;;)
            nap(100 * MS);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        violated = true;
    } dlex_end
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return (void *)(intptr_t)(violated ? type : -1);
}

/* Inside calls that sleep, libc makes cancellation asynchronous. */
START_TEST(violation_that_ends_a_sleep_leaves_cancellation_deferred)
{
    pthread_t thread;
    void *type = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, type_after_a_violation, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &type), 0);
    ck_assert_int_eq((intptr_t)type, PTHREAD_CANCEL_DEFERRED);
}
END_TEST

/* ---- Cancellation among violations -------------------------------------------------------- */

static void compute(void)
{
    for (volatile int i = 0; i < 2000; i++)
        ;
}

ENDS_HERE static void *be_cancelled_in_sections(void *arg)
{
    const int64_t within_ns = *(const int64_t *)arg;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    for (;;) {
        dlex_try_within_rel(within_ns) {
            for (;;) {
                compute();
                dlex_try_within_disable();
                pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
                nap(10000);
                pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
                dlex_try_within_enable();
            }
        } dlex_handle dlex_when(dlex_deadline_violation) {
            compute();
        } dlex_end
    }
    return NULL;
}

START_TEST(thread_cancelled_in_a_section_ends_even_if_a_deadline_expires)
{
    for (int i = 0; i < THREADS; i++) {
        int64_t within_ns = 20000 + i * 7919 % 100000;
        void *const result = cancelled_after(i * 6469 % 300000, be_cancelled_in_sections, &within_ns);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
}
END_TEST

/* The signals of the cancellation and of the violation arrive together at the end of the section. */
ENDS_HERE static void *be_cancelled_at_any_instruction_of_a_section(void *arg)
{
    const int64_t within_ns = *(const int64_t *)arg;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        dlex_try_within_rel(within_ns) {
            for (;;) {
                dlex_try_within_disable();
                pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
                pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
                compute();
                pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
                dlex_try_within_enable();
            }
        } dlex_handle dlex_when(dlex_deadline_violation) {
        } dlex_end
    }
    return NULL;
}

START_TEST(cancellation_is_not_lost_when_it_comes_with_a_violation)
{
    for (int i = 0; i < 3 * THREADS; i++) {
        int64_t within_ns = 20000 + i * 7919 % 30000;
        void *const result = cancelled_after(i * 6469 % 300000,
                                             be_cancelled_at_any_instruction_of_a_section, &within_ns);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
}
END_TEST

static atomic_bool ids_are_set;

static void *expire_all_the_time(void *unused)
{
    while (!ids_are_set) {
        dlex_try_within_rel(INT64_C(60000)) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
        } dlex_end
    }
    return unused;
}

/* To set the ids of all threads, glibc sends a signal to each and waits for their answers. */
START_TEST(setting_the_ids_of_all_threads_completes_even_if_deadlines_expire)
{
    pthread_t threads[3];
    ids_are_set = false;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, expire_all_the_time, NULL), 0);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(setgid(getgid()), 0);
    ids_are_set = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

ENDS_HERE static void *be_cancelled_in_cooperative_blocks(void *arg)
{
    const int64_t within_ns = *(const int64_t *)arg;
    for (;;) {
        dlex_try_within_rel_cooperative(within_ns) {
            for (;;) {
                nap(10000);
                compute();
                dlex_checkpoint();
            }
        } dlex_handle dlex_when(dlex_deadline_violation) {
            compute();
        } dlex_end
    }
    return NULL;
}

START_TEST(thread_cancelled_in_a_cooperative_block_ends_even_if_a_deadline_expires)
{
    for (int i = 0; i < THREADS; i++) {
        int64_t within_ns = 20000 + i * 7919 % 100000;
        void *const result =
            cancelled_after(i * 6469 % 300000, be_cancelled_in_cooperative_blocks, &within_ns);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
}
END_TEST

ENDS_HERE static void *compute_cancelled_anywhere(void *arg)
{
    (void)arg;
    dlex_thread_init();
    for (;;) {
        dlex_try_within_rel(HOUR) {
            pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
            compute();
            pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
        } dlex_end
    }
    return NULL;
}

START_TEST(thread_cancelled_at_any_instruction_of_a_body_ends)
{
    for (int i = 0; i < THREADS; i++) {
        void *const result = cancelled_after(i * 6469 % 300000, compute_cancelled_anywhere, NULL);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
}
END_TEST

/* ---- What runs at the end ----------------------------------------------------------------- */

struct ending {
    int64_t within_ns;
    int finallies, handlers, releases, destructions;
};

static pthread_key_t application_key;

static void release(void *ending)
{
    ((struct ending *)ending)->releases++;
}

/* Runs after the frames with the blocks are gone. The deadline passes in this function. */
static void destroy_slowly(void *ending)
{
    struct ending *const e = ending;
    burn(e->within_ns + MS);
    e->destructions++;
}

ENDS_HERE static void *end_in_two_blocks(void *arg)
{
    struct ending *const e = arg;
    pthread_setspecific(application_key, e);
    dlex_try_within_disable();
    dlex_try_within_rel(e->within_ns) {
        dlex_scoped_defer(release, e);
        dlex_try_within_rel(e->within_ns) {
            dlex_scoped_defer(release, e);
            pthread_exit(e);
        } dlex_finally {
            e->finallies++;
        } dlex_handle dlex_when_any {
            e->handlers++;
        } dlex_end
    } dlex_finally {
        e->finallies++;
    } dlex_handle dlex_when_any {
        e->handlers++;
    } dlex_end
    return NULL;
}

START_TEST(thread_that_ends_in_blocks_releases_scoped_resources_and_runs_nothing_else)
{
    ck_assert_int_eq(pthread_key_create(&application_key, destroy_slowly), 0);
    for (int i = 0; i < 20; i++) {
        struct ending e = { .within_ns = 2 * MS };
        pthread_t thread;
        void *result = NULL;
        ck_assert_int_eq(pthread_create(&thread, NULL, end_in_two_blocks, &e), 0);
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert_ptr_eq(result, &e);
        ck_assert_int_eq(e.finallies + e.handlers, 0);
        ck_assert_int_eq(e.releases, 2);
        ck_assert_int_eq(e.destructions, 1);
    }
    pthread_key_delete(application_key);
}
END_TEST

/* This key is older than that of the library, so its destructor runs first. The frame of the destructor
 * covers the frames that are gone. */
static pthread_key_t early_key;

static void open_where_blocks_were(void *violations)
{
    volatile char covering[400];
    for (size_t i = 0; i < sizeof(covering); i++)
        covering[i] = 0x5a;
    dlex_try_within_rel(2 * MS) {
        dlex_try {
            burn(HOUR);
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        ++*(int *)violations;
    } dlex_end
}

ENDS_HERE static void *end_in_a_section_round_a_block(void *violations)
{
    pthread_setspecific(early_key, violations);
    dlex_try_within_disable();
    dlex_try_within_rel_cooperative(MS) {
        dlex_try_within_rel(MS) {
            nap(2 * MS);
            pthread_exit(NULL);
        } dlex_end
    } dlex_end
    return NULL;
}

START_TEST(destructor_that_runs_before_that_of_the_library_finds_no_dead_blocks)
{
    int violations = 0;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, end_in_a_section_round_a_block, &violations), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    ck_assert_int_eq(violations, 20);
}
END_TEST

static void open_in_a_cleanup_handler(void *caught)
{
    dlex_try {
        dlex_throw(dlex_exception);
    } dlex_handle dlex_when_any {
        ++*(int *)caught;
    } dlex_end
}

ENDS_HERE static void *end_with_a_cleanup_handler(void *caught)
{
    pthread_cleanup_push(open_in_a_cleanup_handler, caught);
    dlex_try_within_rel(MS) {
        dlex_try_within_disable();
        pthread_exit(NULL);
    } dlex_end
    pthread_cleanup_pop(0);
    return NULL;
}

START_TEST(cleanup_handler_may_open_blocks_and_throw)
{
    int caught = 0;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, end_with_a_cleanup_handler, &caught), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(caught, 1);
}
END_TEST

/* The resource must be released by the library's destructor, not by a signal handler at any instruction. */
static volatile int released_in_cleanup;

static void outlast_the_deadline(void *ending)
{
    struct ending *const e = ending;
    burn(2 * e->within_ns);
    released_in_cleanup = e->releases;
}

ENDS_HERE static void *end_before_the_deadline(void *arg)
{
    struct ending *const e = arg;
    pthread_cleanup_push(outlast_the_deadline, e);
    dlex_try_within_rel(e->within_ns) {
        dlex_scoped_defer(release, e);
        pthread_exit(e);
    } dlex_handle dlex_when_any {
        e->handlers++;
    } dlex_end
    pthread_cleanup_pop(0);
    return NULL;
}

START_TEST(violation_while_a_thread_ends_neither_revives_it_nor_releases_resources)
{
    struct ending e = { .within_ns = SOON };
    pthread_t thread;
    void *result = NULL;
    released_in_cleanup = -1;
    ck_assert_int_eq(pthread_create(&thread, NULL, end_before_the_deadline, &e), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, &e);
    ck_assert_int_eq(released_in_cleanup, 0);
    ck_assert_int_eq(e.releases, 1);
    ck_assert_int_eq(e.handlers, 0);
}
END_TEST

int main(void)
{
    if (pthread_key_create(&early_key, open_where_blocks_were) != 0)
        return 1;
    const TTest *const tests[] = {
        violation_that_ends_a_sleep_leaves_cancellation_deferred,
        thread_cancelled_in_a_section_ends_even_if_a_deadline_expires,
        cancellation_is_not_lost_when_it_comes_with_a_violation,
        setting_the_ids_of_all_threads_completes_even_if_deadlines_expire,
        thread_cancelled_in_a_cooperative_block_ends_even_if_a_deadline_expires,
        thread_cancelled_at_any_instruction_of_a_body_ends,
        thread_that_ends_in_blocks_releases_scoped_resources_and_runs_nothing_else,
        destructor_that_runs_before_that_of_the_library_finds_no_dead_blocks,
        cleanup_handler_may_open_blocks_and_throw,
        violation_while_a_thread_ends_neither_revives_it_nor_releases_resources,
        NULL,
    };
    return suite_run("libdlex threads that end in blocks", 120, tests);
}
