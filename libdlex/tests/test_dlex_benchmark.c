/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark mode: bodies run to their end and are measured. This file is compiled in that mode, but
 * dlex_testing.c is not. Not here: the report (test_dlex_report.c), and the cost of measuring. */
#define DLEX_BENCHMARK
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlex_testing.h"
#include "sites.h"
#include "thread.h"

dlex_define_exception(trouble) dlex_extends(dlex_exception);

/* A block as in a file that is not compiled in this mode. */
#define enforced_within_rel(ns) dlex_open_(dlex_begin_within_(&dlex_block_, (ns), DLEX_REL_))

/* Returns what was measured at the site in this function; at the first one in the file, if it has several. */
static const struct samples *samples_of(const char *function)
{
    static struct site_total total;
    total.site = NULL;
    while (dlex_sites_next(&total)) {
        if (strcmp(total.site->function, function) == 0)
            return &total.samples;
    }
    memset(&total, 0, sizeof(total));
    return &total.samples;
}

static uint64_t ended(const struct samples *s)
{
    return dlex_histogram_count(&s->wall);
}

START_TEST(body_runs_to_its_end_whatever_its_constraint_is)
{
    log_clear();
    dlex_latency_reset();
    const int64_t past_ns = dlex_now_ns() - MS;
    dlex_try_within_rel(1000) {
        burn(MS);
        log_mark('r');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when_any {
        log_mark('h');
    } dlex_end
    dlex_try_within_abs(past_ns) {
        log_mark('a');
    } dlex_handle dlex_when_any {
        log_mark('h');
    } dlex_end
    dlex_try_within_wcet(0) {
        burn(MS);
        log_mark('w');
    } dlex_handle dlex_when_any {
        log_mark('h');
    } dlex_end
    dlex_try_within_abs_shielded(past_ns) {
        log_mark('s');
    } dlex_handle dlex_when_any {
        log_mark('h');
    } dlex_end
    dlex_try_within_wcet_cooperative(0) {
        burn(MS);
        dlex_checkpoint();
        log_mark('c');
    } dlex_handle dlex_when_any {
        log_mark('h');
    } dlex_end
    struct dlex_latency none;
    dlex_latency_read(&dlex_timing_violation, &none);
    ck_assert_str_eq(log_text(), "rfawsc");
    ck_assert_uint_eq(none.count, 0);
}
END_TEST

static void *enter_with_a_constraint(void *arg)
{
    (void)arg;
    dlex_try_within_rel(HOUR) {
    } dlex_end
    return (void *)(intptr_t)dlex_thread_state.has_timer;
}

START_TEST(constraint_needs_no_timer)
{
    pthread_t thread;
    void *has_timer = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_with_a_constraint, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &has_timer), 0);
    ck_assert_ptr_null(has_timer);
}
END_TEST

START_TEST(remaining_time_ignores_a_measured_constraint)
{
    volatile int64_t remaining_ns = 0, deadline_ns = 0;
    dlex_try_within_rel(MS) {
        dlex_try_within_wcet(MS) {
            remaining_ns = dlex_remaining_ns();
            deadline_ns = dlex_deadline_ns();
        } dlex_end
    } dlex_end
    ck_assert_int_eq(remaining_ns, INT64_MAX);
    ck_assert_int_eq(deadline_ns, INT64_MAX);
}
END_TEST

static void enter_within(int64_t ns, int64_t burn_ns)
{
    dlex_try_within_rel(ns) {
        burn(burn_ns);
    } dlex_end
}

START_TEST(bodies_longer_than_their_constraint_count_as_missed)
{
    dlex_benchmark_reset();
    enter_within(HOUR, 0);
    enter_within(INT64_MAX, MS);
    enter_within(1000, MS);
    enter_within(0, 0);
    enter_within(-5, 0);
    const struct samples *s = samples_of("enter_within");
    ck_assert_uint_eq(s->entered, 5);
    ck_assert_uint_eq(ended(s), 5);
    ck_assert_uint_eq(dlex_histogram_count(&s->cpu), 5);
    ck_assert_uint_eq(s->missed, 3);
    ck_assert_uint_eq(s->left, 0);
    ck_assert_uint_eq(s->most_ns, HOUR);
    ck_assert_uint_eq(~s->not_least_ns, 0);
}
END_TEST

static void enter_before(int64_t deadline_ns)
{
    dlex_try_within_abs(deadline_ns) {
    } dlex_end
}

START_TEST(absolute_constraint_is_reported_as_the_time_left_at_the_opening)
{
    dlex_benchmark_reset();
    const int64_t before_ns = dlex_now_ns();
    enter_before(before_ns + HOUR);
    enter_before(INT64_MAX);
    const int64_t took_ns = dlex_now_ns() - before_ns;
    const struct samples *s = samples_of("enter_before");
    ck_assert_uint_eq(s->missed, 0);
    ck_assert_uint_eq(s->most_ns, ~s->not_least_ns);
    ck_assert_int_le((int64_t)s->most_ns, HOUR);
    ck_assert_int_ge((int64_t)s->most_ns, HOUR - took_ns);
    enter_before(before_ns);
    enter_before(INT64_MIN);
    s = samples_of("enter_before");
    ck_assert_uint_eq(s->missed, 2);
    ck_assert_uint_eq(~s->not_least_ns, 0);
}
END_TEST

