/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pictures may differ because of a degraded one. Whether a decoder agrees is in tests/gate/test_degraded.c. */
#include "drift.h"

#include <check.h>
#include <stdio.h>

#include "suite.h"

/*
 * Adds packets in decode order, each with a letter and the place of its picture in presentation order: K key, R reference,
 * d droppable, and ! behind the place if it is degraded. Expects a letter for each: x if it may differ because of others.
 */
static void expect(struct drift *drift, const char *packets, const char *differs)
{
    char kind, mark;
    int place, length;
    for (; sscanf(packets, " %c%d%c%n", &kind, &place, &mark, &length) >= 2; packets += length, differs++) {
        const enum picture_class picture_class = kind == 'K' ? CLASS_KEY : kind == 'R' ? CLASS_REFERENCE : CLASS_DROPPABLE;
        ck_assert_msg(drift_add(drift, picture_class, place, mark == '!') == (*differs == 'x'), "at %s", packets);
    }
    ck_assert_str_eq(differs, "");
}

START_TEST(droppable_pictures_change_no_other)
{
    struct drift drift = {0};
    expect(&drift, "K0 R2 d1! R4 d3! K6 d5! ", ".......");
}
END_TEST

START_TEST(degraded_reference_changes_all_pictures_up_to_the_next_key_picture)
{
    struct drift drift = {0};
    expect(&drift, "K0 R1 R2! R3 d4! R5 K6 R7 d8 ", "...xxx...");
}
END_TEST

START_TEST(degraded_key_picture_changes_its_group)
{
    struct drift drift = {0};
    expect(&drift, "K0! R1 K2 R3 ", ".x..");
}
END_TEST

START_TEST(leading_pictures_of_the_next_key_picture_differ_too)
{
    struct drift drift = {0};
    expect(&drift, "K0 R1! K4 R3 d2 R6 d5 K9 d8 ", "...xx....");
}
END_TEST

START_TEST(nothing_differs_behind_a_seek)
{
    struct drift drift = {0};
    expect(&drift, "K0! R1 K4! ", ".x.");
    drift_restart(&drift);
    expect(&drift, "d3 R5 ", "..");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        droppable_pictures_change_no_other,
        degraded_reference_changes_all_pictures_up_to_the_next_key_picture,
        degraded_key_picture_changes_its_group,
        leading_pictures_of_the_next_key_picture_differ_too,
        nothing_differs_behind_a_seek,
        NULL,
    };
    return suite_run("drift", SUITE_TIMEOUT_DEFAULT, tests);
}
