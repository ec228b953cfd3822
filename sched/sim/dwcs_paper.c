/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_paper.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#define MS INT64_C(1000000)
#define PROCESS(T, C, is_wc) {.period_ns = (T) * MS, .service_ns = (C) * MS, .x = 1, .y = 5, .is_work_conserving = (is_wc)}
/* Costs are in us. The sleep is that of 10 frames a second, as in Figure 5. */
#define FRAMES(low, high) {.sleep_ns = 100 * MS, .cost_min_ns = INT64_C(low) * 1000, .cost_max_ns = INT64_C(high) * 1000}
#define SHORT_FRAMES FRAMES(9800, 14000)

/* The seed's time base, the timer interrupt of its Linux. */
static const int64_t slot_ns = 10 * MS;
static const struct dwcs_params disturber = PROCESS(20, 10, false);
/* The seed's rule would give 0/6; its experiment has 1/5. */
static const struct dwcs_server_options server = {.base_ns = 10 * MS, .x = 1, .y = 5};

/*
 * Most frames cost a little more than C = 10 ms. If a part p of them costs more than C, one player beside the task server has
 * 1/(2 - p) swaps, so the 96 % of Table 6 mean p = 0.96. (The player sleeps for five periods of the server, each of two slots.
 * After a longer frame it always wakes in a slot of the server; after a frame of one slot in the other slot than before.) The
 * single player of Table 3 has C = 20 ms and frames around that.
 *
 * Frames of Figure 8 cost at least D = 18.4 ms on average. The CPU is always busy there, and the disturber takes half of it, so
 * ten players need 20 D for one frame each. In this time each of them sleeps for 100 ms, waits for 250 ms on average, as the
 * seed says, and works for D: 20 D >= 350 ms + D.
 */
const struct dwcs_setting dwcs_settings[DWCS_EXPERIMENTS] = {
    [DWCS_FIGURE_5] = {"figure-5", 1, 10, PROCESS(100, 20, true), 0, false, false, false, SHORT_FRAMES},
    [DWCS_TABLE_3] = {"table-3", 1, 1, PROCESS(100, 20, false), EVENT_RULE_1 | EVENT_RULE_2, true, false, false,
                      FRAMES(10000, 28000)},
    [DWCS_TABLE_4] = {"table-4", 1, 10, PROCESS(100, 10, true), EVENT_RULE_1 | EVENT_RULE_3, false, false, false, SHORT_FRAMES},
    [DWCS_TABLE_5] = {"table-5", 10, 10, PROCESS(20, 10, true), EVENT_RULE_1 | EVENT_RULE_4, false, false, false, SHORT_FRAMES},
    [DWCS_TABLE_6] = {"table-6", 1, 4, PROCESS(100, 10, true), EVENT_RULE_1 | EVENT_RULE_5, true, true, false, SHORT_FRAMES},
    [DWCS_FIGURE_8] = {"figure-8", 10, 10, PROCESS(100, 10, true), EVENT_RULES_ALL, false, true, true, FRAMES(15000, 25000)},
};

