/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget.h"

#include "ns.h"
#include "order_statistic.h"

const struct budget_options budget_defaults = {
    .rule = BUDGET_PERCENTILE,
    .percentile = 0.95,
    .margin = 0.1,
    .lower_below = 0.9,
    .raise_above = 1.02,
    .alpha = 1.15,
    .beta_part = 1.0 / 160,
    .budget_min_ns = NS_PER_MS / 2,
    .budget_max_part = 0.95,
    .change_gap_ns = NS_PER_S / 2,
};

static const double first_factor = 1.3;
static const double exhausted_factor = 1.3;
/* A percentile of fewer periods would be their maximum, or chance. */
static const int64_t periods_min = 8;

static int64_t bounded_ns(const struct budget_options *options, int64_t period_ns, double budget_ns)
{
    const int64_t max_ns = (int64_t)(options->budget_max_part * (double)period_ns);
    if (budget_ns >= (double)max_ns || options->budget_min_ns >= max_ns)
        return max_ns;
    return budget_ns <= (double)options->budget_min_ns ? options->budget_min_ns : (int64_t)(budget_ns + 0.5);
}

/* Returns the percentile of the last periods' CPU time, of 64 at most. count > 0. */
static double percentile_ns(const int64_t *cpu_ns, int64_t count, double percentile)
{
    double values[BUDGET_PERIODS];
    for (int64_t i = 0; i < count; i++)
        values[i] = (double)cpu_ns[i];
    return order_percentile(values, count, percentile);
}

int64_t budget_first_ns(const int64_t *cpu_ns, int64_t periods, int64_t period_ns)
{
    const int64_t count = periods < BUDGET_PERIODS ? periods : BUDGET_PERIODS;
    if (count <= 0)
        return bounded_ns(&budget_defaults, period_ns, 0);
    const double used_ns = percentile_ns(cpu_ns + periods - count, count, budget_defaults.percentile);
    return bounded_ns(&budget_defaults, period_ns, first_factor * used_ns);
}

void budget_init(struct budget *budget, const struct budget_options *options, int64_t period_ns, int64_t first_ns)
{
    *budget = (struct budget){
        .options = *options,
        .period_ns = period_ns,
        .budget_ns = bounded_ns(options, period_ns, (double)first_ns),
        .changed_ns = INT64_MIN,
    };
}

void budget_set_period(struct budget *budget, int64_t period_ns)
{
    const double share = (double)budget->budget_ns / (double)budget->period_ns;
    budget->budget_ns = bounded_ns(&budget->options, period_ns, share * (double)period_ns);
    budget->period_ns = period_ns;
    budget->periods = 0;
}

void budget_add_period(struct budget *budget, int64_t cpu_ns)
{
    budget->cpu_ns[budget->periods++ % BUDGET_PERIODS] = cpu_ns;
}

void budget_observe(struct budget *budget, const int64_t *cpu_ns, int64_t periods)
{
    budget->periods = 0;
    for (int64_t i = periods > BUDGET_PERIODS ? periods - BUDGET_PERIODS : 0; i < periods; i++)
        budget_add_period(budget, cpu_ns[i]);
}

/* Returns the budget that the observed periods ask for, or the present one if it is near enough. */
static double observed_ns(const struct budget *budget)
{
    const int64_t count = budget->periods < BUDGET_PERIODS ? budget->periods : BUDGET_PERIODS;
    const double present_ns = (double)budget->budget_ns;
    if (count < periods_min)
        return present_ns;
    const double percentile = budget->options.rule == BUDGET_MAX ? 1 : budget->options.percentile;
    const double wanted_ns = (1 + budget->options.margin) * percentile_ns(budget->cpu_ns, count, percentile);
    const bool is_near = wanted_ns >= budget->options.lower_below * present_ns &&
                         wanted_ns <= budget->options.raise_above * present_ns;
    return is_near ? present_ns : wanted_ns;
}

static double lfsg_ns(const struct budget *budget, bool is_short)
{
    const double present_ns = (double)budget->budget_ns;
    const double beta_ns = budget->options.beta_part * (double)budget->period_ns;
    return is_short ? budget->options.alpha * present_ns : present_ns - beta_ns;
}

/* What a thread used when its budget ran out says too little. */
static double raised_ns(const struct budget *budget, const struct budget_sample *sample)
{
    const double present_ns = (double)budget->budget_ns, wanted_ns = observed_ns(budget);
    const bool is_short = sample->is_exhausted && wanted_ns > present_ns && wanted_ns < exhausted_factor * present_ns;
    return is_short ? exhausted_factor * present_ns : wanted_ns;
}

static double next_ns(const struct budget *budget, const struct budget_sample *sample)
{
    switch (budget->options.rule) {
    case BUDGET_LFSG: return lfsg_ns(budget, sample->is_exhausted);
    case BUDGET_LFS: return lfsg_ns(budget, sample->scheduling_error_ns > budget->period_ns);
    case BUDGET_PERCENTILE:
    case BUDGET_MAX: break;
    }
    return raised_ns(budget, sample);
}

bool budget_update(struct budget *budget, int64_t now_ns, const struct budget_sample *sample)
{
    const bool is_soon = budget->changed_ns != INT64_MIN && now_ns - budget->changed_ns < budget->options.change_gap_ns;
    if (sample->is_paused || is_soon)
        return false;
    const int64_t budget_ns = bounded_ns(&budget->options, budget->period_ns, next_ns(budget, sample));
    const bool falls_short = budget_ns < budget->budget_ns && sample->is_exhausted && budget->options.rule != BUDGET_LFS;
    if (budget_ns == budget->budget_ns || falls_short)
        return false;
    budget->budget_ns = budget_ns;
    budget->changed_ns = now_ns;
    return true;
}
