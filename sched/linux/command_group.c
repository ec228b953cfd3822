/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command_group.h"

#include "ns.h"
#include "user_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_US = 10000 };

static const int64_t for_each_way_ns = NS_PER_S;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

static void leave_terminal(void)
{
    if (!isatty(STDIN_FILENO))
        return;
    close(STDIN_FILENO);
    (void)!open("/dev/null", O_RDONLY); /* gets the lowest number, which is that of standard input */
}

_Noreturn void command_group_become(const char *command)
{
    static const int usual[] = {SIGPIPE, SIGTSTP, SIGTTIN};
    sigset_t none;
    leave_terminal();
    dup2(STDERR_FILENO, STDOUT_FILENO);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        signal(usual[i], SIG_DFL);
    signal(SIGTTOU, SIG_IGN); /* `stty tostop` stops a group in the background that writes to its terminal */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int error = user_command_become((char *[]){"/bin/sh", "-c", (char *)command, NULL});
    fprintf(stderr, "the command `%s` was not started: %s\n", command, strerror(-error));
    _exit(COMMAND_GROUP_NOT_STARTED);
}

/* Returns how many groups have a living process. */
static int look(pid_t *groups, int count)
{
    int living = 0;
    for (int i = 0; i < count; i++) {
        if (!groups[i])
            continue;
        waitpid(groups[i], NULL, WNOHANG); /* an ended shell would still be in its group */
        if (kill(-groups[i], 0) && errno == ESRCH)
            groups[i] = 0;
        else
            living++;
    }
    return living;
}

bool command_groups_wait(pid_t *groups, int count, int64_t patience_ns)
{
    const int64_t until_ns = now_ns() + patience_ns;
    while (look(groups, count)) {
        if (now_ns() > until_ns)
            return false;
        usleep(PAUSE_US);
    }
    return true;
}

static void signal_all(const pid_t *groups, int count, int signal)
{
    for (int i = 0; i < count; i++)
        if (groups[i])
            kill(-groups[i], signal);
}

void command_groups_end(pid_t *groups, int count)
{
    static const int ways[] = {SIGTERM, SIGKILL};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && look(groups, count); i++) {
        signal_all(groups, count, ways[i]);
        signal_all(groups, count, SIGCONT); /* a stopped process acts on SIGTERM when it goes on */
        command_groups_wait(groups, count, for_each_way_ns);
    }
}
