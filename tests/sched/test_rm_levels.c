/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rate-monotonic levels. Not covered: setting priorities, which the registry does. */
#include "rm_levels.h"

#include <errno.h>

#include "sim_random.h"
#include "suite.h"

#define MS INT64_C(1000000)

enum { TASKS = 40 };

static const struct rm_band seven = {.lowest = 10, .highest = 16};
static const struct rm_band three = {.lowest = 10, .highest = 12};

/* Tasks of one class that have come so far. */
struct group {
    struct rm_task tasks[TASKS];
    int count;
};

static struct rm_placing add(struct group *group, const struct rm_band *band, int64_t period_ns)
{
    struct rm_placing placing;
    group->tasks[group->count++] = (struct rm_task){.kind = RM_GUARANTEED, .period_ns = period_ns};
    ck_assert_int_eq(rm_levels_add(&placing, band, group->tasks, group->count, group->count - 1), 0);
    return placing;
}

static void expect_levels(const struct group *group, const int *levels)
{
    for (int i = 0; i < group->count; i++)
        ck_assert_msg(group->tasks[i].level == levels[i], "task %d has level %d, not %d", i, group->tasks[i].level, levels[i]);
}

START_TEST(first_task_has_the_middle)
{
    struct group group = {.count = 0};
    add(&group, &seven, 40 * MS);
    expect_levels(&group, (const int[]){13});
}
END_TEST

START_TEST(higher_rate_has_a_higher_level_without_moving_others)
{
    struct group group = {.count = 0};
    add(&group, &seven, 40 * MS);
    ck_assert_int_eq(add(&group, &seven, 20 * MS).moved, 0);
    ck_assert_int_eq(add(&group, &seven, 80 * MS).moved, 0);
    ck_assert_int_eq(add(&group, &seven, 30 * MS).moved, 0);
    expect_levels(&group, (const int[]){13, 15, 11, 14});
}
END_TEST

START_TEST(equal_rates_share_a_level)
{
    struct group group = {.count = 0};
    add(&group, &seven, 40 * MS);
    const struct rm_placing placing = add(&group, &seven, 40 * MS);
    ck_assert_int_eq(placing.moved, 0);
    ck_assert(!placing.has_merged);
    expect_levels(&group, (const int[]){13, 13});
}
END_TEST

/* 13, 15, 14 are in use, and nothing is free between 14 and 15. Above there is one task to move, below there are two. */
START_TEST(smaller_side_is_shifted)
{
    struct group group = {.count = 0};
    add(&group, &seven, 40 * MS);
    add(&group, &seven, 20 * MS);
    add(&group, &seven, 30 * MS);
    const struct rm_placing placing = add(&group, &seven, 25 * MS);
    ck_assert_int_eq(placing.moved, 1);
    expect_levels(&group, (const int[]){13, 16, 14, 15});
    ck_assert(group.tasks[1].has_moved && !group.tasks[0].has_moved && !group.tasks[3].has_moved);
}
END_TEST

START_TEST(leaver_frees_its_level_and_nothing_moves)
{
    struct group group = {.count = 0};
    add(&group, &three, 40 * MS);
    add(&group, &three, 20 * MS);
    add(&group, &three, 80 * MS);
    expect_levels(&group, (const int[]){11, 12, 10});
    group.tasks[0] = group.tasks[1];
    group.tasks[1] = group.tasks[2];
    group.count = 2;
    const struct rm_placing placing = add(&group, &three, 41 * MS);
    ck_assert_int_eq(placing.moved, 0);
    expect_levels(&group, (const int[]){12, 10, 11});
}
END_TEST

/* Levels 10, 11, 12 have 90, 40 and 20 ms. The newcomer of 21 ms is nearest to 20 ms. */
START_TEST(full_band_merges_the_newcomer_if_it_is_nearest)
{
    struct group group = {.count = 0};
    add(&group, &three, 40 * MS);
    add(&group, &three, 20 * MS);
    add(&group, &three, 90 * MS);
    const struct rm_placing placing = add(&group, &three, 21 * MS);
    ck_assert(placing.has_merged);
    ck_assert_int_eq(placing.moved, 0);
    expect_levels(&group, (const int[]){11, 12, 10, 12});
}
END_TEST

/* 80 and 90 ms are nearest to each other; they go to level 10, and 11 is free for the newcomer between 80 and 20 ms. */
START_TEST(full_band_merges_others_that_are_nearer)
{
    struct group group = {.count = 0};
    add(&group, &three, 80 * MS);
    add(&group, &three, 20 * MS);
    add(&group, &three, 90 * MS);
    const struct rm_placing placing = add(&group, &three, 40 * MS);
    ck_assert(placing.has_merged);
    ck_assert_int_eq(placing.moved, 1);
    expect_levels(&group, (const int[]){10, 12, 10, 11});
}
END_TEST

