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

/* Reads the file. Returns 0 or a negative errno. */
static int read_stat(pid_t pid, char stat[STAT_SIZE])
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    const ssize_t size = read(file, stat, STAT_SIZE - 1);
    const int error = size < 0 ? -errno : 0;
    close(file);
    stat[error ? 0 : size] = 0;
    return error;
}

/* True for errors that say nothing about the process: the next try may succeed. */
static bool is_of_reader(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* Returns the start of a process that lives, or 0. */
static uint64_t start_in(const char *stat)
{
    const char *at = strrchr(stat, ')');
    bool is_zombie = false;
    at = at ? at + 1 : NULL;
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

uint64_t process_start(pid_t pid)
{
    char stat[STAT_SIZE];
    const int error = read_stat(pid, stat);
    if (error)
        return is_of_reader(error) ? PROCESS_START_UNKNOWN : 0;
    return start_in(stat);
}

bool process_lives(pid_t pid, uint64_t start)
{
    const uint64_t found = process_start(pid);
    return found == start || found == PROCESS_START_UNKNOWN;
}
