/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The figures of a run, from invented rows. Not here: comparing pictures, and reports. */
#include "quality.h"

#include "lip_sync.h"

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

START_TEST(degraded_pictures_are_counted_and_their_errors_are_in_the_sum)
{
    assess("SaSSaS");
    rows[2].degraded = DEGRADED_ITSELF;
    rows[3].degraded = DEGRADED_BY_OTHERS;
    rows[4].degraded = DEGRADED_ITSELF; /* dropped: that counts as a drop only */
    const struct drop all[] = {{&rows[1], &rows[0], 5}, {&rows[2], &rows[2], 0.5}, {&rows[3], &rows[3], 0.25}, {&rows[4], &rows[3], 7}};
    ck_assert_int_eq(quality_of(&quality, rows, 6, all, 4), 0);
    ck_assert_int_eq(quality.degraded, 1);
    ck_assert_int_eq(quality.drifted, 1);
    ck_assert_int_eq(quality.dropped, 2);
    ck_assert_double_eq(quality.rmse_8bit.sum, 12);
    ck_assert_double_eq(quality.degraded_rmse_8bit, 0.5);
    ck_assert_double_eq(quality.drifted_rmse_8bit, 0.25);
    ck_assert_double_eq(quality.rmse_sum_8bit, 12.75);
}
END_TEST

START_TEST(errors_of_degraded_pictures_that_were_not_compared_are_unknown)
{
    assess("SaS");
    rows[2].degraded = DEGRADED_ITSELF;
    ck_assert_int_eq(quality_of(&quality, rows, 3, drops, 1), 0);
    ck_assert(isnan(quality.degraded_rmse_8bit) && isnan(quality.drifted_rmse_8bit));
    ck_assert_double_eq(quality.rmse_sum_8bit, 1);
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

/* Pictures of 40 ms with these skews in ms, each shown when it is due by its skew. */
static void show(const int *skews_ms, int count)
{
    for (int64_t i = 0; i < count; i++) {
        rows[i] = frame_record_empty();
        rows[i].verdict = VERDICT_SHOWN;
        rows[i].pts_ns = i * 40 * MS;
        rows[i].skew_ns = (int64_t)skews_ms[i] * MS;
        rows[i].shown_ns = rows[i].pts_ns + rows[i].skew_ns + (int64_t)5000 * MS;
    }
    ck_assert_int_eq(quality_of(&quality, rows, count, drops, 0), 0);
}

START_TEST(lip_synchronisation_is_graded_by_the_time_on_the_screen)
{
    /* On the screen for 40, 140, 120, 40 and 40 ms; the end of the last picture is not known. */
    show((const int[]){0, 0, 100, 180, 180, 180}, 6);
    ck_assert_double_eq_tol(quality.lip_sync.part[LIP_SYNC_ACCEPTED], 180.0 / 380, 1e-9);
    ck_assert_double_eq_tol(quality.lip_sync.part[LIP_SYNC_IRRITATING], 120.0 / 380, 1e-9);
    ck_assert_double_eq_tol(quality.lip_sync.part[LIP_SYNC_DISTRACTING], 80.0 / 380, 1e-9);
    ck_assert_double_eq_tol(quality.lip_sync.itu_part[LIP_SYNC_ITU_UNDETECTED], 180.0 / 380, 1e-9);
    ck_assert_double_eq_tol(quality.lip_sync.itu_part[LIP_SYNC_ITU_UNACCEPTABLE], 200.0 / 380, 1e-9);
}
END_TEST

START_TEST(lip_synchronisation_counts_the_time_that_the_record_states)
{
    show((const int[]){0, 100, 180, 180}, 4);
    const int64_t stood_ms[] = {10, 20, 50, 20}; /* the last one until a seek */
    for (int i = 0; i < 4; i++)
        rows[i].stood_ns = stood_ms[i] * MS;
    ck_assert_int_eq(quality_of(&quality, rows, 4, drops, 0), 0);
    ck_assert_double_eq_tol(quality.lip_sync.part[LIP_SYNC_ACCEPTED], 0.1, 1e-9);
    ck_assert_double_eq_tol(quality.lip_sync.part[LIP_SYNC_IRRITATING], 0.2, 1e-9);
    ck_assert_double_eq_tol(quality.lip_sync.part[LIP_SYNC_DISTRACTING], 0.7, 1e-9);
    ck_assert_double_eq(quality.longest_freeze_ms, 50);
}
END_TEST

START_TEST(lip_synchronisation_without_a_sound_is_unknown)
{
    show((const int[]){0}, 1);
    ck_assert(!lip_sync_time_is_known(&quality.lip_sync));
    show((const int[]){0, 0, 0}, 3);
    ck_assert(lip_sync_time_is_known(&quality.lip_sync));
    for (int i = 0; i < 3; i++)
        rows[i].skew_ns = FIELD_EMPTY;
    ck_assert_int_eq(quality_of(&quality, rows, 3, drops, 0), 0);
    ck_assert(!lip_sync_time_is_known(&quality.lip_sync));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        aborted_skipped_and_late_pictures_are_dropped, pictures_not_seen_from_outside_are_dropped,
        rows_that_never_came_out_do_not_count,
        drops_before_the_first_picture_count_like_all_others,
        rmse_is_summed_over_the_dropped_pictures,
        degraded_pictures_are_counted_and_their_errors_are_in_the_sum,
        errors_of_degraded_pictures_that_were_not_compared_are_unknown,
        skew_is_that_of_shown_pictures,
        lip_synchronisation_is_graded_by_the_time_on_the_screen,
        lip_synchronisation_counts_the_time_that_the_record_states,
        lip_synchronisation_without_a_sound_is_unknown,
        figures_of_no_pictures_are_not_a_number,
        NULL,
    };
    return suite_run("quality", SUITE_TIMEOUT_DEFAULT, tests);
}
