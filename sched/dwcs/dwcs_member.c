/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_member.h"

#include "ns.h"
#include "process_start.h"
#include "thread_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 64, STAT_SIZE = 128, STATUS_SIZE = 4096, THREADS_MAX = 512 };

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? -1 : ns_from_timespec(now);
}

/* Reads how long the main thread has waited for a CPU in total, and how often it has run. */
static bool read_waits(pid_t pid, int64_t *wait_ns, int64_t *waits)
{
    char path[PATH_SIZE];
    int64_t ran_ns;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
    FILE *const file = fopen(path, "re");
    const bool is_read = file && fscanf(file, "%" SCNd64 " %" SCNd64 " %" SCNd64, &ran_ns, wait_ns, waits) == 3;
    if (file)
        fclose(file);
    return is_read;
}

static int open_file(pid_t pid, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    return file >= 0 ? file : errno == ENOENT ? -ESRCH : -errno;
}

static int open_files(struct dwcs_member *member)
{
    const pid_t pid = member->identity.pid;
    member->stat = open_file(pid, "stat");
    if (member->stat < 0)
        return member->stat;
    member->status = open_file(pid, "status");
    int error = member->status < 0 ? member->status : 0;
    if (!error && (member->pidfd = (int)syscall(SYS_pidfd_open, pid, 0)) < 0) {
        error = -errno;
        close(member->status);
    }
    if (error)
        close(member->stat);
    return error;
}

int dwcs_member_open(struct dwcs_member *member, pid_t pid)
{
    *member = (struct dwcs_member){.identity = {.pid = pid}};
    int error = open_files(member);
    if (error)
        return error;
    member->identity.start = process_start(pid);
    if (!member->identity.start)
        error = -ESRCH;
    else if (sched_getaffinity(pid, sizeof member->identity.cpus, &member->identity.cpus))
        error = -errno;
    else
        error = -clock_getcpuclockid(pid, &member->clock);
    if (error) {
        dwcs_member_close(member);
        return error;
    }
    member->cpu_ns = member->begun_cpu_ns = read_clock(member->clock);
    read_waits(pid, &member->begun_wait_ns, &member->begun_waits);
    return 0;
}

void dwcs_member_close(struct dwcs_member *member)
{
    close(member->pidfd);
    close(member->status);
    close(member->stat);
}

bool dwcs_member_can_be_last(void)
{
    const struct sched_param none = {0};
    int status;
    const pid_t child = fork();
    if (child == 0)
        _exit(sched_setscheduler(0, SCHED_IDLE, &none) || sched_setscheduler(0, SCHED_OTHER, &none));
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int dwcs_member_confine(const struct dwcs_member *member, int cpu)
{
    pid_t threads[THREADS_MAX];
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    const int count = thread_list(member->identity.pid, threads, THREADS_MAX);
    if (count < 0)
        return count;
    for (int i = 0; i < count; i++)
        if (sched_setaffinity(threads[i], sizeof set, &set) && errno != ESRCH)
            return -errno;
    return 0;
}

bool dwcs_member_is_runnable(const struct dwcs_member *member)
{
    char stat[STAT_SIZE];
    const ssize_t size = pread(member->stat, stat, sizeof stat - 1, 0);
    if (size <= 0)
        return false;
    stat[size] = 0;
    const char *const name_end = strrchr(stat, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

int64_t dwcs_member_sleeps(const struct dwcs_member *member)
{
    static const char key[] = "\nvoluntary_ctxt_switches:";
    char status[STATUS_SIZE];
    const ssize_t size = pread(member->status, status, sizeof status - 1, 0);
    if (size <= 0)
        return -1;
    status[size] = 0;
    const char *const line = strstr(status, key);
    return line ? strtoll(line + sizeof key - 1, NULL, 10) : -1;
}

int64_t dwcs_member_ran_ns(struct dwcs_member *member)
{
    const int64_t cpu_ns = read_clock(member->clock);
    const int64_t ran_ns = cpu_ns - member->cpu_ns;
    if (cpu_ns < 0 || ran_ns < 0)
        return 0;
    member->cpu_ns = cpu_ns;
    return ran_ns;
}

int64_t dwcs_member_cpu_ns(const struct dwcs_member *member)
{
    return member->cpu_ns - member->begun_cpu_ns;
}

int dwcs_member_put(struct dwcs_member *member, enum member_place place, int priority)
{
    static const int policies[] = {[MEMBER_ORDINARY] = SCHED_OTHER, [MEMBER_LAST] = SCHED_IDLE, [MEMBER_FIRST] = SCHED_FIFO};
    const struct sched_param parameters = {.sched_priority = place == MEMBER_FIRST ? priority : 0};
    if (member->place == place)
        return 0;
    if (sched_setscheduler(member->identity.pid, policies[place] | SCHED_RESET_ON_FORK, &parameters))
        return -errno;
    member->place = place;
    return 1;
}

int64_t dwcs_member_wait_ns(const struct dwcs_member *member)
{
    int64_t wait_ns, waits;
    if (!read_waits(member->identity.pid, &wait_ns, &waits) || waits <= member->begun_waits)
        return -1;
    return (wait_ns - member->begun_wait_ns) / (waits - member->begun_waits);
}

/* Threads that a member starts while it has SCHED_IDLE have it, too. */
static void give_thread_back(pid_t thread, const cpu_set_t *cpus)
{
    const struct sched_param ordinary = {0};
    const int policy = sched_getscheduler(thread) & ~SCHED_RESET_ON_FORK;
    if (policy == SCHED_FIFO || policy == SCHED_IDLE)
        sched_setscheduler(thread, SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary);
    sched_setaffinity(thread, sizeof *cpus, cpus);
}

void dwcs_member_give_back(const struct member_identity *identity)
{
    pid_t threads[THREADS_MAX];
    if (process_start(identity->pid) != identity->start)
        return;
    const int count = thread_list(identity->pid, threads, THREADS_MAX);
    for (int i = 0; i < count; i++)
        give_thread_back(threads[i], &identity->cpus);
}
