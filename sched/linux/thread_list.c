/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_list.h"

#include "kernel_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 64, FAMILY_THREADS_MAX = 256 };

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

/* Appends the children that a thread has started. Returns the new number of processes. */
static int add_children(pid_t process, pid_t thread, pid_t *processes, int count, int most)
{
    char path[PATH_SIZE];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)thread);
    FILE *const file = fopen(path, "re");
    while (file && count < most && fscanf(file, "%d", &child) == 1)
        if (child != getpid())
            processes[count++] = child;
    if (file)
        fclose(file);
    return count;
}

int thread_list_family(pid_t process, pid_t *processes, int most)
{
    pid_t threads[FAMILY_THREADS_MAX];
    int count = 0;
    processes[count++] = process;
    for (int parent = 0; parent < count; parent++) {
        const int listed = thread_list(processes[parent], threads, FAMILY_THREADS_MAX);
        for (int i = 0; i < listed; i++)
            count = add_children(processes[parent], threads[i], processes, count, most);
    }
    return count;
}

pid_t thread_list_process(pid_t thread)
{
    char path[PATH_SIZE], line[PATH_SIZE];
    int process = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
    FILE *const status = fopen(path, "re");
    while (status && !process && fgets(line, sizeof line, status))
        if (sscanf(line, "Tgid: %d", &process) != 1)
            process = 0;
    if (status)
        fclose(status);
    return process;
}

const char *thread_list_name(pid_t process, pid_t thread, char name[THREAD_NAME_SIZE])
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)process, (int)thread);
    FILE *const file = fopen(path, "re");
    const size_t size = file ? fread(name, 1, THREAD_NAME_SIZE, file) : 0;
    if (file)
        fclose(file);
    if (!size)
        return strcpy(name, "?");
    name[size - 1] = '\0'; /* was the line break after it */
    for (char *at = name; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return name;
}

bool thread_list_times(pid_t process, pid_t thread, int64_t *running_ns, int64_t *waiting_ns)
{
    char path[PATH_SIZE], line[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)process, (int)thread);
    return kernel_file_line(path, line, sizeof line) && sscanf(line, "%" SCNd64 " %" SCNd64, running_ns, waiting_ns) == 2;
}
