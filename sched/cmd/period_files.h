/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files that `dlex-sched period` writes on request: the spectra as a picture, and the events. */
#ifndef SCHED_PERIOD_FILES_H
#define SCHED_PERIOD_FILES_H

#include "period_report.h"
#include "syscall_watch.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Begins as zero. NULL: not asked for. */
struct period_files {
    FILE *plot;
    FILE *record;
};

/*
 * Opens the files with the rights of the user who calls; each path may be NULL. Returns true, or false after a message. The caller
 * must call period_files_close in both cases.
 */
bool period_files_open(struct period_files *files, const char *program, const char *plot, const char *record);

/* Writes the jobs that began at from_ns or later, and the spectra of the busiest threads. It needs the working memory of *seen. */
void period_files_write_jobs(const struct period_files *files, struct observation *seen, const struct process_watch *watch,
                             int64_t from_ns);

/* Writes these events. */
void period_files_record_events(FILE *file, const struct syscall_event *events, int64_t count, int64_t from_ns);

/* Draws the spectrum of all events together, and the rate that was found, 0 if none. `spectrum` is working memory. */
void period_files_plot_events(FILE *file, const int64_t *times_ns, int64_t count, double hz, struct spectrum *spectrum);

/* Closes the files. Returns true, or false after a message if something could not be written. */
bool period_files_close(struct period_files *files, const char *program);

#endif
