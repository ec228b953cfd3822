/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim_run.h"

#include "division.h"
#include "drop_bound.h"
#include "freeze.h"
#include "ns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* How long the tasks beside the player go on, for players that fall behind. */
enum { LENGTHS_OF_FILM = 4 };
static const int64_t afterwards_ns = 20 * NS_PER_S;

/* The mean supply is measured over so many phases of rt-app's tasks, and so long for each. */
enum { MEAN_OVER_SEEDS = 20 };
#define MEAN_OVER_NS (20 * NS_PER_S)

struct run {
    const struct sim_options *options;
    const struct sim_film *film;
    struct sim_random random;
    struct cpu_rate rate;
    int64_t *cost_ns;
    struct playing_setting setting;
    struct frame_record *rows;
};

/* The deadlines of rt-app's long task are mostly behind those of a reservation. */
static enum rtapp_tasks tasks_beside(const struct sim_options *options)
{
    return options->supply == SIM_SUPPLY_QUOTA ? RTAPP_BOTH : RTAPP_SHORT;
}

/* Returns what a thread would get in MEAN_OVER_NS that always wants CPU time; 0: there is no memory. */
static int64_t most_beside_rtapp_ns(const struct sim_options *options, uint64_t seed)
{
    struct sim_random random;
    struct cpu_rate rate;
    sim_random_init(&random, seed);
    if (cpu_rate_beside_rtapp(&rate, tasks_beside(options), MEAN_OVER_NS, &random))
        return 0;
    const int64_t phase_ns = (int64_t)(sim_random_uniform(&random) * (double)options->period_ns);
    struct cpu_supply supply = options->supply == SIM_SUPPLY_QUOTA
                                   ? cpu_supply_quota(&rate, options->budget_ns, options->period_ns, phase_ns)
                                   : cpu_supply_reservation(&rate, options->budget_ns, options->period_ns);
    int64_t now_ns = 0;
    const int64_t got_ns = cpu_supply_run(&supply, &now_ns, INT64_MAX, MEAN_OVER_NS);
    cpu_rate_finish(&rate);
    return got_ns;
}

/* The tasks take some of the budget of a period in which they are busy, so this is less than the budget. */
static double mean_beside_rtapp(const struct sim_options *options)
{
    double sum_ns = 0;
    for (uint64_t seed = 0; seed < MEAN_OVER_SEEDS; seed++)
        sum_ns += (double)most_beside_rtapp_ns(options, seed);
    return sum_ns / ((double)MEAN_OVER_SEEDS * (double)MEAN_OVER_NS);
}

double sim_supply_mean(const struct sim_options *options)
{
    enum { SOURCES = 3 };
    if (options->supply == SIM_SUPPLY_PART)
        return options->part;
    if (options->supply == SIM_SUPPLY_MACHINE)
        return options->playing.threads * fair_part(&options->playing.machine, options->playing.threads, false);
    if (options->supply != SIM_SUPPLY_BURSTS)
        return options->is_alone ? (double)options->budget_ns / (double)options->period_ns : mean_beside_rtapp(options);
    /* The mean of 1 / (1 + n), where n of the programs are busy. */
    const double busy = 300.0 * NS_PER_MS / (300.0 * NS_PER_MS + (double)options->idle_ns);
    double mean = 0;
    double choices = 1;
    for (int n = 0; n <= SOURCES; n++) {
        mean += choices * pow(busy, n) * pow(1 - busy, SOURCES - n) / (1 + n);
        choices = choices * (SOURCES - n) / (n + 1);
    }
    return mean;
}

double sim_scale(const struct sim_options *options, const struct sim_film *film)
{
    if (options->demand <= 0)
        return options->scale;
    const double presenting_ns = (double)(options->playing.draw_cpu_ns + options->playing.flip_cpu_ns);
    const double wanted_ns = options->demand * sim_supply_mean(options) * (double)film->frame_duration_ns - presenting_ns;
    return fmax(wanted_ns, 0) / sim_film_mean_cost_ns(film);
}

