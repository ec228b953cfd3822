/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thirteen requirements of seed 000, section 4; the name of a test has the number. Not here: the
 * special cases, which are in the other files; how soon a violation is noticed, which the benchmarks
 * measure; requirement 5 (test_dlex_nesting.c); and requirement 12, which needs a program compiled for
 * it (test_dlex_measuring.c).
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"

dlex_define_exception(trouble) dlex_extends(dlex_exception);

static void burn_cpu(int64_t ns)
{
    const int64_t end_ns = dlex_cpu_ns() + ns;
    while (dlex_cpu_ns() < end_ns)
        ;
}

/* Repeats the sleep after EINTR: the library sometimes wakes the thread to read its CPU time. */
static void sleep_for(int64_t ns)
{
    struct timespec rest = { ns / 1000000000, ns % 1000000000 };
    while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
        ;
}

START_TEST(requirement_1_deadline_relative_or_absolute)
{
    log_clear();
    const int64_t start_ns = dlex_now_ns();
    volatile int64_t relative_ns = 0, absolute_ns = 0;
    dlex_try_within_rel(2 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        relative_ns = dlex_now_ns();
        log_mark('r');
    } dlex_end
    dlex_try_within_abs(start_ns + 20 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        absolute_ns = dlex_now_ns();
        log_mark('a');
    } dlex_end
    ck_assert_str_eq(log_text(), "ra");
    ck_assert_int_ge(relative_ns, start_ns + 2 * MS);
    ck_assert_int_ge(absolute_ns, start_ns + 20 * MS);
}
END_TEST

START_TEST(requirement_2_wcet)
{
    log_clear();
    volatile int64_t used_ns = 0;
    const int64_t start_ns = dlex_cpu_ns();
    dlex_try_within_wcet(3 * MS) {
        burn_cpu(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        used_ns = dlex_cpu_ns() - start_ns;
        log_mark('w');
    } dlex_end
    dlex_try_within_wcet(20 * MS) {
        sleep_for(40 * MS); /* does not count as execution time */
        log_mark('s');
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('x');
    } dlex_end
    ck_assert_str_eq(log_text(), "ws");
    ck_assert_int_ge(used_ns, 3 * MS);
}
END_TEST

/* Returns which of three handlers takes a violation; 'n' means none of them. */
static char taker(bool wcet, const struct dlex_type *type)
{
    volatile char letter = 'n';
    dlex_try {
        if (wcet) {
            dlex_try_within_wcet(MS) {
                burn_cpu(HOUR);
            } dlex_handle dlex_when(*type) {
                letter = 't';
            } dlex_end
        } else {
            dlex_try_within_rel(MS) {
                burn(HOUR);
            } dlex_handle dlex_when(*type) {
                letter = 't';
            } dlex_end
        }
    } dlex_handle dlex_when_any {
    } dlex_end
    return letter;
}

START_TEST(requirement_3_recovery_for_any_violation_or_for_one_kind)
{
    ck_assert_int_eq(taker(false, &dlex_timing_violation), 't');
    ck_assert_int_eq(taker(false, &dlex_deadline_violation), 't');
    ck_assert_int_eq(taker(false, &dlex_wcet_violation), 'n');
    ck_assert_int_eq(taker(true, &dlex_timing_violation), 't');
    ck_assert_int_eq(taker(true, &dlex_wcet_violation), 't');
    ck_assert_int_eq(taker(true, &dlex_deadline_violation), 'n');
    ck_assert_int_eq(taker(true, &trouble), 'n');
}
END_TEST

/* Returns how many of the violations that it got were not those of its own blocks. */
static void *violate_often(void *arg)
{
    volatile intptr_t wrong = 0;
    for (volatile int i = 0; i < 40; i++) {
        volatile const int64_t limit_ns = (50 + 10 * (intptr_t)arg + i) * 1000;
        volatile const int64_t start_ns = i % 2 ? dlex_cpu_ns() : dlex_now_ns();
        if (i % 2) {
            dlex_try_within_wcet(limit_ns) {
                burn_cpu(HOUR);
            } dlex_handle dlex_when(dlex_wcet_violation) {
            } dlex_end
        } else {
            dlex_try_within_rel(limit_ns) {
                burn(HOUR);
            } dlex_handle dlex_when(dlex_deadline_violation) {
            } dlex_end
        }
        const struct dlex_violation *v = dlex_last_violation();
        wrong = wrong + (v->deadline_ns < start_ns + limit_ns || v->caught_ns < v->deadline_ns
                         || (v->type == &dlex_wcet_violation) != i % 2);
    }
    return (void *)wrong;
}

static int violate_in_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    intptr_t wrong = 0;
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, violate_often, (void *)i) != 0)
            return 100;
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        wrong += (intptr_t)result;
    }
    return wrong < 99 ? (int)wrong : 99;
}

