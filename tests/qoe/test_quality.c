/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The figures of a run, from invented rows. Not here: comparing pictures, and reports. */
#include "quality.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "suite.h"

enum { ROWS_MAX = 64, MS = 1000000 };

static struct frame_record rows[ROWS_MAX];
static struct drop drops[ROWS_MAX];
static struct quality quality;

static enum verdict verdict_of(char letter)
{
    switch (letter) {
    case 'S': return VERDICT_SHOWN;
    case 'a': return VERDICT_ABORTED;
    case 's': return VERDICT_SKIPPED;
    case 'l': return VERDICT_LATE;
    case 'u': return VERDICT_UNSEEN;
    default: return VERDICT_NONE;
    }
}

/* Computes the figures of these verdicts: S shown, a aborted, s skipped, l late, u unseen, - none. The n-th dropped
 * picture has an RMSE of n. */
static void assess(const char *letters)
{
    const int64_t count = (int64_t)strlen(letters);
    const struct frame_record *shown = NULL;
    int64_t drop_count = 0;
    for (int64_t i = 0; i < count; i++) {
        rows[i] = frame_record_empty();
        rows[i].verdict = verdict_of(letters[i]);
        if (rows[i].verdict == VERDICT_SHOWN) {
            rows[i].skew_ns = i * MS;
            shown = &rows[i];
        }
        if (was_dropped(&rows[i]))
            drops[drop_count] = (struct drop){&rows[i], shown, (double)drop_count + 1};
        drop_count += was_dropped(&rows[i]);
    }
    ck_assert_int_eq(quality_of(&quality, rows, count, drops, drop_count), 0);
}

START_TEST(pictures_not_seen_from_outside_are_dropped)
{
    assess("SuSuuS");
    ck_assert_int_eq(quality.frames, 6);
    ck_assert_int_eq(quality.shown, 3);
    ck_assert_int_eq(quality.dropped, 3);
    ck_assert_int_eq(quality.unseen, 3);
    ck_assert_int_eq(quality.longest_drop_run, 2);
}
END_TEST

START_TEST(aborted_skipped_and_late_pictures_are_dropped)
{
    assess("SaSasSlllS");
    ck_assert_int_eq(quality.frames, 10);
    ck_assert_int_eq(quality.shown, 4);
    ck_assert_int_eq(quality.dropped, 6);
    ck_assert_int_eq(quality.aborted, 2);
    ck_assert_int_eq(quality.skipped, 1);
    ck_assert_int_eq(quality.late, 3);
    ck_assert_int_eq(quality.longest_drop_run, 3);
}
END_TEST

START_TEST(rows_that_never_came_out_do_not_count)
{
    assess("--Sa--aS-");
    ck_assert_int_eq(quality.frames, 4);
    ck_assert_int_eq(quality.dropped, 2);
    ck_assert_int_eq(quality.longest_drop_run, 2);
}
END_TEST

START_TEST(drops_before_the_first_picture_count_like_all_others)
{
    assess("aaSa");
    ck_assert_int_eq(quality.dropped, 3);
    ck_assert_int_eq(quality.before_first, 2);
    ck_assert_int_eq(quality.rmse_8bit.count, 3);
    ck_assert_double_eq(quality.rmse_8bit.sum, 6);
}
END_TEST

START_TEST(rmse_is_summed_over_the_dropped_pictures)
{
    assess("SaaaaS");
    ck_assert_double_eq(quality.rmse_8bit.sum, 10);
    ck_assert_double_eq(quality.rmse_8bit.mean, 2.5);
    ck_assert_double_eq(quality.rmse_8bit.median, 2.5);
    ck_assert_double_eq_tol(quality.rmse_8bit.p90, 3.7, 1e-12);
}
END_TEST

START_TEST(skew_is_that_of_shown_pictures)
{
    assess("SaaSSl"); /* the shown pictures have skews of 0, 3 and 4 ms */
    ck_assert_int_eq(quality.skew_ms.count, 3);
    ck_assert_double_eq_tol(quality.skew_ms.mean, 7.0 / 3, 1e-12);
    ck_assert_double_eq_tol(quality.skew_ms.sd, sqrt(13.0 / 3), 1e-12);
    ck_assert_double_eq_tol(quality.skew_ms.p99, 3.98, 1e-12);
}
END_TEST

START_TEST(figures_of_no_pictures_are_not_a_number)
{
    assess("---");
    ck_assert_int_eq(quality.frames, 0);
    ck_assert(isnan(quality.skew_ms.mean) && isnan(quality.skew_ms.sd) &&
              isnan(quality.rmse_8bit.median));
    ck_assert_double_eq(quality.rmse_8bit.sum, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        aborted_skipped_and_late_pictures_are_dropped, pictures_not_seen_from_outside_are_dropped,
        rows_that_never_came_out_do_not_count,
        drops_before_the_first_picture_count_like_all_others,
        rmse_is_summed_over_the_dropped_pictures,
        skew_is_that_of_shown_pictures,
        figures_of_no_pictures_are_not_a_number,
        NULL,
    };
    return suite_run("quality", SUITE_TIMEOUT_DEFAULT, tests);
}