static int make_rate(struct run *run)
{
    const struct sim_options *const options = run->options;
    const int64_t until_ns = LENGTHS_OF_FILM * run->film->count * run->film->frame_duration_ns + afterwards_ns;
    switch (options->supply) {
    case SIM_SUPPLY_PART: return cpu_rate_constant(&run->rate, options->part);
    case SIM_SUPPLY_MACHINE: return cpu_rate_constant(&run->rate, 1);
    case SIM_SUPPLY_BURSTS: return cpu_rate_beside_bursts(&run->rate, options->idle_ns, until_ns, &run->random);
    default: break;
    }
    if (options->is_alone)
        return cpu_rate_constant(&run->rate, 1);
    return cpu_rate_beside_rtapp(&run->rate, tasks_beside(options), until_ns, &run->random);
}

/* Returns what dlex-play gives the thread that presents, when it knows what that takes. */
static int64_t presenting_part_ns(const struct sim_options *options, const struct sim_film *film)
{
    struct division division = {0};
    int64_t part_ns = division_first_ns(options->budget_ns);
    while (division.pictures < DIVISION_PICTURES)
        division_learn(&division, options->playing.draw_cpu_ns + options->playing.flip_cpu_ns, film->frame_duration_ns);
    division_decide(&division, options->budget_ns, options->period_ns, NS_PER_S, &part_ns);
    return part_ns;
}

static void make_supplies(struct run *run)
{
    const struct sim_options *const options = run->options;
    struct playing_setting *const setting = &run->setting;
    const int64_t phase_ns = (int64_t)(sim_random_uniform(&run->random) * (double)options->period_ns);
    switch (options->supply) {
    case SIM_SUPPLY_RESERVATION:
        setting->decoding = cpu_supply_reservation(&run->rate, options->budget_ns, options->period_ns);
        break;
    case SIM_SUPPLY_DIVIDED: {
        const int64_t part_ns = setting->queue ? presenting_part_ns(options, run->film) : 0;
        setting->decoding = cpu_supply_reservation(&run->rate, options->budget_ns - part_ns, options->period_ns);
        setting->presenting = cpu_supply_reservation(&run->rate, part_ns, options->period_ns);
        setting->presents_apart = setting->queue > 0;
        break;
    }
    case SIM_SUPPLY_QUOTA:
        setting->decoding = cpu_supply_quota(&run->rate, options->budget_ns, options->period_ns, phase_ns);
        break;
    default: setting->decoding = cpu_supply_part(&run->rate);
    }
    setting->machine.seed = (uint64_t)(sim_random_uniform(&run->random) * (double)(UINT64_C(1) << 53));
}

/* Log-normal noise, with the mean 1. */
static void make_costs(struct run *run)
{
    const double noise = run->options->noise;
    const double speed = 1 + run->options->speed * (2 * sim_random_uniform(&run->random) - 1);
    const double scale = speed * sim_scale(run->options, run->film);
    for (int packet = 0; packet < run->film->count; packet++) {
        const double factor = exp(noise * sim_random_normal(&run->random) - noise * noise / 2);
        run->cost_ns[packet] = llround((double)run->film->cost_ns[packet] * scale * factor);
    }
}

static int64_t droppable_cpu_ns(const struct run *run)
{
    int64_t sum_ns = 0;
    for (int packet = 0; packet < run->film->count; packet++)
        if (run->film->packets[packet].picture_class == CLASS_DROPPABLE)
            sum_ns += run->cost_ns[packet];
    return sum_ns;
}

static double abs_mean_ms(const struct frame_record *rows, int count)
{
    double sum_ms = 0;
    int shown = 0;
    for (int place = 0; place < count; place++) {
        if (rows[place].verdict != VERDICT_SHOWN)
            continue;
        sum_ms += fabs(ns_to_ms(rows[place].skew_ns));
        shown++;
    }
    return shown ? sum_ms / shown : NAN;
}

