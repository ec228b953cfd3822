/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rm_levels.h"

#include <errno.h>

const struct rm_band rm_band_guaranteed = {.lowest = 35, .highest = 49};
const struct rm_band rm_band_statistical = {.lowest = 20, .highest = 34};

/* The tasks on one level. */
struct level {
    int tasks;
    int64_t shortest_ns; /* of their periods */
    int64_t longest_ns;
};

struct ladder {
    const struct rm_band *band;
    struct rm_task *tasks;
    int count;
    int newcomer;
    int64_t period_ns; /* the newcomer's */
    struct level levels[RM_LEVEL_MAX + 1];
    int above; /* lowest level of those that precede the newcomer; highest + 1: none */
    int below; /* highest level of those that it precedes; lowest - 1: none */
};

/* Levels from `from` to `to`, which move by `step` so that the newcomer has room at `level`. */
struct shift {
    int from;
    int to;
    int step;
    int level;
};

static bool is_other(const struct ladder *ladder, int task)
{
    return task != ladder->newcomer && ladder->tasks[task].kind == ladder->tasks[ladder->newcomer].kind;
}

static void add_to_level(struct level *level, int64_t period_ns)
{
    if (!level->tasks || period_ns < level->shortest_ns)
        level->shortest_ns = period_ns;
    if (!level->tasks || period_ns > level->longest_ns)
        level->longest_ns = period_ns;
    level->tasks++;
}

/* Fills in the levels, and finds the newcomer's neighbours. Returns 0 or -EINVAL. */
static int survey(struct ladder *ladder)
{
    const struct rm_band *const band = ladder->band;
    if (band->lowest < 1 || band->highest > RM_LEVEL_MAX || band->lowest > band->highest)
        return -EINVAL;
    for (int i = 0; i < ladder->count; i++) {
        const struct rm_task *const task = &ladder->tasks[i];
        if (!is_other(ladder, i))
            continue;
        if (task->level < band->lowest || task->level > band->highest)
            return -EINVAL;
        add_to_level(&ladder->levels[task->level], task->period_ns);
    }
    ladder->above = band->highest + 1;
    ladder->below = band->lowest - 1;
    for (int level = band->highest; level >= band->lowest; level--)
        if (ladder->levels[level].tasks && ladder->levels[level].longest_ns < ladder->period_ns)
            ladder->above = level;
    for (int level = band->lowest; level <= band->highest; level++)
        if (ladder->levels[level].tasks && ladder->levels[level].shortest_ns > ladder->period_ns)
            ladder->below = level;
    return 0;
}

/* Returns the level whose tasks have the newcomer's rate, or rates on both sides of it; 0: none. */
static int level_with_rate(const struct ladder *ladder)
{
    for (int level = ladder->band->lowest; level <= ladder->band->highest; level++) {
        const struct level *const at = &ladder->levels[level];
        if (at->tasks && at->shortest_ns <= ladder->period_ns && ladder->period_ns <= at->longest_ns)
            return level;
    }
    return 0;
}

/* Finds the first free level from `from` on in direction `step`, and counts the tasks before it. Returns 0 if there is none. */
static int free_level(const struct ladder *ladder, int from, int step, int *tasks)
{
    *tasks = 0;
    for (int level = from; level >= ladder->band->lowest && level <= ladder->band->highest; level += step) {
        if (!ladder->levels[level].tasks)
            return level;
        *tasks += ladder->levels[level].tasks;
    }
    return 0;
}

/* Finds the shift to the nearest free level that moves fewer tasks. Returns false if there is none in the band. */
static bool shift_to_free(const struct ladder *ladder, struct shift *shift)
{
    int up_tasks, down_tasks;
    const int up = free_level(ladder, ladder->above, 1, &up_tasks);
    const int down = free_level(ladder, ladder->below, -1, &down_tasks);
    if (up && (!down || up_tasks <= down_tasks))
        *shift = (struct shift){.from = ladder->above, .to = up - 1, .step = 1, .level = ladder->above};
    else if (down)
        *shift = (struct shift){.from = down + 1, .to = ladder->below, .step = -1, .level = ladder->below};
    return up || down;
}

/* Takes over a candidate if its rates are nearer than the best one's. */
static void consider(double *best_ratio, struct shift *best, int64_t longer_ns, int64_t shorter_ns, struct shift candidate)
{
    const double ratio = (double)longer_ns / (double)shorter_ns;
    if (*best_ratio > 0 && ratio >= *best_ratio)
        return;
    *best_ratio = ratio;
    *best = candidate;
}

/* In a full band: the merge of the two neighbours with the nearest rates. An empty shift merges the newcomer with one of them. */
static struct shift shift_by_merging(const struct ladder *ladder)
{
    const struct rm_band *const band = ladder->band;
    const int above = ladder->above, below = ladder->below;
    struct shift best = {.from = 1, .to = 0, .level = band->lowest};
    double ratio = 0;
    if (above <= band->highest)
        consider(&ratio, &best, ladder->period_ns, ladder->levels[above].longest_ns,
                 (struct shift){.from = 1, .to = 0, .level = above});
    if (below >= band->lowest)
        consider(&ratio, &best, ladder->levels[below].shortest_ns, ladder->period_ns,
                 (struct shift){.from = 1, .to = 0, .level = below});
    for (int level = band->lowest; level < band->highest; level++) {
        const struct shift up = {.from = above, .to = level, .step = 1, .level = above};
        const struct shift down = {.from = level + 1, .to = below, .step = -1, .level = below};
        if (level != below)
            consider(&ratio, &best, ladder->levels[level].shortest_ns, ladder->levels[level + 1].longest_ns,
                     level >= above ? up : down);
    }
    return best;
}

/* Moves the tasks of the shifted levels, and returns their number. */
static int apply(struct ladder *ladder, const struct shift *shift)
{
    int moved = 0;
    for (int i = 0; i < ladder->count; i++) {
        struct rm_task *const task = &ladder->tasks[i];
        task->has_moved = is_other(ladder, i) && task->level >= shift->from && task->level <= shift->to;
        task->level += task->has_moved ? shift->step : 0;
        moved += task->has_moved;
    }
    ladder->tasks[ladder->newcomer].level = shift->level;
    return moved;
}

int rm_levels_add(struct rm_placing *placing, const struct rm_band *band, struct rm_task *tasks, int count, int newcomer)
{
    struct ladder ladder = {
        .band = band, .tasks = tasks, .count = count, .newcomer = newcomer, .period_ns = tasks[newcomer].period_ns,
    };
    const int error = survey(&ladder);
    if (error)
        return error;
    struct shift shift = {.from = 1, .to = 0, .level = level_with_rate(&ladder)};
    *placing = (struct rm_placing){.moved = 0};
    if (!shift.level && ladder.above - ladder.below > 1)
        shift.level = (ladder.above + ladder.below) / 2;
    if (!shift.level && !shift_to_free(&ladder, &shift)) {
        shift = shift_by_merging(&ladder);
        placing->has_merged = true;
    }
    placing->moved = apply(&ladder, &shift);
    return 0;
}
