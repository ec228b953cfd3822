/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Protected sections. Not here: shielded blocks, which open an island in a section. */
#include <stdlib.h>
#include <string.h>

#include "dlex_testing.h"

dlex_define_exception(some_error) dlex_extends(dlex_exception);

START_TEST(expiry_in_a_section_is_delivered_by_enable)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    volatile int64_t section_end_ns = 0;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        outlast(deadline_ns);
        log_mark('p');
        section_end_ns = dlex_now_ns();
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "pd");
    const struct dlex_violation *v = dlex_last_violation();
    ck_assert_int_eq(v->deadline_ns, deadline_ns);
    ck_assert_int_ge(v->noticed_ns, deadline_ns);
    ck_assert_int_le(v->noticed_ns, section_end_ns);
    ck_assert_int_ge(v->released_ns, section_end_ns);
    ck_assert_int_ge(v->caught_ns, v->released_ns);
}
END_TEST

static void end_two_sections_after_the_deadline(int64_t deadline_ns)
{
    dlex_try_within_disable();
    burn_until(deadline_ns + MS);
    dlex_try_within_enable();
    log_mark('1');
    dlex_try_within_disable();
    dlex_try_within_enable();
    log_mark('2');
}

START_TEST(only_the_outermost_enable_delivers)
{
    ck_assert_str_eq(log_of_protected(end_two_sections_after_the_deadline), "12po");
}
END_TEST

START_TEST(section_that_ends_in_time_changes_nothing)
{
    log_clear();
    dlex_try_within_rel(SOON) {
        dlex_try_within_disable();
        log_mark('p');
        dlex_try_within_enable();
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "pd");
}
END_TEST

START_TEST(enable_does_not_violate_a_block_that_ended_in_the_section)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try {
        dlex_try_within_disable();
        dlex_try_within_abs(deadline_ns) {
            burn_until(deadline_ns + MS);
            log_mark('b');
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
        dlex_try_within_enable();
        log_mark('e');
    } dlex_handle dlex_when_any {
        log_mark('y');
    } dlex_end
    ck_assert_str_eq(log_text(), "be");
}
END_TEST

START_TEST(late_block_opened_in_a_section_runs_its_body)
{
    log_clear();
    dlex_try_within_disable();
    dlex_try_within_abs(1) {
        log_mark('b');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    dlex_try_within_enable();
    ck_assert_str_eq(log_text(), "b");
}
END_TEST

START_TEST(throw_in_a_section_ends_the_section)
{
    log_clear();
    dlex_try_within_rel(10 * MS) {
        dlex_try {
            dlex_try_within_disable();
            dlex_throw(some_error);
        } dlex_handle dlex_when(some_error) {
            log_mark('s');
        } dlex_end
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_int_eq(log_text()[strlen(log_text()) - 1], 'd');
}
END_TEST

static void outlast_the_deadline_after_a_throw(int64_t deadline_ns)
{
    dlex_try {
        dlex_try_within_disable();
        dlex_throw(some_error);
    } dlex_handle dlex_when(some_error) {
        burn_until(deadline_ns + MS);
        log_mark('s');
    } dlex_end
}

START_TEST(throw_inside_an_outer_section_stays_protected)
{
    ck_assert_str_eq(log_of_protected(outlast_the_deadline_after_a_throw), "spo");
}
END_TEST

/* The last listing of seed 000: the object is built in a section and destroyed in finally in any case. */
START_TEST(object_built_in_a_section_is_destroyed_once_in_finally)
{
    volatile int built = 0, destroyed = 0;
    for (volatile int i = 0; i < 300; i++) {
        void *volatile object = NULL;
        dlex_try_within_rel(INT64_C(20000) + 100 * i) {
            burn(10000);
            dlex_try_within_disable();
            object = malloc(100);
            dlex_try_within_enable();
            burn(HOUR);
        } dlex_finally {
            destroyed = destroyed + (object != NULL);
            free(object);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_clear();
        } dlex_end
        built = built + (object != NULL);
    }
    ck_assert_int_eq(built, destroyed);
    ck_assert_int_gt(built, 0);
}
END_TEST

/* No abort falls into malloc, so the heap stays whole. Otherwise glibc would abort the program. */
START_TEST(allocations_in_sections_survive_many_aborts)
{
    static void *volatile slots[64];
    volatile unsigned at = 0;
    volatile int aborts = 0;
    for (volatile int i = 0; i < 3000; i++) {
        dlex_try_within_rel(INT64_C(40000) + 5 * i) {
            for (;;) {
                dlex_try_within_disable();
                free(slots[at % 64]);
                slots[at % 64] = malloc(16 + at * 37 % 5000);
                at = at + 1;
                dlex_try_within_enable();
            }
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborts = aborts + 1;
        } dlex_end
    }
    for (int i = 0; i < 64; i++) {
        free(slots[i]);
        slots[i] = NULL;
    }
    ck_assert_int_eq(aborts, 3000);
    ck_assert_int_gt(at, 64);
}
END_TEST

START_TEST(sections_stay_whole_when_deadlines_expire_at_random_instants)
{
    volatile int inside = 0, torn = 0, aborts = 0;
    for (volatile int i = 0; i < 5000; i++) {
        dlex_try_within_rel(INT64_C(20000) + i % 977) {
            for (;;) {
                dlex_try_within_disable();
                inside = 1;
                inside = 0;
                dlex_try_within_enable();
            }
        } dlex_finally {
            torn = torn + inside;
            inside = 0;
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborts = aborts + 1;
        } dlex_end
    }
    ck_assert_int_eq(torn, 0);
    ck_assert_int_eq(aborts, 5000);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        expiry_in_a_section_is_delivered_by_enable,
        only_the_outermost_enable_delivers,
        section_that_ends_in_time_changes_nothing,
        enable_does_not_violate_a_block_that_ended_in_the_section,
        late_block_opened_in_a_section_runs_its_body,
        throw_in_a_section_ends_the_section,
        throw_inside_an_outer_section_stays_protected,
        object_built_in_a_section_is_destroyed_once_in_finally,
        allocations_in_sections_survive_many_aborts,
        sections_stay_whole_when_deadlines_expire_at_random_instants,
        NULL,
    };
    return suite_run("libdlex protected sections", 120, tests);
}