START_TEST(other_class_keeps_its_levels)
{
    struct rm_task tasks[] = {
        {.kind = RM_STATISTICAL, .period_ns = 10 * MS, .level = 27},
        {.kind = RM_GUARANTEED, .period_ns = 40 * MS},
    };
    struct rm_placing placing;
    ck_assert_int_eq(rm_levels_add(&placing, &rm_band_guaranteed, tasks, 2, 1), 0);
    ck_assert_int_eq(tasks[0].level, 27);
    ck_assert_int_eq(tasks[1].level, 42);
    ck_assert_int_gt(rm_band_guaranteed.lowest, rm_band_statistical.highest);
}
END_TEST

START_TEST(wrong_bands_are_refused)
{
    static const struct rm_band bands[] = {{0, 5}, {5, 4}, {90, 100}, {20, 30}};
    for (int i = 0; i < 4; i++) {
        struct rm_task tasks[] = {{.kind = RM_GUARANTEED, .period_ns = MS, .level = 31}, {.kind = RM_GUARANTEED, .period_ns = MS}};
        struct rm_placing placing;
        ck_assert_int_eq(rm_levels_add(&placing, &bands[i], tasks, 2, 1), -EINVAL);
        ck_assert_int_eq(tasks[1].level, 0);
    }
}
END_TEST

static void expect_rate_monotonic(const struct group *group, const struct rm_band *band)
{
    for (int i = 0; i < group->count; i++) {
        const struct rm_task *const a = &group->tasks[i];
        suite_check(band->lowest <= a->level && a->level <= band->highest);
        for (int k = 0; k < group->count; k++) {
            const struct rm_task *const b = &group->tasks[k];
            suite_check(a->period_ns >= b->period_ns || a->level >= b->level);
            suite_check(a->period_ns != b->period_ns || a->level == b->level);
        }
    }
}

/* Returns how many tasks have moved by more or less than one level since `before`. */
static int count_moved(const struct group *before, const struct group *after)
{
    int moved = 0;
    for (int i = 0; i < before->count; i++) {
        const int distance = after->tasks[i].level - before->tasks[i].level;
        suite_check(distance * distance <= 1);
        suite_check(after->tasks[i].has_moved == (distance != 0));
        moved += distance != 0;
    }
    return moved;
}

static int levels_in_use(const struct group *group)
{
    int used = 0;
    for (int level = 0; level <= RM_LEVEL_MAX; level++)
        for (int i = 0; i < group->count; i++)
            if (group->tasks[i].level == level) {
                used++;
                break;
            }
    return used;
}

/* Tasks come and go; in any order, levels are rate monotonic, reports are true, and rates share levels only in a full band. */
START_TEST(levels_stay_rate_monotonic)
{
    struct sim_random random;
    sim_random_init(&random, 1);
    int merged = 0, shifted = 0;
    for (int round = 0; round < 200; round++) {
        struct group group = {.count = 0};
        for (int step = 0; step < 100; step++) {
            if (group.count == TASKS || (group.count && sim_random_uniform(&random) < 0.4)) {
                group.tasks[(int)(sim_random_uniform(&random) * group.count)] = group.tasks[group.count - 1];
                group.count--;
                continue;
            }
            const struct group before = group;
            const struct rm_placing placing = add(&group, &seven, (5 + (int64_t)(sim_random_uniform(&random) * 30)) * MS);
            expect_rate_monotonic(&group, &seven);
            ck_assert_int_eq(count_moved(&before, &group), placing.moved);
            if (placing.has_merged)
                ck_assert_int_eq(levels_in_use(&before), seven.highest - seven.lowest + 1);
            merged += placing.has_merged;
            shifted += placing.moved > 0;
        }
    }
    ck_assert_int_gt(merged, 100);
    ck_assert_int_gt(shifted, 100);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        first_task_has_the_middle,
        higher_rate_has_a_higher_level_without_moving_others,
        equal_rates_share_a_level,
        smaller_side_is_shifted,
        leaver_frees_its_level_and_nothing_moves,
        full_band_merges_the_newcomer_if_it_is_nearest,
        full_band_merges_others_that_are_nearer,
        other_class_keeps_its_levels,
        wrong_bands_are_refused,
        levels_stay_rate_monotonic,
        NULL,
    };
    return suite_run("rm_levels", 60, tests);
}