enum { NAP_US = 100 * 1000 };

static void enter_with_cpu_time(int64_t ns, int64_t burn_cpu_ns)
{
    dlex_try_within_wcet(ns) {
        const int64_t end_ns = dlex_cpu_ns() + burn_cpu_ns;
        usleep(NAP_US);
        while (dlex_cpu_ns() < end_ns)
            ;
    } dlex_end
}

START_TEST(wcet_is_compared_with_cpu_time)
{
    dlex_benchmark_reset();
    enter_with_cpu_time(NAP_US * INT64_C(1000), 0);
    const struct samples *s = samples_of("enter_with_cpu_time");
    ck_assert_uint_eq(ended(s), 1);
    ck_assert_uint_eq(s->missed, 0);
    ck_assert_uint_eq(s->most_ns, NAP_US * INT64_C(1000));
    ck_assert_uint_ge(s->wall.max_ns, NAP_US * INT64_C(1000));
    ck_assert_uint_lt(s->cpu.max_ns, s->wall.max_ns);
    enter_with_cpu_time(MS, MS);
    ck_assert_uint_eq(samples_of("enter_with_cpu_time")->missed, 1);
}
END_TEST

static void enter_and_read(int64_t *wall_ns, int64_t *cpu_ns)
{
    dlex_try_within_rel(HOUR) {
        const int64_t start_ns = dlex_now_ns(), start_cpu_ns = dlex_cpu_ns();
        burn(MS);
        *cpu_ns = dlex_cpu_ns() - start_cpu_ns;
        *wall_ns = dlex_now_ns() - start_ns;
    } dlex_end
}

START_TEST(durations_are_between_those_measured_inside_and_outside)
{
    for (volatile int i = 0; i < 20; i++) {
        dlex_benchmark_reset();
        int64_t inside_ns = 0, inside_cpu_ns = 0;
        const int64_t start_ns = dlex_now_ns(), start_cpu_ns = dlex_cpu_ns();
        enter_and_read(&inside_ns, &inside_cpu_ns);
        const int64_t outside_cpu_ns = dlex_cpu_ns() - start_cpu_ns;
        const int64_t outside_ns = dlex_now_ns() - start_ns;
        const struct samples *s = samples_of("enter_and_read");
        ck_assert_int_ge((int64_t)s->wall.max_ns, inside_ns);
        ck_assert_int_le((int64_t)s->wall.max_ns, outside_ns);
        ck_assert_int_ge((int64_t)s->cpu.max_ns, inside_cpu_ns);
        ck_assert_int_le((int64_t)s->cpu.max_ns, outside_cpu_ns);
    }
}
END_TEST

static void enter_and(const char *how)
{
    for (volatile int once = 1; once; once = 0) {
        dlex_try_within_rel(HOUR) {
            if (strcmp(how, "throw") == 0)
                dlex_throw(trouble);
            if (strcmp(how, "break") == 0)
                break;
            if (strcmp(how, "return") == 0)
                dlex_return_void();
        } dlex_handle dlex_when(trouble) {
            log_mark('t');
        } dlex_end
    }
}

START_TEST(bodies_left_by_an_exception_are_counted_separately)
{
    log_clear();
    dlex_benchmark_reset();
    enter_and("throw");
    const struct samples *s = samples_of("enter_and");
    ck_assert_str_eq(log_text(), "t");
    ck_assert_uint_eq(s->left, 1);
    ck_assert_uint_eq(ended(s), 0);
    enter_and("break");
    enter_and("return");
    enter_and("end");
    s = samples_of("enter_and");
    ck_assert_uint_eq(s->left, 1);
    ck_assert_uint_eq(ended(s), 3);
}
END_TEST

static void burn_measured(void)
{
    dlex_try_within_rel(1) {
        burn(HOUR);
    } dlex_handle dlex_when_any {
        log_mark('m');
    } dlex_end
}

START_TEST(constraint_of_another_file_is_enforced_in_a_measured_body)
{
    log_clear();
    dlex_benchmark_reset();
    enforced_within_rel(SOON) {
        burn_measured();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('e');
    } dlex_end
    ck_assert_str_eq(log_text(), "e");
    ck_assert_uint_eq(samples_of("burn_measured")->left, 1);
}
END_TEST

static void measure_until_after(int64_t deadline_ns)
{
    dlex_try_within_abs_shielded(deadline_ns) {
        burn_until(deadline_ns + MS);
    } dlex_end
}

START_TEST(measured_island_keeps_the_section_around_it)
{
    ck_assert_str_eq(log_of_protected(measure_until_after), "po");
}
END_TEST

/* If the constraint did not interrupt the island, this test would not end. */
START_TEST(constraint_inside_a_measured_island_is_enforced)
{
    log_clear();
    dlex_try_within_disable();
    dlex_try_within_abs_shielded(0) {
        enforced_within_rel(MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('e');
        } dlex_end
    } dlex_end
    dlex_try_within_enable();
    ck_assert_str_eq(log_text(), "e");
}
END_TEST

