/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Grades of skew, at their borders. A-V > 0: the video is late. */
#include "lip_sync.h"

#include "suite.h"

#define MS INT64_C(1000000)

START_TEST(seeds_grades_at_their_borders)
{
    ck_assert_int_eq(lip_sync_grade(0), LIP_SYNC_ACCEPTED);
    ck_assert_int_eq(lip_sync_grade(80 * MS), LIP_SYNC_ACCEPTED);
    ck_assert_int_eq(lip_sync_grade(-80 * MS), LIP_SYNC_ACCEPTED);
    ck_assert_int_eq(lip_sync_grade(80 * MS + 1), LIP_SYNC_IRRITATING);
    ck_assert_int_eq(lip_sync_grade(-80 * MS - 1), LIP_SYNC_IRRITATING);
    ck_assert_int_eq(lip_sync_grade(160 * MS), LIP_SYNC_DISTRACTING);
    ck_assert_int_eq(lip_sync_grade(160 * MS - 1), LIP_SYNC_IRRITATING);
}
END_TEST

/* One group of viewers got used to video that is ahead by 160 ms; late by 160 ms distracts. */
START_TEST(late_video_is_worse_than_early_video)
{
    ck_assert_int_eq(lip_sync_grade(-160 * MS), LIP_SYNC_IRRITATING);
    ck_assert_int_eq(lip_sync_grade(-240 * MS + 1), LIP_SYNC_IRRITATING);
    ck_assert_int_eq(lip_sync_grade(-240 * MS), LIP_SYNC_DISTRACTING);
    ck_assert_int_eq(lip_sync_itu_grade(100 * MS), LIP_SYNC_ITU_UNACCEPTABLE);
    ck_assert_int_eq(lip_sync_itu_grade(-100 * MS), LIP_SYNC_ITU_UNDETECTED);
}
END_TEST

START_TEST(itus_grades_at_their_borders)
{
    static const struct {
        int64_t skew_ns;
        enum lip_sync_itu grade;
    } rows[] = {
        {-185 * MS - 1, LIP_SYNC_ITU_UNACCEPTABLE}, {-185 * MS, LIP_SYNC_ITU_ACCEPTABLE},
        {-125 * MS - 1, LIP_SYNC_ITU_ACCEPTABLE},   {-125 * MS, LIP_SYNC_ITU_UNDETECTED},
        {45 * MS, LIP_SYNC_ITU_UNDETECTED},         {45 * MS + 1, LIP_SYNC_ITU_ACCEPTABLE},
        {90 * MS, LIP_SYNC_ITU_ACCEPTABLE},         {90 * MS + 1, LIP_SYNC_ITU_UNACCEPTABLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(lip_sync_itu_grade(rows[i].skew_ns) == rows[i].grade, "%d ns", (int)rows[i].skew_ns);
}
END_TEST

START_TEST(table_1_has_lip_synchronisation_and_only_the_pointer_is_asymmetric)
{
    ck_assert_int_eq(skew_limits[SKEW_LIP_SYNC].first, MEDIUM_VIDEO);
    ck_assert_int_eq(skew_limits[SKEW_LIP_SYNC].second, MEDIUM_AUDIO);
    ck_assert_int_eq(skew_limits[SKEW_LIP_SYNC].most_ms, 80);
    for (int i = 0; i < SKEW_LIMITS; i++) {
        ck_assert_ptr_nonnull(skew_limits[i].mode);
        if (skew_limits[i].second != MEDIUM_POINTER)
            ck_assert_int_eq(skew_limits[i].least_ms, -skew_limits[i].most_ms);
    }
    ck_assert_int_eq(skew_limits[SKEW_LIMITS - 1].least_ms, -500);
    ck_assert_int_eq(skew_limits[SKEW_LIMITS - 1].most_ms, 750);
}
END_TEST

START_TEST(grades_have_names)
{
    ck_assert_str_eq(lip_sync_name(LIP_SYNC_DISTRACTING), "distracting");
    ck_assert_str_eq(lip_sync_itu_name(LIP_SYNC_ITU_UNACCEPTABLE), "unacceptable");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        seeds_grades_at_their_borders, late_video_is_worse_than_early_video, itus_grades_at_their_borders,
        table_1_has_lip_synchronisation_and_only_the_pointer_is_asymmetric, grades_have_names, NULL,
    };
    return suite_run("lip_sync", SUITE_TIMEOUT_DEFAULT, tests);
}
