/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The period detector of seed 003 (section IV), step by step, without any improvement. period.h has the detector for use;
 * this one is there to be compared with the paper. Known weaknesses, all of them the paper's:
 *
 * - Steps of 1 Hz cannot tell 23.976 Hz from 24 Hz.
 * - One missing or additional harmonic makes the regression's error tens of Hz^2, so that step 7 decides.
 * - Equally spaced peaks that are no multiples of their distance pass the regression: peaks at 50, 60 and 70 Hz give 50.
 *
 * Where the paper is silent, we decided: the regression counts candidates from 1; its error is the weighted mean of the
 * squared residuals, in Hz^2; of a plateau its lowest frequency is the peak; both ends of the range may be peaks; of two
 * candidates that are equally good the lower one is taken.
 */
#ifndef SCHED_PERIOD_PAPER_H
#define SCHED_PERIOD_PAPER_H

#include "spectrum.h"

#include <stdint.h>

struct period_paper_options {
    double from_hz;
    double to_hz;
    double step_hz;
    double mean_factor;   /* K: a candidate exceeds the mean of F by this factor */
    int picked_directly;  /* M: with at most so many candidates there is no regression */
    double error_max_hz2; /* E */
};

/* The paper's values: 10 to 200 Hz in steps of 1 Hz, K = 2.5, M = 2, E = 0.1. */
extern const struct period_paper_options period_paper_defaults;

/* What decided, by the numbers of the steps in the specification. */
enum period_paper_step {
    PAPER_NOT_PERIODIC = 3, /* no candidate */
    PAPER_FEW = 4,          /* at most M candidates: the largest */
    PAPER_REGRESSION = 6,   /* the candidate nearest to the slope */
    PAPER_LARGEST = 7,      /* the regression's error is too large: the largest */
};

struct period_paper {
    enum period_paper_step step;
    double hz; /* 0: not periodic */
    int candidates;
    double slope_hz;  /* F1, and the error, if there was a regression */
    double error_hz2;
};

/*
 * Finds the rate of these events. The order of times_ns does not matter. The paper's events are the entries and exits of
 * system calls of the whole application. `spectrum` is working memory. Returns 0, or -EINVAL if there is no event or the
 * options give no points or more than SPECTRUM_MAX.
 */
int period_paper_detect(struct period_paper *found, const struct period_paper_options *options, const int64_t *times_ns,
                        int64_t count, struct spectrum *spectrum);

/* Steps 2 to 7, for a spectrum that is already sampled. */
void period_paper_choose(struct period_paper *found, const struct period_paper_options *options, struct spectrum *spectrum);

#endif
