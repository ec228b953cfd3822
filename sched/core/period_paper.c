/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "period_paper.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

const struct period_paper_options period_paper_defaults = {
    .from_hz = 10, .to_hz = 200, .step_hz = 1, .mean_factor = 2.5, .picked_directly = 2, .error_max_hz2 = 0.1,
};

/* The regression line f_i = slope * i + offset. */
struct line {
    double slope_hz;
    double offset_hz;
    double error_hz2;
};

static double modulus(const struct spectrum *spectrum, int point)
{
    return sqrt(spectrum->power[point]);
}

static double mean_modulus(const struct spectrum *spectrum)
{
    double sum = 0;
    for (int k = 0; k < spectrum->count; k++)
        sum += modulus(spectrum, k);
    return sum / spectrum->count;
}

/* Step 1 of the specification. A plateau counts once, at its first point. */
static bool is_peak(const struct spectrum *spectrum, int point)
{
    const double power = spectrum->power[point];
    if (point > 0 && spectrum->power[point - 1] >= power)
        return false;
    int next = point + 1;
    while (next < spectrum->count && spectrum->power[next] == power)
        next++;
    return next == spectrum->count || spectrum->power[next] < power;
}

/* Steps 1 and 2: leaves the candidates' points in spectrum->scratch, in ascending order, and returns their number. */
static int find_candidates(const struct period_paper_options *options, struct spectrum *spectrum)
{
    const double least = options->mean_factor * mean_modulus(spectrum);
    int candidates = 0;
    for (int k = 0; k < spectrum->count; k++)
        if (is_peak(spectrum, k) && modulus(spectrum, k) > least)
            spectrum->scratch[candidates++] = k;
    return candidates;
}

static int candidate_point(const struct spectrum *spectrum, int candidate)
{
    return (int)spectrum->scratch[candidate];
}

/* Step 5: the weighted least squares line through (i, f_i), i from 1, with weights F(f_i). Needs two candidates. */
static struct line regression(const struct spectrum *spectrum, int candidates)
{
    double weights = 0, mean_i = 0, mean_hz = 0, squares = 0, products = 0;
    for (int c = 0; c < candidates; c++) {
        const int point = candidate_point(spectrum, c);
        weights += modulus(spectrum, point);
        mean_i += modulus(spectrum, point) * (c + 1);
        mean_hz += modulus(spectrum, point) * spectrum_hz(spectrum, point);
    }
    mean_i /= weights;
    mean_hz /= weights;
    for (int c = 0; c < candidates; c++) {
        const int point = candidate_point(spectrum, c);
        squares += modulus(spectrum, point) * (c + 1 - mean_i) * (c + 1 - mean_i);
        products += modulus(spectrum, point) * (c + 1 - mean_i) * (spectrum_hz(spectrum, point) - mean_hz);
    }
    struct line line = {.slope_hz = products / squares};
    line.offset_hz = mean_hz - line.slope_hz * mean_i;
    for (int c = 0; c < candidates; c++) {
        const int point = candidate_point(spectrum, c);
        const double residual_hz = spectrum_hz(spectrum, point) - line.slope_hz * (c + 1) - line.offset_hz;
        line.error_hz2 += modulus(spectrum, point) * residual_hz * residual_hz / weights;
    }
    return line;
}

static double largest_hz(const struct spectrum *spectrum, int candidates)
{
    int best = candidate_point(spectrum, 0);
    for (int c = 1; c < candidates; c++)
        if (spectrum->power[candidate_point(spectrum, c)] > spectrum->power[best])
            best = candidate_point(spectrum, c);
    return spectrum_hz(spectrum, best);
}

static double nearest_hz(const struct spectrum *spectrum, int candidates, double hz)
{
    double best = spectrum_hz(spectrum, candidate_point(spectrum, 0));
    for (int c = 1; c < candidates; c++) {
        const double other = spectrum_hz(spectrum, candidate_point(spectrum, c));
        if (fabs(other - hz) < fabs(best - hz))
            best = other;
    }
    return best;
}

void period_paper_choose(struct period_paper *found, const struct period_paper_options *options, struct spectrum *spectrum)
{
    *found = (struct period_paper){.step = PAPER_NOT_PERIODIC, .candidates = find_candidates(options, spectrum)};
    if (!found->candidates)
        return;
    found->step = PAPER_FEW;
    found->hz = largest_hz(spectrum, found->candidates);
    if (found->candidates <= options->picked_directly || found->candidates < 2)
        return;
    const struct line line = regression(spectrum, found->candidates);
    found->slope_hz = line.slope_hz;
    found->error_hz2 = line.error_hz2;
    found->step = PAPER_LARGEST;
    if (line.error_hz2 < options->error_max_hz2) {
        found->step = PAPER_REGRESSION;
        found->hz = nearest_hz(spectrum, found->candidates, line.slope_hz);
    }
}

int period_paper_detect(struct period_paper *found, const struct period_paper_options *options, const int64_t *times_ns,
                        int64_t count, struct spectrum *spectrum)
{
    const double points = floor((options->to_hz - options->from_hz) / options->step_hz + 0.5) + 1;
    if (count < 1 || !(points >= 1) || points > SPECTRUM_MAX)
        return -EINVAL;
    spectrum_sample(spectrum, times_ns, count, options->from_hz, options->step_hz, (int)points);
    period_paper_choose(found, options, spectrum);
    return 0;
}
