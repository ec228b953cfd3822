/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 64 };

int thread_list(pid_t process, pid_t *threads, int most)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *const dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? -ESRCH : -errno;
    int count = 0;
    for (const struct dirent *entry; count < most && (entry = readdir(dir));)
        if (isdigit((unsigned char)entry->d_name[0]))
            threads[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
    closedir(dir);
    return count ? count : -ESRCH;
}

const char *thread_list_name(pid_t process, pid_t thread, char name[THREAD_NAME_SIZE])
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)process, (int)thread);
    FILE *const file = fopen(path, "re");
    if (!file || !fgets(name, THREAD_NAME_SIZE, file))
        strcpy(name, "?");
    name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    return name;
}
