/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The values of command-line options. */
#ifndef SCHED_OPTION_VALUE_H
#define SCHED_OPTION_VALUE_H

#include <stdbool.h>
#include <sys/types.h>

/* Parses a number from `least` to `most`. Returns true with *number, or false. */
bool option_number(const char *text, double least, double most, double *number);

/* Parses a process id: digits only, since a number that is rounded would be another process. Returns true with *process, or false. */
bool option_process(const char *text, pid_t *process);

/* Writes to standard error that an option such as "limit" cannot have this value; "pid" is the one that option_process parses. */
void option_report_wrong(const char *program, const char *option, const char *value);

#endif
