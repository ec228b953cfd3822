/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 64 };

int thread_list(pid_t *threads, int most)
{
    DIR *const folder = opendir("/proc/self/task");
    int count = 0;
    if (!folder)
        return 0;
    for (const struct dirent *entry; count < most && (entry = readdir(folder));) {
        const pid_t thread = (pid_t)atoi(entry->d_name); /* 0: "." and ".." */
        if (thread > 0)
            threads[count++] = thread;
    }
    closedir(folder);
    return count;
}

static FILE *open_name(pid_t thread, const char *mode)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)thread);
    return fopen(path, mode);
}

const char *thread_name(pid_t thread, char name[THREAD_NAME_SIZE])
{
    FILE *const in = open_name(thread, "r");
    name[0] = '\0';
    if (!in)
        return name;
    if (fgets(name, THREAD_NAME_SIZE, in))
        name[strcspn(name, "\n")] = '\0';
    fclose(in);
    return name;
}

void thread_rename(pid_t thread, const char *name)
{
    FILE *const out = open_name(thread, "w");
    if (!out)
        return;
    fputs(name, out);
    fclose(out);
}
