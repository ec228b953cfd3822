/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dlex-sched-dwcs: runs processes under DWCS. See dwcs_options.c for what it does, and `dlex sched dwcs`. */
#include "command_group.h"
#include "dwcs_dispatch.h"
#include "dwcs_options.h"
#include "line_writer.h"
#include "ns.h"
#include "own_proc.h"
#include "rt_limit.h"
#include "standard_output.h"
#include "user_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* rtkit demands 200 ms of its clients. */
static const int64_t limits_period_ns = 60 * NS_PER_MS;

enum { TEXT_SIZE = 16, REMEDY_SIZE = 160 };

/* A command that this program has started, until its gate opens. */
struct started {
    pid_t pid;  /* also of its process group; 0: none */
    int gate;
    int events; /* an eventfd; -1: none */
};

static struct dwcs_options options;
static struct started started[GUARD_CAPACITY];
static struct dwcs_dispatch *dispatch;
static struct line_writer output = {.file = STDOUT_FILENO};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

static int fail(const char *what, int error, const char *remedy)
{
    fprintf(stderr, "dlex-sched-dwcs: %s: %s%s%s\n", what, strerror(-error), remedy ? "; " : "", remedy ? remedy : "");
    return error;
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would hide how children end */
    signal(SIGPIPE, SIG_IGN); /* a reader that has ended is an error of printing */
    signal(SIGTSTP, SIG_IGN); /* while it is stopped, the chosen task would keep its priority */
    signal(SIGTTOU, SIG_IGN); /* the same for writing to a terminal, after `stty tostop` */
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* In the new process: becomes the command when the gate opens; ends if it is closed. */
static _Noreturn void run_command(const struct dwcs_task_options *task, const struct started *own, int gate)
{
    char text[TEXT_SIZE];
    setpgid(0, 0);
    if (own->events >= 0) {
        fcntl(own->events, F_SETFD, 0);
        snprintf(text, sizeof text, "%d", own->events);
        setenv("DLEX_DWCS_EVENT", text, 1);
    }
    if (read(gate, text, 1) != 1)
        _exit(EXIT_IMPOSSIBLE);
    command_group_become(task->command);
}

static int start_command(const struct dwcs_task_options *task, struct started *made)
{
    int ends[2];
    *made = (struct started){.events = -1};
    if (task->events == EVENTS_OF_EVENTFD && (made->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return -errno;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        run_command(task, made, ends[0]);
    }
    const int error = pid < 0 ? -errno : 0;
    close(ends[0]);
    made->gate = ends[1];
    if (!error) {
        made->pid = pid;
        setpgid(pid, pid); /* here as well: one of the two comes first */
    }
    return error;
}

/* Commands are started before the dispatcher has its CPU and its priority, so that they have neither. */
static int start_commands(void)
{
    for (int i = 0; i < options.tasks; i++) {
        const int error = options.task[i].command ? start_command(&options.task[i], &started[i]) : 0;
        if (error)
            return fail(options.task[i].task.name, error, NULL);
    }
    return 0;
}

static const char *reason(int error)
{
    switch (-error) {
    case E2BIG: return "it has too many threads";
    case EBADF: return "it has no file descriptor with this number";
    case EBUSY: return "its main thread has a real-time policy or a reservation of its own, and keeps that";
    case EEXIST: return "its process is another task already";
    case EINVAL: return "it may not run on this CPU";
    case EPERM: return "it belongs to another user, or this account may not schedule it";
    case ESRCH: return "there is no such process";
    default: return strerror(-error);
    }
}

static pid_t pid_of(int number)
{
    return options.task[number].command ? started[number].pid : options.task[number].pid;
}

static int add_tasks(void)
{
    for (int i = 0; i < options.tasks; i++) {
        const struct dwcs_task_options *const task = &options.task[i];
        const struct dispatch_plan plan = {
            .is_best_effort = task->task.is_best_effort, .is_command = task->command != NULL, .params = task->task.params,
            .events = task->events,
            .event_file = task->events == EVENTS_OF_SOCKET ? task->socket : started[i].events,
        };
        const int number = dwcs_dispatch_add(dispatch, pid_of(i), &plan);
        if (number < 0) {
            fprintf(stderr, "dlex-sched-dwcs: %s: %s\n", task->task.name, reason(number));
            return number;
        }
    }
    return 0;
}

static void open_gates(void)
{
    for (int i = 0; i < options.tasks; i++) {
        if (!started[i].pid)
            continue;
        if (write(started[i].gate, "", 1) != 1)
            fprintf(stderr, "dlex-sched-dwcs: %s has ended before it began\n", options.task[i].task.name);
        close(started[i].gate);
        started[i].gate = -1;
    }
}

static void print_task(FILE *line, int number, const char *separator)
{
    const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, number);
    fprintf(line, "%s{\"name\": \"%s\", \"pid\": %d, \"served\": %" PRId64 ", \"missed\": %" PRId64 ", \"violations\": %" PRId64
            ", \"windows_kept\": %" PRId64 ", \"windows_lost\": %" PRId64 ", \"events\": %" PRId64 ", \"swaps\": %" PRId64,
            separator, options.task[number].task.name, (int)pid_of(number), figures.periods.served, figures.periods.missed,
            figures.periods.violations, figures.windows_kept, figures.windows_lost, figures.events, figures.swaps);
    fprintf(line, ", \"cpu_ms\": %.3f, \"wait_us\": ", ns_to_ms(figures.cpu_ns));
    if (figures.wait_ns < 0)
        fprintf(line, "null");
    else
        fprintf(line, "%.1f", ns_to_us(figures.wait_ns));
    fprintf(line, ", \"has_ended\": %s}", figures.has_ended ? "true" : "false");
}

static void print_tasks(FILE *line, int64_t begun_ns)
{
    const struct dispatch_totals totals = dwcs_dispatch_totals(dispatch);
    fprintf(line, "{\"seconds\": %.3f, \"utilisation\": %.9g, \"slots\": %" PRId64 ", \"lost_slots\": %" PRId64
            ", \"decisions\": %" PRId64
            ", \"policy_changes\": %" PRId64 ", \"late_us_max\": %.1f, \"tasks\": [", ns_to_s(now_ns() - begun_ns),
            totals.utilisation, totals.slots, totals.lost_slots, totals.decisions, totals.policy_changes,
            ns_to_us(totals.late_ns_max));
    for (int i = 0; i < options.tasks; i++)
        print_task(line, i, i ? ", " : "");
    fputs("]}\n", line);
}

/*
 * Prints what has happened so far as a line of JSON, as far as the reader of standard output reads. is_last: it is not left out.
 * Returns 0 or a negative errno.
 */
static int print_state(int64_t begun_ns, bool is_last)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const line = open_memstream(&text, &size);
    if (!line)
        return -ENOMEM;
    print_tasks(line, begun_ns);
    const int error = ferror(line) | fclose(line) ? -ENOMEM : line_writer_put(&output, text, size, is_last);
    free(text);
    return error;
}

