/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cannot be true in a run record, and which outputs are one file. Not here: reading the files (test_qoe_reports.py). */
#include "record_faults.h"
#include "same_file.h"

#include <check.h>
#include <string.h>

#include "suite.h"

static struct frame_record row_of(int64_t index, enum verdict verdict)
{
    struct frame_record row = frame_record_empty();
    row.index = index;
    row.pts_ns = index * 40;
    row.verdict = verdict;
    if (verdict == VERDICT_SHOWN)
        row.shown_ns = 1000 + index;
    return row;
}

static void expect_fault(const struct frame_record *row, const char *words)
{
    const char *const fault = record_row_fault(row, 0);
    ck_assert_ptr_nonnull(fault);
    ck_assert_ptr_nonnull(strstr(fault, words));
}

START_TEST(fields_may_be_empty_except_those_that_the_verdict_needs)
{
    struct frame_record row = row_of(0, VERDICT_NONE);
    row.pts_ns = FIELD_EMPTY;
    ck_assert_ptr_null(record_row_fault(&row, 0));
    row.verdict = VERDICT_SKIPPED;
    expect_fault(&row, "no pts_ns");
    row = row_of(0, VERDICT_SHOWN);
    ck_assert_ptr_null(record_row_fault(&row, 0));
    row.shown_ns = FIELD_EMPTY;
    expect_fault(&row, "no shown_ns");
}
END_TEST

START_TEST(time_stamps_and_skews_may_be_negative)
{
    struct frame_record row = row_of(0, VERDICT_SHOWN);
    row.pts_ns = -80;
    row.skew_ns = -3;
    ck_assert_ptr_null(record_row_fault(&row, 0));
}
END_TEST

START_TEST(degraded_has_three_values)
{
    struct frame_record row = row_of(0, VERDICT_SHOWN);
    for (row.degraded = DEGRADED_NOT; row.degraded <= DEGRADED_BY_OTHERS; row.degraded++)
        ck_assert_ptr_null(record_row_fault(&row, 0));
    expect_fault(&row, "degraded is not 0, 1 or 2");
}
END_TEST

START_TEST(index_is_the_place_of_the_row)
{
    const struct frame_record row = row_of(7, VERDICT_LATE);
    ck_assert_ptr_null(record_row_fault(&row, 7));
    ck_assert_ptr_nonnull(record_row_fault(&row, 6));
    ck_assert_ptr_nonnull(record_row_fault(&row, 8));
}
END_TEST

START_TEST(totals_of_the_player_and_of_an_observer_fit_their_rows)
{
    char why[160] = "";
    const struct frame_record played[] = {row_of(0, VERDICT_SHOWN), row_of(1, VERDICT_LATE), row_of(2, VERDICT_NONE)};
    json_t *totals = json_pack("{s:i, s:i, s:i, s:i, s:i, s:n}", "shown", 1, "dropped", 1, "aborted", 0, "skipped", 0, "late", 1,
                               "longest_freeze_s");
    ck_assert_int_eq(record_totals_fault(totals, played, 3, why, sizeof why), 0);
    ck_assert_int_lt(record_totals_fault(totals, played, 1, why, sizeof why), 0);
    ck_assert_str_eq(why, "the number of pictures that were late is 1 in run.json, but 0 in frames.csv");
    json_decref(totals);

    const struct frame_record seen[] = {row_of(0, VERDICT_SHOWN), row_of(1, VERDICT_UNSEEN)};
    totals = json_pack("{s:i, s:i, s:i}", "shown", 1, "dropped", 1, "unseen", 1);
    ck_assert_int_eq(record_totals_fault(totals, seen, 2, why, sizeof why), 0);
    ck_assert_int_lt(record_totals_fault(totals, played, 3, why, sizeof why), 0);
    json_decref(totals);
}
END_TEST

START_TEST(verdict_without_a_total_shows_in_the_dropped_ones)
{
    char why[160] = "";
    const struct frame_record rows[] = {row_of(0, VERDICT_SHOWN), row_of(1, VERDICT_UNSEEN)};
    json_t *const totals = json_pack("{s:i, s:i, s:i}", "shown", 1, "dropped", 0, "late", 0);
    ck_assert_int_lt(record_totals_fault(totals, rows, 2, why, sizeof why), 0);
    ck_assert_str_eq(why, "the number of pictures that were dropped is 0 in run.json, but 1 in frames.csv");
    json_decref(totals);
}
END_TEST

START_TEST(missing_totals_are_a_fault)
{
    char why[160] = "";
    ck_assert_int_lt(record_totals_fault(NULL, NULL, 0, why, sizeof why), 0);
    ck_assert_ptr_nonnull(strstr(why, "does not have the totals"));
}
END_TEST

START_TEST(names_of_files_that_do_not_exist_are_compared_with_their_folders)
{
    ck_assert(is_same_file("/tmp/no-such-file", "/tmp/./no-such-file"));
    ck_assert(!is_same_file("/tmp/no-such-file", "/no-such-file"));
    ck_assert(!is_same_file("/tmp/no-such-file", "/tmp/no-such-other"));
    ck_assert(!is_same_file("/no/such/folder/a", "/tmp/../no/such/folder/a"));
    ck_assert(is_same_file("-", "/dev/stdout"));
    ck_assert(!is_same_file("/dev/null", "/dev/full"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        fields_may_be_empty_except_those_that_the_verdict_needs,
        time_stamps_and_skews_may_be_negative,
        degraded_has_three_values,
        index_is_the_place_of_the_row,
        totals_of_the_player_and_of_an_observer_fit_their_rows,
        verdict_without_a_total_shows_in_the_dropped_ones,
        missing_totals_are_a_fault,
        names_of_files_that_do_not_exist_are_compared_with_their_folders,
        NULL,
    };
    return suite_run("record_faults", SUITE_TIMEOUT_DEFAULT, tests);
}
