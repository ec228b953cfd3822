/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "timer_slack.h"

#include "kernel_file.h"

#include <inttypes.h>
#include <stdio.h>

enum { PATH_SIZE = 64 };

/* Unlike most files of a thread, this one is not in the folder `task`. */
static void path_of(pid_t thread, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "/proc/%d/timerslack_ns", (int)thread);
}

int64_t timer_slack_get(pid_t thread)
{
    char path[PATH_SIZE];
    path_of(thread, path);
    return kernel_file_number(path, 0);
}

void timer_slack_set(pid_t thread, int64_t slack_ns)
{
    char path[PATH_SIZE];
    if (slack_ns <= 0 || timer_slack_get(thread) == slack_ns)
        return;
    path_of(thread, path);
    FILE *const file = fopen(path, "we");
    if (!file)
        return;
    fprintf(file, "%" PRId64 "\n", slack_ns);
    fclose(file);
}
