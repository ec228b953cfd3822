/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `dlex-sched period` reports, for people and for programs. */
#ifndef SCHED_PERIOD_REPORT_H
#define SCHED_PERIOD_REPORT_H

#include "process_watch.h"

#include <stdbool.h>
#include <stdint.h>

/* What was found in the threads of a process. Too large for the stack. */
struct observation {
    struct period_thread threads[WATCHED_THREADS_MAX];
    struct period_work work;
    struct picture_rate rate;
    int count;
    int64_t observed_ns;
};

/* Prints a table. with_paper: also what the paper's detector finds; it needs the working memory of *seen. */
void period_report_text(struct observation *seen, const struct process_watch *watch, bool with_paper);

/* Prints one JSON object. A rate that is not known is null. with_paper as above. */
void period_report_json(struct observation *seen, const struct process_watch *watch, bool with_paper);

#endif