START_TEST(measured_cooperative_body_is_left_only_at_a_checkpoint)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    enforced_within_rel(SOON) {
        dlex_try_within_rel_cooperative(0) {
            burn_until(deadline_ns + 2 * MS);
            log_mark('c');
            dlex_checkpoint();
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('e');
    } dlex_end
    ck_assert_str_eq(log_text(), "ce");
}
END_TEST

static pthread_barrier_t all_are_ready;

static void *enter_often(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&all_are_ready);
    for (volatile int i = 0; i < 10000; i++) {
        dlex_try_within_rel(0) {
        } dlex_end
    }
    return NULL;
}

START_TEST(threads_share_a_site_and_lose_nothing)
{
    pthread_t threads[4];
    pthread_barrier_init(&all_are_ready, NULL, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, enter_often, NULL), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&all_are_ready);
    const struct samples *s = samples_of("enter_often");
    ck_assert_uint_eq(s->entered, 40000);
    ck_assert_uint_eq(s->missed, 40000);
    ck_assert_uint_eq(ended(s), 40000);
    ck_assert_uint_eq(dlex_histogram_count(&s->cpu), 40000);
}
END_TEST

/* Each function has its own site, and two threads try to enter it first. */
#define DEFINE_NEW_SITE(name)                                                                   \
    static void name(void)                                                                      \
    {                                                                                           \
        dlex_try_within_rel(HOUR) {                                                             \
        } dlex_end                                                                              \
    }
#define EIGHT(what, n) what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5)        \
    what(n##6) what(n##7)
#define ALL_NEW_SITES(what) EIGHT(what, new_a) EIGHT(what, new_b) EIGHT(what, new_c)            \
    EIGHT(what, new_d) EIGHT(what, new_e) EIGHT(what, new_f) EIGHT(what, new_g)
#define NAME(name) name,
ALL_NEW_SITES(DEFINE_NEW_SITE)
static void (*const new_sites[])(void) = { ALL_NEW_SITES(NAME) };
enum { NEW_SITES = sizeof(new_sites) / sizeof(new_sites[0]) };

static void *enter_new_sites(void *arg)
{
    static int arrivals;
    (void)arg;
    for (int i = 0; i < NEW_SITES; i++) {
        __atomic_fetch_add(&arrivals, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&arrivals, __ATOMIC_SEQ_CST) < 2 * (i + 1))
            ;
        new_sites[i]();
    }
    return NULL;
}

/* A site that is linked twice turns the list into a ring, and this test would not end. */
START_TEST(site_is_linked_once_when_two_threads_enter_it_first)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_new_sites, NULL), 0);
    enter_new_sites(NULL);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(samples_of("new_a0")->entered, 2);
    ck_assert_uint_eq(samples_of("new_g7")->entered, 2);
}
END_TEST

#define TWICE(block) do { block block } while (0)

static void enter_copies(void)
{
    TWICE(dlex_try_within_rel(HOUR) { } dlex_end);
}

START_TEST(copies_of_a_block_in_one_line_are_one_site)
{
    dlex_benchmark_reset();
    enter_copies();
    ck_assert_uint_eq(ended(samples_of("enter_copies")), 2);
}
END_TEST

static void enter_and_reset(volatile uint64_t *entered)
{
    dlex_try_within_rel(HOUR) {
        dlex_benchmark_reset();
        *entered = samples_of("enter_within")->entered;
    } dlex_end
}

START_TEST(reset_forgets_all_except_bodies_that_are_running)
{
    volatile uint64_t entered = 1;
    enter_within(HOUR, 0);
    enter_and_reset(&entered);
    ck_assert_uint_eq(entered, 0);
    const struct samples *s = samples_of("enter_within");
    ck_assert_uint_eq(ended(s), 0);
    ck_assert_uint_eq(s->most_ns + s->not_least_ns, 0);
    ck_assert_uint_eq(ended(samples_of("enter_and_reset")), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        body_runs_to_its_end_whatever_its_constraint_is,
        constraint_needs_no_timer,
        remaining_time_ignores_a_measured_constraint,
        bodies_longer_than_their_constraint_count_as_missed,
        absolute_constraint_is_reported_as_the_time_left_at_the_opening,
        wcet_is_compared_with_cpu_time,
        durations_are_between_those_measured_inside_and_outside,
        bodies_left_by_an_exception_are_counted_separately,
        constraint_of_another_file_is_enforced_in_a_measured_body,
        measured_island_keeps_the_section_around_it,
        constraint_inside_a_measured_island_is_enforced,
        measured_cooperative_body_is_left_only_at_a_checkpoint,
        threads_share_a_site_and_lose_nothing,
        site_is_linked_once_when_two_threads_enter_it_first,
        copies_of_a_block_in_one_line_are_one_site,
        reset_forgets_all_except_bodies_that_are_running,
        NULL,
    };
    setenv("DLEX_BENCHMARK", "/dev/null", 1);
    return suite_run("libdlex benchmark", 120, tests);
}
