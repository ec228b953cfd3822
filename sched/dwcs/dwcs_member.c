/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_member.h"

#include "ns.h"
#include "timer_slack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 64, STAT_SIZE = 128, STATUS_SIZE = 4096, SCHEDSTAT_SIZE = 80 };

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? -1 : ns_from_timespec(now);
}

/* Reads how long the main thread has waited for a CPU in total, and how often it has run. */
static bool read_waits(const struct dwcs_member *member, int64_t *wait_ns, int64_t *waits)
{
    char text[SCHEDSTAT_SIZE];
    int64_t ran_ns;
    const ssize_t size = pread(member->schedstat, text, sizeof text - 1, 0);
    if (size <= 0)
        return false;
    text[size] = 0;
    return sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &ran_ns, wait_ns, waits) == 3;
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
    const pid_t pid = member->pid;
    member->stat = open_file(pid, "stat");
    if (member->stat < 0)
        return member->stat;
    member->status = open_file(pid, "status");
    int error = member->status < 0 ? member->status : 0;
    if (!error && (member->pidfd = (int)syscall(SYS_pidfd_open, pid, 0)) < 0) {
        error = errno == EINVAL || errno == ENOENT ? -ESRCH : -errno; /* the id of another thread of a process */
        close(member->status);
    }
    if (error)
        close(member->stat);
    else
        member->schedstat = open_file(pid, "schedstat");
    return error;
}

int dwcs_member_open(struct dwcs_member *member, struct member_before *before)
{
    const pid_t pid = before->main.process;
    *member = (struct dwcs_member){.before = before, .pid = pid, .wait_ns = -1};
    int error = open_files(member);
    if (error)
        return error;
    error = -clock_getcpuclockid(pid, &member->clock);
    if (error) {
        dwcs_member_close(member);
        return error;
    }
    member->cpu_ns = member->begun_cpu_ns = read_clock(member->clock);
    read_waits(member, &member->begun_wait_ns, &member->begun_waits);
    return 0;
}

void dwcs_member_close(struct dwcs_member *member)
{
    if (member->schedstat >= 0)
        close(member->schedstat);
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

/* As long as the process has not ended, and its parent has not looked, its id cannot mean another one. */
static bool has_ended(const struct dwcs_member *member)
{
    struct pollfd ended = {.fd = member->pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) == 1;
}

/* True if it has the policy that it was given last. */
static bool is_as_given(const struct dwcs_member *member)
{
    const struct thread_ordinary *const own = &member->before->policy;
    struct thread_ordinary ordinary;
    struct thread_policy now;
    if (member->place == MEMBER_FIRST)
        return !thread_policy_get(member->pid, &now) && now.kind == THREAD_FIFO && now.priority == member->before->priority;
    if (thread_ordinary_get(member->pid, &ordinary))
        return false;
    if (member->place == MEMBER_LAST)
        return ordinary.number == SCHED_IDLE;
    return ordinary.number == own->number && ordinary.slice_ns == own->slice_ns;
}

/* Leaving SCHED_FIFO, it gets the kernel's default, not what it had. */
static void give_slack_back(struct dwcs_member *member)
{
    if (member->keeps_slack)
        return;
    member->keeps_slack = timer_slack_get(member->pid) == member->before->timer_slack_ns;
    timer_slack_set(member->pid, member->before->timer_slack_ns);
}

static int set_policy(struct dwcs_member *member, enum member_place place)
{
    const struct thread_policy first = {.kind = THREAD_FIFO, .priority = member->before->priority};
    const struct thread_ordinary last = {.number = SCHED_IDLE, .resets_on_fork = member->before->policy.resets_on_fork};
    if (place == MEMBER_FIRST)
        return thread_policy_set(member->pid, &first);
    const int error = thread_ordinary_set(member->pid, place == MEMBER_LAST ? &last : &member->before->policy);
    if (!error && member->place == MEMBER_FIRST)
        give_slack_back(member);
    return error;
}

int dwcs_member_put(struct dwcs_member *member, enum member_place place)
{
    if (member->place == place || member->is_left_alone)
        return 0;
    const bool is_own = is_as_given(member);
    if (has_ended(member))
        return -ESRCH;
    if (!is_own) {
        member->is_left_alone = true;
        member_before_leave_alone(member->before);
        return 0;
    }
    const int error = set_policy(member, place);
    if (error)
        return error;
    member->place = place;
    return 1;
}

int64_t dwcs_member_wait_ns(struct dwcs_member *member)
{
    int64_t wait_ns, waits;
    if (read_waits(member, &wait_ns, &waits) && waits > member->begun_waits)
        member->wait_ns = (wait_ns - member->begun_wait_ns) / (waits - member->begun_waits);
    return member->wait_ns;
}
