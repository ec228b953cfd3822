/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dlex-sched-pman: runs a graph of processes. See graph_options.c for what it does, and `dlex sched pman`. */
#include "graph_children.h"
#include "graph_options.h"
#include "graph_report.h"
#include "ns.h"
#include "own_proc.h"
#include "pman_services.h"
#include "rt_limit.h"
#include "standard_output.h"
#include "user_command.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { POLL_MS = 50, PRIORITY_MAX = 99 };

static const int64_t ready_ns = 10 * NS_PER_S; /* how long a command may take until it waits for its first instance */

static struct graph_options options;
static struct graph_children children;
static struct graph_report report;
static struct pman *pman;
static int signals; /* file */

/* Prints why something is not possible. */
static int fail(const char *what, int error, const char *remedy)
{
    fprintf(stderr, "dlex-sched-pman: %s: %s%s%s\n", what, strerror(-error), remedy ? "; " : "", remedy ? remedy : "");
    return error;
}

/* Those that end the graph. */
static void fill_with_endings(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

static int open_signals(void)
{
    sigset_t set;
    fill_with_endings(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would hide how children end */
    signal(SIGPIPE, SIG_IGN); /* a reader that has ended is an error of printing, which ends the graph in good order */
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals < 0 ? fail("signals", -errno, NULL) : 0;
}

/* Sleeps until a signal comes or for a moment, and looks at the children. Returns false if a signal says to end. */
static bool pass_time(void)
{
    struct pollfd polled = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo received;
    bool goes_on = true;
    poll(&polled, 1, POLL_MS);
    while (read(signals, &received, sizeof received) == sizeof received)
        goes_on &= received.ssi_signo == SIGCHLD;
    if (options.mode == GRAPH_RUN)
        graph_children_look(&children);
    graph_report_follow(&report);
    return goes_on;
}

static int make_table(void)
{
    const struct pman_options of_table = {.deadlines = options.deadlines};
    int error = pman_init(&pman, options.name, &of_table);
    if (error)
        return fail(options.name, error,
                    error == -EEXIST ? "if its manager was killed, --take-over goes on with it and --end ends it" : NULL);
    for (int i = 0; i < options.processes; i++) {
        const struct graph_process *const process = &options.process[i];
        error = pman_procadd(pman, process->name, &process->timing, process->priority,
                             process->recovery[0] ? process->recovery : NULL);
        if (error)
            return fail(process->name, error, NULL);
    }
    for (int i = 0; i < options.edges; i++) {
        const char *const name = options.process[options.edge[i].process].name;
        error = pman_prec_add(pman, name, options.process[options.edge[i].predecessor].name);
        if (error)
            return fail(name, error, error == -ELOOP ? "it would come after itself" : NULL);
    }
    return 0;
}

/* Starts the commands and waits until all are ready. */
static int start_commands(void)
{
    const int64_t until_ns = pman_now_ns() + ready_ns;
    const int error = graph_children_start(&children, pman, &options);
    if (error)
        return error;
    for (const char *name; (name = graph_children_unready(&children));) {
        if (!pass_time())
            return -EINTR;
        const char *const lost = graph_children_lost(&children);
        if (lost)
            return fail(lost, -ECHILD, "its command has ended before its first instance");
        if (pman_now_ns() > until_ns)
            return fail(name, -ETIMEDOUT, "its command must call pman_wait, or stop itself, when it is ready");
    }
    return 0;
}

static int highest_priority(void)
{
    static struct pman_table table;
    int highest = 0;
    if (pman_services_view(pman->shared, &table))
        return 0;
    for (int i = 0; i < table.used; i++)
        if (table.process[i].status != PMAN_FREE && table.process[i].priority > highest)
            highest = table.process[i].priority;
    return highest;
}

static int start_manager(struct pman_manager **manager, const struct pman_manager_options *of_manager)
{
    char remedy[160];
    const int error = pman_manager_start(manager, pman, of_manager);
    if (!error)
        return 0;
    if (error == -EPERM)
        snprintf(remedy, sizeof remedy, "the manager, above all processes, may not have the priority %d; `dlex-sched doctor` says what "
                 "would allow it; priority 0 needs no right", of_manager->priority);
    else
        snprintf(remedy, sizeof remedy, "process %d manages this table", (int)pman->shared->manager_pid);
    return fail("the table cannot be managed", error, error == -EPERM || error == -EBUSY ? remedy : NULL);
}

/* The manager precedes all processes, unless the options say otherwise. */
static int start_to_manage(struct pman_manager **manager)
{
    const int highest = highest_priority();
    const int above = highest && highest < PRIORITY_MAX ? highest + 1 : highest;
    const struct pman_manager_options of_manager = {
        .tick_ns = options.tick_ns, .priority = options.manager_priority < 0 ? above : options.manager_priority,
    };
    return start_manager(manager, &of_manager);
}

/* Processes with a priority may limit their real-time CPU time at any time, and would be killed for it. */
static void lift_limits(void)
{
    static struct rt_limit_reports reports;
    static struct pman_table table;
    char text[RT_LIMIT_TEXT_SIZE];
    int64_t limit_us;
    if (pman_services_view(pman->shared, &table))
        return;
    for (int i = 0; i < table.used; i++) {
        const struct pman_process *const process = &table.process[i];
        if (process->status == PMAN_FREE || process->priority <= 0 || process->pid <= 0)
            continue;
        const enum rt_limit found = rt_limit_lift(process->pid, &limit_us);
        if (found != RT_LIMIT_NONE && rt_limit_is_first(&reports, process->pid))
            fprintf(stderr, "dlex-sched-pman: %s\n", rt_limit_text(found, process->pid, process->name, limit_us, text));
    }
}

/* Prints a line a second, until the end. ticks_before: those of managers before this one. Returns 0 or an error of printing. */
static int supervise(int64_t ticks_before)
{
    const int64_t begun_ns = pman_now_ns();
    int64_t next_ns = begun_ns + NS_PER_S;
    int error = 0;
    while (pass_time() && !error) {
        const int64_t now_ns = pman_now_ns();
        lift_limits();
        const bool is_over = options.seconds > 0 && ns_to_s(now_ns - begun_ns) >= options.seconds;
        if (options.ticks && pman_shared_ticks(pman->shared) - ticks_before >= options.ticks)
            break;
        if (is_over)
            break;
        if (now_ns < next_ns)
            continue;
        error = graph_report_print(&report, false);
        next_ns += NS_PER_S;
    }
    return error;
}

/* Manages the table until the end. Another program may close it before. Returns 0, or an error of printing after a message. */
static int manage(struct pman_manager **manager, int64_t ticks_before)
{
    int error = supervise(ticks_before);
    pman_manager_stop(manager);
    graph_report_follow(&report);
    if (!error)
        error = graph_report_print(&report, true);
    return error && error != -ESHUTDOWN ? fail("the results cannot be written", error, NULL) : 0;
}

static int run_graph(void)
{
    struct pman_manager *manager = NULL;
    const int64_t ticks_before = pman_shared_ticks(pman->shared);
    int error = graph_report_begin(&report, pman->shared, options.log);
    if (error)
        return fail(options.log, error, NULL);
    if (!options.tick_ns) /* a command may give the first tick at once; the manager's own ticks come when all are ready */
        error = start_to_manage(&manager);
    if (!error && options.mode == GRAPH_RUN)
        error = start_commands();
    if (!error && !manager)
        error = start_to_manage(&manager);
    if (!error)
        error = manage(&manager, ticks_before);
    pman_manager_stop(&manager);
    const int unwritten = graph_report_close_log(&report);
    return error ? error : unwritten ? fail(options.log, unwritten, NULL) : 0;
}

static int open_table(void)
{
    const int error = pman_open(&pman, options.name);
    return error ? fail(options.name, error, error == -ENOENT ? "there is no such table" : NULL) : 0;
}

/* A table without a manager is nobody's. */
static int check_unmanaged(void)
{
    struct pman_manager *manager = NULL;
    const int error = start_manager(&manager, &(struct pman_manager_options){0});
    pman_manager_stop(&manager);
    return error;
}

static int do_as_asked(void)
{
    int error = open_signals();
    if (!error)
        error = options.mode == GRAPH_RUN ? make_table() : open_table();
    if (!error)
        error = options.mode == GRAPH_END ? check_unmanaged() : run_graph();
    if (error && options.mode != GRAPH_RUN)
        pman_leave(&pman); /* it is somebody else's */
    return error;
}

/* Under sudo the table and its processes are those of the user who called it. Priorities are all that needs a right. */
static int become_user(void)
{
    const int error = user_command_keep_only(CAP_SYS_NICE);
    return error ? fail("the user who called sudo", error, NULL) : 0;
}

/* When nothing runs any more: the reader of the last line may take long. A signal ends the wait, but not that of a child. */
static int end_report(void)
{
    sigset_t set;
    fill_with_endings(&set);
    signalfd(signals, &set, 0);
    return graph_report_end(&report, signals);
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-sched-pman", EXIT_IMPOSSIBLE);
    if (!user_command_begin("dlex-sched-pman"))
        return EXIT_IMPOSSIBLE;
    graph_options_parse(&options, argc, argv);
    if (!own_proc_check("dlex-sched-pman") || become_user())
        return EXIT_IMPOSSIBLE;
    int error = do_as_asked();
    pman_close(&pman); /* the processes end by this */
    if (children.options)
        graph_children_end(&children);
    const int unwritten = end_report();
    if (unwritten && !error)
        error = fail("the results cannot be written", unwritten, NULL);
    return error == 0 || error == -EINTR ? EXIT_DONE : EXIT_IMPOSSIBLE;
}
