/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process_start.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/PID/stat after the name, which ends with the last parenthesis (proc(5)). */
enum { FIELD_STATE = 3, FIELD_THREADS = 20, FIELD_START = 22, STAT_SIZE = 1024 };

static int open_stat(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the file and closes it. Returns what follows the name, or NULL. */
static const char *read_fields(int file, char *stat)
{
    const ssize_t size = read(file, stat, STAT_SIZE - 1);
    close(file);
    if (size <= 0)
        return NULL;
    stat[size] = 0;
    const char *const name_end = strrchr(stat, ')');
    return name_end ? name_end + 1 : NULL;
}

uint64_t process_start(pid_t pid)
{
    char stat[STAT_SIZE];
    const int file = open_stat(pid);
    if (file < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? PROCESS_START_UNKNOWN : 0;
    const char *at = read_fields(file, stat);
    bool is_zombie = false;
    for (int field = FIELD_STATE; at && (at = strchr(at, ' ')); field++) {
        at++;
        if (field == FIELD_STATE)
            is_zombie = *at == 'Z' || *at == 'X';
        if (field == FIELD_THREADS && is_zombie && strtol(at, NULL, 10) <= 1) /* else the main thread has ended, and others live */
            return 0;
        if (field == FIELD_START) {
            const uint64_t start = strtoull(at, NULL, 10);
            return start ? start : 1; /* init of a container that started with the machine */
        }
    }
    return 0;
}

bool process_lives(pid_t pid, uint64_t start)
{
    const uint64_t found = process_start(pid);
    return found == start || found == PROCESS_START_UNKNOWN;
}
