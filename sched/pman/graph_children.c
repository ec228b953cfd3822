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

static const int64_t patience_ns = NS_PER_S; /* between two starts of a command, and for those that end by themselves */

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
        fprintf(stderr, "dlex-sched-pman: %s may not have the priority %d here; `dlex-sched doctor` says what would allow it; "
                "priority 0 needs no right\n", process->name, process->priority);
    else if (error)
        fprintf(stderr, "dlex-sched-pman: %s cannot be attached: %s\n", process->name, strerror(-error));
    return error;
}

static int fail(const struct graph_process *process, int error)
{
    fprintf(stderr, "dlex-sched-pman: %s cannot be started: %s\n", process->name, strerror(-error));
    return error;
}

static int fork_command(struct graph_children *children, int index, const int gate[2])
{
    const struct graph_process *const process = &children->options->process[index];
    const pid_t pid = fork();
    if (pid == 0) {
        if (gate[1] >= 0)
            close(gate[1]);
        run_command(children->options, process, gate[0]);
    }
    if (pid < 0)
        return fail(process, -errno);
    children->child[index].pid = pid;
    setpgid(pid, pid); /* here as well: one of the two comes first */
    return 0;
}

static int attach_and_open(struct graph_children *children, int index, int gate)
{
    const int error = attach(children, index);
    if (error)
        return error;
    return write(gate, "", 1) == 1 ? 0 : fail(&children->options->process[index], -errno);
}

/*
 * Starts a command. One that waits is attached before it runs; one that stops, when it has stopped for the first time. Returns 0,
 * or a negative errno after a message.
 */
static int start(struct graph_children *children, int index)
{
    const struct graph_process *const process = &children->options->process[index];
    int gate[2] = {-1, -1};
    children->child[index] = (struct graph_child){.started_ns = pman_now_ns()};
    if (process->start == GRAPH_WAITS && pipe2(gate, O_CLOEXEC))
        return fail(process, -errno);
    int error = fork_command(children, index, gate);
    if (!error && process->start == GRAPH_WAITS)
        error = attach_and_open(children, index, gate[1]);
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

static void report_end(const struct graph_process *process, const siginfo_t *seen)
{
    if (seen->si_code == CLD_EXITED)
        fprintf(stderr, "dlex-sched-pman: %s has ended with status %d\n", process->name, seen->si_status);
    else
        fprintf(stderr, "dlex-sched-pman: %s was ended by signal %d (%s)\n", process->name, seen->si_status,
                strsignal(seen->si_status));
}

/* A command has stopped itself: it is ready, or it has finished its instance. */
static void note_stop(struct graph_children *children, int index)
{
    const struct graph_process *const process = &children->options->process[index];
    if (process->start != GRAPH_STOPS)
        return; /* another program has stopped it */
    if (!children->child[index].is_attached)
        attach(children, index);
    else
        pman_epilogue(children->pman, process->name); /* if an instance runs */
}

/* Returns true if the shell has stopped (WSTOPPED), or ended (WEXITED | WNOWAIT), and this has not been seen yet. */
static bool sees(const struct graph_child *child, int what, siginfo_t *seen)
{
    seen->si_pid = 0;
    return child->pid && !child->has_ended && !waitid(P_PID, (id_t)child->pid, seen, what | WNOHANG) && seen->si_pid;
}

static bool is_down(const struct graph_child *child)
{
    return !child->pid || child->has_ended;
}

/* The one before is waited for now, and not when it ended, so that the number of its group stayed its own. */
static void restart(struct graph_children *children, int index)
{
    const pid_t before = children->child[index].pid;
    if (before) {
        kill(-before, SIGKILL);
        waitpid(before, NULL, 0);
    }
    if (!start(children, index))
        fprintf(stderr, "dlex-sched-pman: %s is started again\n", children->options->process[index].name);
}

static void look_at(struct graph_children *children, int index)
{
    const struct graph_process *const process = &children->options->process[index];
    struct graph_child *const child = &children->child[index];
    siginfo_t seen;
    while (sees(child, WSTOPPED, &seen))
        note_stop(children, index);
    if (sees(child, WEXITED | WNOWAIT, &seen)) {
        report_end(process, &seen);
        child->has_ended = true;
    }
    if (is_down(child) && process->restarts && pman_now_ns() - child->started_ns > patience_ns)
        restart(children, index);
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
        if (process->command && !process->restarts && is_down(&children->child[i]))
            return process->name;
    }
    return NULL;
}

void graph_children_end(struct graph_children *children)
{
    pid_t groups[PMAN_CAPACITY];
    for (int i = 0; i < PMAN_CAPACITY; i++) {
        groups[i] = children->child[i].pid;
        if (groups[i] && children->options->process[i].start == GRAPH_STOPS)
            kill(-groups[i], SIGTERM); /* nothing else reaches it; it acts when the stopped process goes on */
    }
    for (int i = 0; i < PMAN_CAPACITY; i++)
        if (groups[i])
            kill(-groups[i], SIGCONT);
    if (!command_groups_wait(groups, PMAN_CAPACITY, patience_ns))
        command_groups_end(groups, PMAN_CAPACITY);
}