const struct dwcs_claim dwcs_claims[] = {
    {"Table 3", DWCS_TABLE_3, 1, DWCS_SWAPS_PERCENT, 16.7, 16.7},
    {"Table 3", DWCS_TABLE_3, 1, DWCS_MEAN_WITHOUT_MS, 42.5, 42.5},
    {"Table 3", DWCS_TABLE_3, 1, DWCS_MEAN_WITH_MS, 36.7, 36.7},
    {"Table 3", DWCS_TABLE_3, 1, DWCS_MAX_WITHOUT_MS, 559, 559},
    {"Table 3", DWCS_TABLE_3, 1, DWCS_MAX_WITH_MS, 160, 160},
    {"Table 3", DWCS_TABLE_3, 1, DWCS_REDUCTION_PERCENT, 14, 14},
    {"Table 4", DWCS_TABLE_4, 1, DWCS_SWAPS_PERCENT, 0, 0},
    {"Table 4", DWCS_TABLE_4, 2, DWCS_SWAPS_PERCENT, 0, 0},
    {"Table 4", DWCS_TABLE_4, 3, DWCS_SWAPS_PERCENT, 3.3, 3.3},
    {"Table 4", DWCS_TABLE_4, 4, DWCS_SWAPS_PERCENT, 14, 14},
    {"Table 4", DWCS_TABLE_4, 5, DWCS_SWAPS_PERCENT, 18, 18},
    {"Table 4", DWCS_TABLE_4, 6, DWCS_SWAPS_PERCENT, 24, 24},
    {"Table 4", DWCS_TABLE_4, 7, DWCS_SWAPS_PERCENT, 28, 28},
    {"Table 4", DWCS_TABLE_4, 8, DWCS_SWAPS_PERCENT, 41.3, 41.3},
    {"Table 4", DWCS_TABLE_4, 9, DWCS_SWAPS_PERCENT, 54.7, 54.7},
    {"Table 4", DWCS_TABLE_4, 10, DWCS_SWAPS_PERCENT, 61.3, 61.3},
    {"Figure 6", DWCS_TABLE_4, 10, DWCS_REDUCTION_PERCENT, 10, 10},
    {"Table 5", DWCS_TABLE_5, 10, DWCS_SWAPS_PERCENT, 15, 15},
    {"Table 5", DWCS_TABLE_5, 10, DWCS_MEAN_WITHOUT_MS, 20.8, 20.8},
    {"Table 5", DWCS_TABLE_5, 10, DWCS_MEAN_WITH_MS, 16, 16},
    {"Table 5", DWCS_TABLE_5, 10, DWCS_MAX_WITHOUT_MS, 216, 216},
    {"Table 5", DWCS_TABLE_5, 10, DWCS_MAX_WITH_MS, 56, 56},
    {"Table 5", DWCS_TABLE_5, 10, DWCS_REDUCTION_PERCENT, 24, 24},
    {"Table 6", DWCS_TABLE_6, 1, DWCS_SWAPS_PERCENT, 96, 96},
    {"Table 6", DWCS_TABLE_6, 2, DWCS_SWAPS_PERCENT, 88, 88},
    {"Table 6", DWCS_TABLE_6, 3, DWCS_SWAPS_PERCENT, 71, 71},
    {"Table 6", DWCS_TABLE_6, 4, DWCS_SWAPS_PERCENT, 62, 62},
    {"Figure 7", DWCS_TABLE_6, 1, DWCS_REDUCTION_PERCENT, 9, 36},
    {"Figure 7", DWCS_TABLE_6, 2, DWCS_REDUCTION_PERCENT, 9, 36},
    {"Figure 7", DWCS_TABLE_6, 3, DWCS_REDUCTION_PERCENT, 9, 36},
    {"Figure 7", DWCS_TABLE_6, 4, DWCS_REDUCTION_PERCENT, 9, 36},
    {"Figure 8", DWCS_FIGURE_8, 10, DWCS_MEAN_WITHOUT_MS, 250, 250},
    {"Figure 8", DWCS_FIGURE_8, 10, DWCS_MEAN_WITH_MS, 100, 100},
    {"Figure 8", DWCS_FIGURE_8, 10, DWCS_MAX_WITHOUT_MS, 320, INFINITY},
    {"Figure 8", DWCS_FIGURE_8, 10, DWCS_MAX_WITH_MS, 240, 240},
    {"Figure 8", DWCS_FIGURE_8, 10, DWCS_REDUCTION_PERCENT, 60, 60},
};
const int dwcs_claim_count = sizeof dwcs_claims / sizeof dwcs_claims[0];

enum { OTHER_TASKS = 2 }; /* the best-effort process and the disturber */

static struct slot_player frames_of(const struct dwcs_setting *setting, const struct dwcs_paper_options *options)
{
    struct slot_player frames = setting->frames;
    if (options->cost_min_ns > 0) {
        frames.cost_min_ns = options->cost_min_ns;
        frames.cost_max_ns = options->cost_max_ns;
    }
    if (options->sleep_ns > 0)
        frames.sleep_ns = options->sleep_ns;
    return frames;
}

