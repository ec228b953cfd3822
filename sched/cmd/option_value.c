/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "option_value.h"
#include "shown_value.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any kernel has. */
static const long process_max = 1 << 30;

bool option_number(const char *text, double least, double most, double *number)
{
    char *rest;
    *number = strtod(text, &rest);
    return rest != text && !*rest && *number >= least && *number <= most;
}

bool option_process(const char *text, pid_t *process)
{
    char *rest;
    const long number = isdigit((unsigned char)*text) ? strtol(text, &rest, 10) : 0;
    if (number < 1 || number > process_max || *rest)
        return false;
    *process = (pid_t)number;
    return true;
}

void option_report_wrong(const char *program, const char *option, const char *value)
{
    const char *const why = strcmp(option, "pid") ? "out of range" : "not a process id, which is a whole number above 0";
    fprintf(stderr, "%s: --%s=%s is %s; see --help\n", program, option, shown_value(value), why);
}