START_TEST(requirement_4_many_processes_and_threads_at_once)
{
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(violate_in_threads());
        ck_assert_int_gt(children[i], 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

/* Opens three nested blocks. The one with this number expires. */
static const char *log_of_nest(int expires)
{
    log_clear();
    dlex_try_within_rel(expires == 0 ? SOON : HOUR) {
        dlex_try_within_wcet(expires == 1 ? 20 * MS : HOUR) {
            dlex_try_within_rel(expires == 2 ? SOON : HOUR) {
                burn_cpu(HOUR);
            } dlex_finally {
                log_mark('c');
            } dlex_handle dlex_when(dlex_timing_violation) {
                log_mark('C');
            } dlex_end
        } dlex_finally {
            log_mark('b');
        } dlex_handle dlex_when(dlex_timing_violation) {
            log_mark('B');
        } dlex_end
    } dlex_finally {
        log_mark('a');
    } dlex_handle dlex_when(dlex_timing_violation) {
        log_mark('A');
    } dlex_end
    return log_text();
}

START_TEST(requirement_6_violation_is_caught_by_the_block_that_caused_it)
{
    ck_assert_str_eq(log_of_nest(0), "cbaA");
    ck_assert_str_eq(log_of_nest(1), "cbBa");
    ck_assert_str_eq(log_of_nest(2), "cCba");
}
END_TEST

START_TEST(requirement_6_of_two_violations_at_once_the_outermost_is_caught)
{
    log_clear();
    dlex_try_within_rel_cooperative(2 * MS) {
        dlex_try_within_rel_cooperative(MS) {
            burn(4 * MS);
            dlex_checkpoint();
            log_mark('x');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('I');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('O');
    } dlex_end
    ck_assert_str_eq(log_text(), "O");
}
END_TEST

enum { BY_END, BY_THROW, BY_RETURN, BY_BREAK, BY_DLEX_RETURN, WAYS };

static int leave(int way, int64_t deadline_ns)
{
    do {
        dlex_try_within_abs(deadline_ns) {
            if (way == BY_THROW)
                dlex_throw(trouble);
            if (way == BY_RETURN)
                return way;
            if (way == BY_BREAK)
                break;
            if (way == BY_DLEX_RETURN)
                dlex_return(way);
        } dlex_handle dlex_when(trouble) {
        } dlex_end
    } while (false);
    return way;
}

START_TEST(requirement_7_constraint_ends_with_its_block_however_it_ends)
{
    for (volatile int way = 0; way < WAYS; way++) {
        const int64_t deadline_ns = dlex_now_ns() + SOON;
        volatile int violations = 0;
        dlex_try {
            leave(way, deadline_ns);
            burn_until(deadline_ns + MS);
        } dlex_handle dlex_when_any {
            violations = violations + 1;
        } dlex_end
        ck_assert_int_eq(violations, 0);
        ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
    }
}
END_TEST

START_TEST(requirement_8_latency_is_reported)
{
    for (volatile int i = 0; i < 20; i++) {
        const int64_t deadline_ns = dlex_now_ns() + MS;
        volatile int64_t recovered_ns = 0;
        dlex_try_within_abs(deadline_ns) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            recovered_ns = dlex_now_ns();
        } dlex_end
        const struct dlex_violation *v = dlex_last_violation();
        ck_assert_int_eq(v->deadline_ns, deadline_ns);
        ck_assert_int_ge(v->noticed_ns, deadline_ns);
        ck_assert_int_ge(v->caught_ns, v->noticed_ns);
        ck_assert_int_ge(recovered_ns, v->caught_ns);
        ck_assert_int_eq(dlex_expired_ns(), v->caught_ns - deadline_ns);
    }
}
END_TEST

static void outlast_two_sections(int64_t deadline_ns)
{
    dlex_try_within_disable();
    burn_until(deadline_ns + MS);
    log_mark('i');
    dlex_try_within_enable();
    log_mark('o');
}

START_TEST(requirement_9_protected_sections_delay_a_violation_to_their_end)
{
    ck_assert_str_eq(log_of_protected(outlast_two_sections), "iopo");
    ck_assert_int_ge(dlex_last_violation()->released_ns, dlex_last_violation()->noticed_ns);
}
END_TEST

START_TEST(requirement_10_remaining_time)
{
    volatile int64_t first_ns = 0, later_ns = 0, inner_ns = 0, passed_ns = 0;
    const int64_t deadline_ns = dlex_now_ns() + HOUR;
    dlex_try_within_abs(deadline_ns) {
        first_ns = dlex_remaining_ns();
        burn(2 * MS);
        later_ns = dlex_remaining_ns();
        dlex_try_within_wcet(HOUR / 2) {
            inner_ns = dlex_remaining_ns();
        } dlex_end
    } dlex_end
    dlex_try_within_disable();
    dlex_try_within_abs(dlex_now_ns() + MS) {
        burn(3 * MS);
        passed_ns = dlex_remaining_ns();
    } dlex_end
    dlex_try_within_enable();
    ck_assert_int_le(first_ns, HOUR);
    ck_assert_int_le(later_ns, first_ns - 2 * MS);
    ck_assert_int_le(inner_ns, HOUR / 2);
    ck_assert_int_lt(passed_ns, 0);
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
}
END_TEST

START_TEST(requirement_11_data_about_the_latency)
{
    dlex_latency_reset();
    for (volatile int i = 0; i < 20; i++)
        taker(i % 4 == 0, &dlex_timing_violation);
    log_of_protected(outlast_two_sections);
    struct dlex_latency deadlines, wcets, all;
    dlex_latency_read(&dlex_deadline_violation, &deadlines);
    dlex_latency_read(&dlex_wcet_violation, &wcets);
    dlex_latency_read(&dlex_timing_violation, &all);
    ck_assert_uint_eq(deadlines.count, 16);
    ck_assert_uint_eq(wcets.count, 5);
    ck_assert_uint_eq(all.count, 21);
    ck_assert_uint_ge(deadlines.delayed, 1);
    ck_assert_int_ge(all.min_ns, 0);
    ck_assert_int_ge(all.max_ns, MS); /* the section lasted that much longer than the deadline */
    ck_assert_int_le(all.p50_ns, all.p99_ns);
}
END_TEST

static int count_threads(void)
{
    DIR *const tasks = opendir("/proc/self/task");
    int count = 0;
    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    return count;
}

/* Runs in a child that has not opened a timed block before. Returns how many threads the library created. */
static int threads_of_the_library(void)
{
    const pid_t child = fork();
    if (child == 0) {
        const int before = count_threads();
        const char letter = taker(false, &dlex_deadline_violation);
        _exit(letter == 't' ? count_threads() - before : 100);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/* Every test of this file runs with both notifications. This test checks that: only the notification
 * without Linux's thread-directed timers needs a router. */
START_TEST(requirement_13_portable_by_a_second_notification)
{
#ifdef NOTIFICATION_POSIX
    ck_assert_int_eq(threads_of_the_library(), 1);
#else
    ck_assert_int_eq(threads_of_the_library(), 0);
#endif
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        requirement_13_portable_by_a_second_notification,
        requirement_1_deadline_relative_or_absolute,
        requirement_2_wcet,
        requirement_3_recovery_for_any_violation_or_for_one_kind,
        requirement_4_many_processes_and_threads_at_once,
        requirement_6_violation_is_caught_by_the_block_that_caused_it,
        requirement_6_of_two_violations_at_once_the_outermost_is_caught,
        requirement_7_constraint_ends_with_its_block_however_it_ends,
        requirement_8_latency_is_reported,
        requirement_9_protected_sections_delay_a_violation_to_their_end,
        requirement_10_remaining_time,
        requirement_11_data_about_the_latency,
        NULL,
    };
    return suite_run("libdlex requirements", 300, tests);
}