/* Reports once each task that is left alone from now on. */
static void report_left_alone(void)
{
    static bool is_reported[GUARD_CAPACITY];
    for (int i = 0; i < options.tasks; i++) {
        if (is_reported[i] || !dwcs_dispatch_is_left_alone(dispatch, i) || !line_writer_takes_more(STDERR_FILENO))
            continue;
        is_reported[i] = true;
        fprintf(stderr, "dlex-sched-dwcs: another program has changed the policy of %s, which keeps that one from now on\n",
                options.task[i].task.name);
    }
}

/* Members may limit their real-time CPU time at any time, and would be killed for it. */
static void lift_limits(void)
{
    static struct rt_limit_reports reports;
    char text[RT_LIMIT_TEXT_SIZE];
    int64_t limit_us;
    for (int i = 0; i < options.tasks; i++) {
        const enum rt_limit found = rt_limit_lift(pid_of(i), &limit_us);
        if (found != RT_LIMIT_NONE && line_writer_takes_more(STDERR_FILENO) && rt_limit_is_first(&reports, pid_of(i)))
            fprintf(stderr, "dlex-sched-dwcs: %s\n", rt_limit_text(found, pid_of(i), options.task[i].task.name, limit_us, text));
    }
}

/* Schedules until the end. Returns 0 or a negative errno. */
static int schedule(int signals)
{
    const int64_t begun_ns = now_ns();
    struct signalfd_siginfo received;
    int64_t next_ns = begun_ns + NS_PER_S, limits_ns = begun_ns;
    int living = options.tasks;
    while (living > 0 && read(signals, &received, sizeof received) != sizeof received) {
        const int64_t at_ns = now_ns();
        if (options.seconds && at_ns - begun_ns >= options.seconds * NS_PER_S)
            break;
        if (at_ns >= limits_ns) {
            lift_limits();
            limits_ns = at_ns + limits_period_ns;
        }
        if (at_ns >= next_ns) {
            const int unprinted = print_state(begun_ns, false);
            report_left_alone();
            if (unprinted)
                return unprinted;
            next_ns += NS_PER_S;
        }
        living = dwcs_dispatch_step(dispatch, signals);
    }
    if (living < 0)
        return living;
    dwcs_dispatch_end(dispatch);
    report_left_alone();
    return print_state(begun_ns, true);
}