/* The players are the tasks 0 to players - 1. There is room for all, as dwcs_paper_run has checked. */
static void add_tasks(struct slot_sim *sim, const struct dwcs_setting *setting, const struct dwcs_paper_options *options)
{
    struct dwcs_params process = setting->process;
    process.keeps_rank = options->readings & DWCS_BY_DEADLINE;
    process.keeps_periods = options->readings & DWCS_TOGETHER;
    struct slot_player frames = frames_of(setting, options);
    for (int i = 0; i < options->players; i++) {
        frames.first_ns = (int64_t)(slot_random(~sim->seed, (uint64_t)i, 0) % (uint64_t)frames.sleep_ns);
        slot_sim_add(sim, &process, &frames);
    }
    if (setting->has_disturber)
        slot_sim_add(sim, &disturber, NULL);
    if (setting->has_best_effort)
        slot_sim_add(sim, NULL, NULL);
}

static struct dwcs_figures collect(const struct slot_sim *sim, int players)
{
    struct dwcs_figures figures = {
        .utilisation = dwcs_utilisation(&sim->dwcs), .events = sim->delivered, .swaps = sim->swaps,
    };
    int64_t sum_ns = 0;
    int64_t finished = 0;
    int64_t response_sum_ns = 0;
    for (int i = 0; i < players; i++) {
        const struct slot_task *const task = &sim->task[i];
        figures.frames += task->frames;
        sum_ns += task->delay_sum_ns;
        finished += task->finished;
        response_sum_ns += task->response_sum_ns;
        if (task->delay_max_ns > figures.delay_max_ns)
            figures.delay_max_ns = task->delay_max_ns;
    }
    figures.delay_mean_ns = figures.frames ? sum_ns / figures.frames : 0;
    figures.response_mean_ns = finished ? response_sum_ns / finished : 0;
    return figures;
}

int dwcs_paper_run(enum dwcs_experiment experiment, const struct dwcs_paper_options *options, struct dwcs_figures *figures)
{
    const struct dwcs_setting *const setting = &dwcs_settings[experiment];
    if (options->players < 1 || options->players > SLOT_TASKS - OTHER_TASKS)
        return -EINVAL;
    if (options->cost_min_ns > 0 && options->cost_min_ns > options->cost_max_ns)
        return -EINVAL;
    struct slot_sim sim;
    slot_sim_init(&sim, slot_ns, options->seed);
    if (options->has_events)
        sim.rules = setting->rules;
    if (sim.rules & EVENT_RULE_4)
        sim.rules |= options->rule_4;
    if (sim.rules && options->readings & DWCS_FIRST_EVENT)
        sim.rules |= EVENT_FIRST_ONLY;
    /* The server is there without events, too: the seed's Figure 7 compares two runs with it. */
    sim.server = setting->has_server ? &server : NULL;
    sim.trace_ns = options->trace_ns;
    sim.trace_capacity = options->trace_capacity;
    add_tasks(&sim, setting, options);
    slot_sim_run(&sim, options->duration_ns);
    *figures = collect(&sim, options->players);
    return 0;
}

static double part_percent(int64_t part, int64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : NAN;
}

double dwcs_metric_of(enum dwcs_metric metric, const struct dwcs_figures *without, const struct dwcs_figures *with)
{
    switch (metric) {
    case DWCS_SWAPS_PERCENT: return part_percent(with->swaps, with->events);
    case DWCS_MEAN_WITHOUT_MS: return (double)without->delay_mean_ns / MS;
    case DWCS_MEAN_WITH_MS: return (double)with->delay_mean_ns / MS;
    case DWCS_MAX_WITHOUT_MS: return (double)without->delay_max_ns / MS;
    case DWCS_MAX_WITH_MS: return (double)with->delay_max_ns / MS;
    case DWCS_REDUCTION_PERCENT: return part_percent(without->delay_mean_ns - with->delay_mean_ns, without->delay_mean_ns);
    }
    return NAN;
}
