/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process_start.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/PID/stat after the name, which ends with the last parenthesis (proc(5)). */
enum { FIELD_STATE = 3, FIELD_START = 22, STAT_SIZE = 1024 };

/* Reads the file. Returns what follows the name, or NULL. */
static const char *read_fields(pid_t pid, char *stat)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
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
    const char *at = read_fields(pid, stat);
    for (int field = FIELD_STATE; at && (at = strchr(at, ' ')); field++) {
        at++;
        if (field == FIELD_STATE && (*at == 'Z' || *at == 'X'))
            return 0;
        if (field == FIELD_START) {
            const uint64_t start = strtoull(at, NULL, 10);
            return start ? start : 1; /* init of a container that started with the machine */
        }
    }
    return 0;
}