/* The drops in the form in which dlex-qoe compares them. Returns how many there are. */
static int find_drops(const struct run *run, struct drop *drops)
{
    int count = 0;
    int shown = -1;
    for (int place = 0; place < run->film->count; place++) {
        if (run->rows[place].verdict == VERDICT_SHOWN)
            shown = place;
        if (run->rows[place].verdict == VERDICT_SHOWN && run->rows[place].degraded > DEGRADED_NOT)
            drops[count++] = (struct drop){&run->rows[place], &run->rows[place], run->setting.degraded.rmse_q16 / rmse_q16(1)};
        if (was_dropped(&run->rows[place]))
            drops[count++] = (struct drop){&run->rows[place], shown < 0 ? NULL : &run->rows[shown],
                                           sim_film_rmse_q16(run->film, place, shown) / rmse_q16(1)};
    }
    return count;
}

static int take_figures(const struct run *run, struct sim_figures *figures)
{
    struct drop *const drops = malloc((size_t)run->film->count * sizeof *drops);
    int ret = drops ? freeze_note_stood(run->rows, run->film->count) : -ENOMEM;
    if (!ret)
        ret = quality_of(&figures->quality, run->rows, run->film->count, drops, find_drops(run, drops));
    free(drops);
    figures->windows = loss_windows_of(&run->setting.policy.window, run->rows, run->film->count);
    figures->skew_ms_abs_mean = abs_mean_ms(run->rows, run->film->count);
    figures->droppable_cpu_ns = droppable_cpu_ns(run);
    return ret;
}

static int run_policy(struct run *run, struct sim_figures *figures)
{
    const struct policy_outcome outcome = policy_run(&run->setting, run->rows);
    figures->wasted_cpu_ns = outcome.wasted_cpu_ns;
    figures->cost_mape = prediction_mape(&outcome.prediction);
    figures->cost_r2 = prediction_r2(&outcome.prediction);
    figures->drops_at_least = -1;
    return take_figures(run, figures);
}

static int take_bounds(const struct run *run, struct sim_figures *figures, int64_t clock_start_ns, int drops)
{
    figures->drops_at_least = -1;
    if (!drop_bound_exists(&run->setting))
        return 0;
    const int bound = drop_bound(&run->setting, clock_start_ns, drops);
    if (bound < 0)
        return bound;
    figures->drops_at_least = bound;
    figures->rmse_q16_at_least = rmse_bound_q16(run->film, bound);
    return 0;
}

static int run_clairvoyant(struct run *run, struct sim_figures *figures)
{
    enum step *const steps = malloc((size_t)run->film->count * sizeof *steps);
    int ret = steps ? clairvoyant_find(&run->setting, &run->options->clairvoyant, steps) : -ENOMEM;
    if (!ret) {
        rows_begin(run->rows, run->film);
        const struct playing end = schedule_play(&run->setting, steps, run->rows);
        figures->wasted_cpu_ns = end.tally.wasted_cpu_ns;
        figures->cost_mape = figures->cost_r2 = NAN;
        const int64_t clock_start_ns = end.clock.base_ns - end.clock.base_pts_ns;
        const int drops = end.tally.skipped + end.tally.late;
        ret = take_bounds(run, figures, clock_start_ns, drops);
        if (!ret)
            ret = take_figures(run, figures);
    }
    free(steps);
    return ret;
}

static int set_up(struct run *run, int64_t seed)
{
    sim_random_init(&run->random, (uint64_t)seed);
    run->setting = run->options->playing;
    run->setting.film = run->film;
    run->setting.tolerance_ns = run->options->is_clairvoyant ? run->options->clairvoyant_tolerance_ns : -1;
    run->cost_ns = malloc((size_t)run->film->count * sizeof *run->cost_ns);
    run->setting.cost_ns = run->cost_ns;
    const int ret = run->cost_ns ? make_rate(run) : -ENOMEM;
    if (ret)
        return ret;
    make_supplies(run);
    make_costs(run);
    return 0;
}

int sim_run(struct sim_figures *figures, const struct sim_options *options, const struct sim_film *film, int64_t seed,
            struct frame_record *rows)
{
    struct run run = {.options = options, .film = film, .rows = rows};
    *figures = (struct sim_figures){.seed = seed};
    int ret = set_up(&run, seed);
    if (!ret)
        ret = options->is_clairvoyant ? run_clairvoyant(&run, figures) : run_policy(&run, figures);
    cpu_rate_finish(&run.rate);
    free(run.cost_ns);
    return ret;
}
