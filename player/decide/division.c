/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "division.h"

#include "ns.h"

#include <math.h>

static const double first_share = 0.22, least_share = 0.05, most_share = 0.5;
/* Besides drawing and showing, the thread takes pictures out of the queue and looks for keys. */
static const double more_than_second = 1.1, more_than_mean = 1.25, besides_ns = 100.0 * NS_PER_US;
/* A smaller change, as a part of the budget, is not worth two system calls. */
static const double change_min = 0.02;
static const double outlier = 2;
enum { KNOWN_MIN = 16, DECIDE_EVERY_NS = 1000 * NS_PER_MS };

int64_t division_first_ns(int64_t runtime_ns)
{
    return (int64_t)(first_share * (double)runtime_ns);
}

static void add_to_block(struct division_block *block, int64_t cpu_ns, int64_t gap_ns)
{
    if (cpu_ns > block->most_ns) {
        block->second_ns = block->most_ns;
        block->most_ns = cpu_ns;
    } else if (cpu_ns > block->second_ns) {
        block->second_ns = cpu_ns;
    }
    if (gap_ns > 0 && (!block->least_gap_ns || gap_ns < block->least_gap_ns))
        block->least_gap_ns = gap_ns;
}

static void average(double *mean, double value, int64_t known)
{
    *mean += (value - *mean) / (double)(known < DIVISION_PICTURES ? known : DIVISION_PICTURES);
}

void division_learn(struct division *division, int64_t cpu_ns, int64_t gap_ns)
{
    if (division->pictures && division->pictures % DIVISION_PICTURES == 0) {
        division->before = division->now;
        division->now = (struct division_block){0};
    }
    const bool is_known = ++division->pictures > KNOWN_MIN;
    average(&division->mean_ns, is_known ? fmin((double)cpu_ns, outlier * division->mean_ns) : (double)cpu_ns, division->pictures);
    if (gap_ns > 0)
        average(&division->mean_gap_ns, (double)gap_ns, division->pictures);
    add_to_block(&division->now, cpu_ns, gap_ns);
}

/* If pictures come more rarely than periods, one period must do for a whole picture. */
static double pictures_in(int64_t period_ns, double gap_ns)
{
    return gap_ns > 0 ? fmax(1, (double)period_ns / gap_ns) : 1;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static double least_gap_ns(const struct division *division)
{
    const int64_t now_ns = division->now.least_gap_ns, before_ns = division->before.least_gap_ns;
    return (double)(now_ns && before_ns ? (now_ns < before_ns ? now_ns : before_ns) : larger(now_ns, before_ns));
}

static int64_t wanted_ns(const struct division *division, int64_t runtime_ns, int64_t period_ns)
{
    const double whole_ns = (double)runtime_ns;
    const double second_ns = (double)larger(division->now.second_ns, division->before.second_ns);
    const double enough_ns = pictures_in(period_ns, least_gap_ns(division)) * (more_than_second * second_ns + besides_ns);
    const double mean_ns = pictures_in(period_ns, division->mean_gap_ns) * more_than_mean * division->mean_ns;
    const double least_ns = fmax(mean_ns, least_share * whole_ns);
    return (int64_t)fmin(fmax(fmin(enough_ns, first_share * whole_ns), least_ns), most_share * whole_ns);
}

bool division_decide(struct division *division, int64_t runtime_ns, int64_t period_ns, int64_t now_ns, int64_t *part_ns)
{
    if (division->pictures < KNOWN_MIN || (division->decided_ns && now_ns - division->decided_ns < DECIDE_EVERY_NS))
        return false;
    division->decided_ns = now_ns;
    const int64_t wanted = wanted_ns(division, runtime_ns, period_ns);
    if (fabs((double)(wanted - *part_ns)) < change_min * (double)runtime_ns)
        return false;
    *part_ns = wanted;
    return true;
}
