/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `dlex-sched tune` reports: a line a second, the sum at the end, and a record for other programs. */
#ifndef SCHED_TUNE_REPORT_H
#define SCHED_TUNE_REPORT_H

#include "period_vote.h"
#include "wake_lateness.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One second of tuning. Shares are parts of a CPU. */
struct tune_second {
    struct picture_rate rate;
    double reserved;   /* with is_dry: what would be reserved */
    double used;       /* by the tuned threads */
    int64_t throttled; /* how often budgets ran out */
    int tuned;         /* threads with a reservation; while reservations are switched off, those that would have one */
    int threads;       /* of the player, all */
    bool is_limited;   /* the threads need more than may be reserved */
    bool is_off;       /* reservations are switched off at present, to compare */
};

/* Begins by tune_report_begin. */
struct tune_report {
    FILE *record;     /* NULL: none */
    int record_error; /* the first one while it was written, a negative errno */
    bool is_dry;
    bool is_quiet;  /* no line a second */
    int64_t begun_ns;
    int seconds;
    int tuned_seconds;    /* with at least one reservation */
    int limited_seconds;
    double reserved_sum;  /* over tuned_seconds */
    double reserved_most;
    double used_sum;
    int64_t throttled;
    struct picture_rate rate; /* the last one that was known */
};

/*
 * True if a line can be written to standard error at once. While nobody reads what this program says, as in a pager, lines are left
 * out: a program that waits for its reader cannot give anything back.
 */
bool tune_report_has_reader(void);

/*
 * Begins a report at now_ns. record_path: where to write the record; NULL: nowhere. Returns 0 or the negative errno of the
 * record. tune_report_close must follow success.
 */
int tune_report_begin(struct tune_report *report, const char *record_path, bool is_dry, bool is_quiet, int64_t now_ns);

/* Reports a second: a line on standard error, unless quiet, and one in the record. */
void tune_report_second(struct tune_report *report, const struct tune_second *second, int64_t now_ns);

/*
 * Reports at the end what it cost and, if there was a comparison, whether it helped. lost: context switches that were not seen.
 * comparison may be NULL.
 */
void tune_report_end(const struct tune_report *report, const struct wake_comparison *comparison, int64_t lost, int64_t now_ns);

/* Closes the record. Returns 0, also if there is none, or the negative errno of the first failure to write it. */
int tune_report_close(struct tune_report *report);

#endif
