/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "graph_children.h"

#include "command_group.h"
#include "ns.h"
#include "pman_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAUSE_MS = 10 };

static const int64_t patience_ns = NS_PER_S; /* between two starts of a command, and for each way to end one */

/* In the new process: becomes the command when the gate opens. Without a gate at once. */
static _Noreturn void run_command(const struct graph_options *options, const struct graph_process *process, int gate)
{
    char unused;
    setpgid(0, 0);
    setenv("DLEX_PMAN", options->name, 1);
    setenv("DLEX_PMAN_PROCESS", process->name, 1);
    if (gate >= 0 && read(gate, &unused, 1) != 1)
        _exit(EXIT_IMPOSSIBLE); /* it was not attached */
    command_group_become(process->command);
}

static int attach(struct graph_children *children, int index)
{
    const struct graph_process *const process = &children->options->process[index];
    struct graph_child *const child = &children->child[index];
    const int error = pman_attach(children->pman, process->name, child->pid,
                                  process->start == GRAPH_STOPS ? PMAN_BY_CONT : PMAN_BY_FUTEX);
    child->is_attached = !error;
    if (error == -EPERM)
        fprintf(stderr, "dlex-sched-pman: %s may not have the priority %d here; `dlex-sched doctor` says what would allow it, "
                "0 needs no right\n", process->name, process->priority);
    else if (error)
        fprintf(stderr, "dlex-sched-pman: %s cannot be attached: %s\n", process->name, strerror(-error));
    return error;
}

/* Starts a command. One that waits is attached before it runs; one that stops, when it has stopped for the first time. */
static int start(struct graph_children *children, int index)
{
    const struct graph_process *const process = &children->options->process[index];
    struct graph_child *const child = &children->child[index];
    int gate[2] = {-1, -1};
    if (process->start == GRAPH_WAITS && pipe2(gate, O_CLOEXEC))
        return -errno;
    *child = (struct graph_child){.started_ns = pman_now_ns()};
    const pid_t pid = fork();
    if (pid == 0) {
        if (gate[1] >= 0)
            close(gate[1]);
        run_command(children->options, process, gate[0]);
    }
    int error = pid < 0 ? -errno : 0;
    if (!error) {
        child->pid = pid;
        setpgid(pid, pid); /* here as well: whoever comes first */
    }
    if (!error && process->start == GRAPH_WAITS)
        error = attach(children, index);
    if (!error && process->start == GRAPH_WAITS && write(gate[1], "", 1) != 1)
        error = -errno;
    for (int i = 0; i < 2; i++)
        if (gate[i] >= 0)
            close(gate[i]);
    return error;
}

int graph_children_start(struct graph_children *children, struct pman *pman, const struct graph_options *options)
{
    *children = (struct graph_children){.pman = pman, .options = options};
    for (int i = 0; i < options->processes; i++) {
        const int error = options->process[i].command ? start(children, i) : 0;
        if (error)
            return error;
    }
    return 0;
}

static void report_end(const struct graph_process *process, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "dlex-sched-pman: %s was ended by signal %d (%s)\n", process->name, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "dlex-sched-pman: %s has ended with status %d\n", process->name, WEXITSTATUS(status));
}

/* A command has stopped itself: it is ready, or it has finished its instance. */
static void note_stop(struct graph_children *children, int index)
{
    const struct graph_process *const process = &children->options->process[index];
    if (process->start != GRAPH_STOPS)
        return; /* somebody else's stop */
    if (!children->child[index].is_attached)
        attach(children, index);
    else
        pman_epilogue(children->pman, process->name); /* if an instance runs */
}

static void look_at(struct graph_children *children, int index)
{
    const struct graph_process *const process = &children->options->process[index];
    struct graph_child *const child = &children->child[index];
    int status;
    while (child->pid && waitpid(child->pid, &status, WNOHANG | WUNTRACED) == child->pid) {
        if (WIFSTOPPED(status)) {
            note_stop(children, index);
            continue;
        }
        report_end(process, status);
        child->pid = 0;
    }
    if (!child->pid && process->restarts && pman_now_ns() - child->started_ns > patience_ns && !start(children, index))
        fprintf(stderr, "dlex-sched-pman: %s is started again\n", process->name);
}

void graph_children_look(struct graph_children *children)
{
    for (int i = 0; i < children->options->processes; i++)
        if (children->options->process[i].command)
            look_at(children, i);
}

const char *graph_children_unready(const struct graph_children *children)
{
    for (int i = 0; i < children->options->processes; i++) {
        const struct graph_process *const process = &children->options->process[i];
        struct pman_statistics statistics = {0};
        if (!process->command)
            continue;
        const bool is_known = !pman_query(children->pman, process->name, &statistics);
        if (!is_known || !children->child[i].is_attached || (process->start == GRAPH_WAITS && !statistics.has_waited))
            return process->name;
    }
    return NULL;
}

const char *graph_children_lost(const struct graph_children *children)
{
    for (int i = 0; i < children->options->processes; i++) {
        const struct graph_process *const process = &children->options->process[i];
        if (process->command && !process->restarts && !children->child[i].pid)
            return process->name;
    }
    return NULL;
}

/* Waits until all have ended, but not longer than the patience. Returns true if they have. */
static bool wait_for_all(struct graph_children *children)
{
    const int64_t until_ns = pman_now_ns() + patience_ns;
    for (;;) {
        bool runs = false;
        for (int i = 0; i < PMAN_CAPACITY; i++) {
            struct graph_child *const child = &children->child[i];
            if (child->pid && waitpid(child->pid, NULL, WNOHANG) != 0)
                child->pid = 0;
            runs |= child->pid != 0;
        }
        if (!runs || pman_now_ns() > until_ns)
            return !runs;
        usleep(PAUSE_MS * 1000);
    }
}

static void signal_all(const struct graph_children *children, int signal)
{
    for (int i = 0; i < PMAN_CAPACITY; i++)
        if (children->child[i].pid)
            kill(-children->child[i].pid, signal);
}

void graph_children_end(struct graph_children *children)
{
    static const int ways[] = {SIGTERM, SIGKILL};
    for (int i = 0; i < PMAN_CAPACITY; i++)
        if (children->child[i].pid && children->options->process[i].start == GRAPH_STOPS)
            kill(-children->child[i].pid, SIGTERM); /* nothing else reaches it; it acts when the stopped process goes on */
    signal_all(children, SIGCONT);
    for (size_t i = 0; !wait_for_all(children) && i < sizeof ways / sizeof ways[0]; i++)
        signal_all(children, ways[i]);
    wait_for_all(children);
}