/* Returns what helps if the dispatcher cannot begin; NULL: not known. */
static const char *remedy(int error, char text[REMEDY_SIZE])
{
    const int own = options.dispatch.priority;
    switch (-error) {
    case EPERM:
        snprintf(text, REMEDY_SIZE, "it needs the priorities %d to %d; `dlex-sched doctor` says what would allow them", own - 1,
                 own + 1);
        return text;
    case EINVAL:
        snprintf(text, REMEDY_SIZE, "CPU %d is switched off, or not one of those that this program may use (cpuset); name another one "
                 "with --cpu", options.dispatch.cpu);
        return text;
    case EBUSY: return "start it under an ordinary policy; it takes its priority itself";
    case EACCES: return "it needs a folder of this user's own for a journal: dlex-sched in /run or /run/user/UID, or one in /dev/shm";
    default: return NULL;
    }
}

static int create_dispatch(void)
{
    char text[REMEDY_SIZE];
    const int error = dwcs_dispatch_create(&dispatch, &options.dispatch);
    return error ? fail("scheduling cannot begin", error, remedy(error, text)) : 0;
}

static int run(int signals)
{
    int journals;
    dwcs_guard_repair(&journals); /* what killed runs have left */
    int error = start_commands();
    if (!error)
        error = create_dispatch();
    if (error)
        return error;
    error = add_tasks();
    if (error)
        return error;
    open_gates();
    error = dwcs_dispatch_begin(dispatch);
    if (!error)
        error = schedule(signals);
    if (error == -EOWNERDEAD)
        fputs("dlex-sched-dwcs: its guard process was killed, and it does not run without one; all processes get back what they had; "
              "start it again\n", stderr);
    else if (error)
        fail("scheduling cannot continue", error, NULL);
    return error;
}

/* Those whose gate was never opened end when it is closed. */
static void end_commands(void)
{
    pid_t groups[GUARD_CAPACITY];
    for (int i = 0; i < options.tasks; i++) {
        if (started[i].pid && started[i].gate >= 0)
            close(started[i].gate);
        groups[i] = started[i].pid;
    }
    command_groups_end(groups, options.tasks);
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-sched-dwcs", EXIT_IMPOSSIBLE);
    if (!user_command_begin("dlex-sched-dwcs"))
        return EXIT_IMPOSSIBLE;
    dwcs_options_parse(&options, argc, argv);
    if (!own_proc_check("dlex-sched-dwcs"))
        return EXIT_IMPOSSIBLE;
    const int signals = open_signals();
    int error = signals < 0 ? fail("signals", -errno, NULL) : run(signals);
    dwcs_dispatch_destroy(&dispatch);
    end_commands();
    const int unwritten = line_writer_end(&output, signals); /* when nothing runs any more: the reader may take long */
    if (unwritten && !error)
        error = fail("the results cannot be written", unwritten, NULL);
    return error ? EXIT_IMPOSSIBLE : EXIT_DONE;
}
