/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rt_limit_watch.h"

#include "rt_limit.h"
#include "thread_list.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* rtkit demands 200 ms, and a look takes up to some ms. */
enum { POLL_MS = 60, FAMILY_MAX = 64, THREADS_MAX = 512 };

/* What rtkit has given its clients (SCHED_RR) stays: those threads know the limit. */
static void make_ordinary(pid_t process)
{
    static const struct sched_param none = {.sched_priority = 0};
    pid_t threads[THREADS_MAX];
    const int count = thread_list(process, threads, THREADS_MAX);
    for (int i = 0; i < count; i++)
        if ((sched_getscheduler(threads[i]) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO)
            sched_setscheduler(threads[i], SCHED_OTHER, &none);
}

static void look_after(const char *program, pid_t process)
{
    static struct rt_limit_reports reports;
    char name[THREAD_NAME_SIZE], text[RT_LIMIT_TEXT_SIZE];
    int64_t limit_us;
    const enum rt_limit found = rt_limit_lift(process, &limit_us);
    if (found == RT_LIMIT_STAYS)
        make_ordinary(process);
    if (found != RT_LIMIT_NONE && rt_limit_is_first(&reports, process))
        fprintf(stderr, "%s: %s%s\n", program,
                rt_limit_text(found, process, thread_list_name(process, process, name), limit_us, text),
                found == RT_LIMIT_STAYS ? ", so it goes on under an ordinary one" : "");
}

/* A program that computes under its fixed priority must not keep this process from its CPU. */
static void take_priority(void)
{
    for (int priority = sched_get_priority_max(SCHED_FIFO); priority > 0; priority--) {
        const struct sched_param wanted = {.sched_priority = priority};
        if (!sched_setscheduler(0, SCHED_FIFO, &wanted))
            return;
    }
}

_Noreturn static void watch(const char *program, pid_t process, int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    pid_t family[FAMILY_MAX];
    setsid();
    signal(SIGPIPE, SIG_IGN);
    for (int fd = STDIN_FILENO; fd < STDERR_FILENO; fd++)
        close(fd);
    close_range(STDERR_FILENO + 1, (unsigned)pidfd - 1, 0);
    close_range((unsigned)pidfd + 1, ~0U, 0);
    prctl(PR_SET_NAME, "dlex-rm-limits");
    take_priority();
    while (poll(&ended, 1, POLL_MS) <= 0) {
        const int count = thread_list_family(process, family, FAMILY_MAX);
        for (int i = 0; i < count; i++)
            look_after(program, family[i]);
    }
    _exit(0);
}

int rt_limit_watch(const char *program)
{
    const pid_t process = getpid();
    const int pidfd = (int)syscall(SYS_pidfd_open, process, 0);
    if (pidfd < 0)
        return -errno;
    const pid_t child = fork(); /* its child is none of the command's, which would wait for it otherwise */
    if (!child) {
        if (!fork())
            watch(program, process, pidfd);
        _exit(0);
    }
    const int error = child < 0 ? -errno : 0;
    close(pidfd);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return error;
}
