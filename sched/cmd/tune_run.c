/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tune_run.h"

#include "commands.h"
#include "ns.h"
#include "switch_ring.h"
#include "user_command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t tick_ns = TUNE_TICK_MS * NS_PER_MS;
/* After a longer delay, as when this program was stopped, the missed ticks are not made up for. */
static const int64_t late_max_ns = NS_PER_S;
/* timeout(1), for one, sends its signal to the process and then to the group. */
static const int64_t same_signal_ns = 300 * NS_PER_MS;
enum { SIGNALS_TO_LEAVE = 2 };
/* init, and the parent of the kernel's threads */
enum { SYSTEM_LAST = 2 };

/* What runs, and what has happened to it. */
struct tune_run {
    const char *program;
    const struct tune_request *request;
    pid_t command;     /* 0: none runs */
    int status;        /* of the command that has ended, as an exit code */
    int process;       /* pidfd of the process to tune; -1: none */
    int ending_signals;
    int last_signal;
    int64_t last_signal_ns;
    sigset_t signals;  /* blocked, and waited for */
    struct tune_session session;
};

/* Too large for the stack. */
static struct tune_run tune;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

/* Reaps the children that have ended: the command, or a guard that somebody has killed. */
static void reap(struct tune_run *run)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == run->command) {
            run->command = 0;
            run->status = user_command_code(status);
        } else if (pid == run->session.holds.guard.pid && tune_holds_guard_ended(&run->session.holds)) {
            run->ending_signals++;
            if (tune_report_has_reader())
                fprintf(stderr, "%s: the process that would undo the reservations was killed and cannot be started again\n",
                        run->program);
        }
    }
}

/*
 * True if the terminal has sent a signal to the command as well. Its keys reach the whole process group, which the command may have
 * left. When it hangs up, only the leader of its session gets SIGHUP.
 */
static bool has_command_got(const struct tune_run *run, const siginfo_t *signal)
{
    return signal->si_code > 0 && signal->si_signo != SIGHUP && getpgid(run->command) == getpgrp();
}

/* Passes a signal on to the command, unless the command has got it already. The same one at once again counts only once. */
static void end_by_signal(struct tune_run *run, const siginfo_t *signal)
{
    const int64_t at_ns = now_ns();
    if (signal->si_signo == run->last_signal && at_ns - run->last_signal_ns < same_signal_ns)
        return;
    run->ending_signals++;
    run->last_signal = signal->si_signo;
    run->last_signal_ns = at_ns;
    if (run->command && !has_command_got(run, signal))
        kill(run->command, signal->si_signo);
}

/* Sleeps until this time, or until a signal has been handled. */
static void wait_until(struct tune_run *run, int64_t until_ns)
{
    siginfo_t signal;
    const int64_t left_ns = until_ns - now_ns();
    const struct timespec timeout = ns_to_timespec(left_ns > 0 ? left_ns : 0);
    const int number = sigtimedwait(&run->signals, &signal, &timeout);
    if (number == SIGCHLD)
        reap(run);
    else if (number > 0)
        end_by_signal(run, &signal);
}

static bool has_ended(const struct tune_run *run)
{
    struct pollfd process = {.fd = run->process, .events = POLLIN};
    if (run->request->command)
        return !run->command;
    return run->process >= 0 && poll(&process, 1, 0) > 0;
}

static void run_ticks(struct tune_run *run)
{
    int64_t begun_ns = now_ns();
    for (int64_t tick = 1; !run->ending_signals && !has_ended(run); tick++) {
        int64_t due_ns = begun_ns + tick * tick_ns;
        if (now_ns() - due_ns > late_max_ns) {
            begun_ns += now_ns() - due_ns;
            due_ns = now_ns();
        }
        do /* once at least, so that signals count also if every tick is late */
            wait_until(run, due_ns);
        while (now_ns() < due_ns && !run->ending_signals && !has_ended(run));
        if (run->ending_signals || has_ended(run) || !tune_session_tick(&run->session, tick, due_ns, now_ns()))
            return;
    }
}

/* Waits for the command. A second signal ends the wait: the command may not want to end. */
static void wait_for_command(struct tune_run *run)
{
    while (run->command && run->ending_signals < SIGNALS_TO_LEAVE)
        wait_until(run, now_ns() + NS_PER_S);
}

/* Undoes what killed runs have left, and prepares for reservations. Without them the session still reports what it would do. */
static void prepare(struct tune_run *run)
{
    int journals;
    struct reservation none = {.error = 0};
    char text[RESERVATION_REASON_SIZE];
    if (run->request->is_dry)
        return;
    if (!thread_policy_is_privileged()) {
        fprintf(stderr, "%s: nothing will be reserved, only shown: %s\n", run->program,
                reservation_reason(RESERVATION_NO_RIGHT, &none, text));
        return;
    }
    undo_journals_repair(&journals);
    const int error = tune_holds_begin(&run->session.holds);
    if (error)
        fprintf(stderr, "%s: nothing will be reserved, only shown: what is reserved could not be recorded for undoing (%s)\n",
                run->program, strerror(-error));
    run->session.is_reserving = !error;
}

/* True if a process has no executable file, as the kernel's threads, and those that have ended. */
static bool is_of_kernel(pid_t process)
{
    char path[32], file;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    return readlink(path, &file, 1) < 0 && errno == ENOENT;
}

/*
 * Returns why a process must not be tuned, or NULL. A thread may end before the others of its process. Their reservations could then
 * not be found under its id.
 */
static const char *not_tunable(pid_t process)
{
    const bool exists = !kill(process, 0) || errno == EPERM;
    if (process <= SYSTEM_LAST)
        return "is the system itself, and all others descend from it; give the process id of a player";
    if (!exists)
        return NULL;
    const pid_t owner = thread_list_process(process);
    if (owner && owner != process)
        return "is only a thread; give the id of the process that it belongs to (Tgid in /proc/ID/status)";
    if (!thread_ref_may_change(process))
        return "belongs to another user; only root may tune it";
    return is_of_kernel(process) ? "is a thread of the kernel, or has ended" : NULL;
}

/* Signals that are ignored, as by nohup(1), stay ignored. Children must be waited for, whatever was inherited. */
static void block_signals(struct tune_run *run, sigset_t *before)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;
    sigemptyset(&run->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!sigaction(numbers[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(&run->signals, numbers[i]);
    signal(SIGCHLD, SIG_DFL);
    sigaddset(&run->signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &run->signals, before);
}

/* Starts the command, or finds the process. Returns 0 with the process to watch, or an exit code after a message. */
static int find_process(struct tune_run *run, const sigset_t *mask, pid_t *process)
{
    char **const command = run->request->command;
    run->process = -1;
    if (!command) {
        *process = run->request->process;
        run->process = (int)syscall(SYS_pidfd_open, *process, 0);
        return 0;
    }
    const int error = user_command_start(command, mask, &run->command);
    if (error)
        fprintf(stderr, "%s: cannot run %s: %s\n", run->program, command[0],
                error == -EPERM ? "its rights cannot be given up" : strerror(-error));
    *process = run->command;
    return !error ? 0 : error == -ENOENT ? COMMAND_NOT_FOUND : COMMAND_NOT_STARTED;
}

/* Watches and tunes until the end. Returns 0, or the error of process_watch_create after a message. */
static int tune_process(struct tune_run *run, pid_t process)
{
    struct process_watch *watch;
    char text[SWITCH_RING_REMEDY_SIZE];
    struct tune_session *const session = &run->session;
    const int error = process_watch_create(&watch, process);
    if (error == -ESRCH && run->request->command) { /* it has ended already */
        tune_report_end(&session->report, NULL, 0, now_ns());
        return error;
    }
    if (error) {
        fprintf(stderr, "%s: cannot watch process %d: %s\n", run->program, (int)process,
                error == -ESRCH ? "there is no such process" : switch_ring_remedy(error, text));
        return error;
    }
    process_watch_family(watch);
    tune_session_init(session, run->request, watch, now_ns());
    run_ticks(run);
    tune_holds_end(&session->holds, watch, now_ns());
    const struct process_watch_gaps gaps = process_watch_gaps(watch);
    if (gaps.unwatched && tune_report_has_reader())
        fprintf(stderr, "%s: %d threads were not watched: %s\n", run->program, gaps.unwatched,
                gaps.error ? switch_ring_remedy(gaps.error, text) : "there are too many");
    process_watch_destroy(&watch);
    wait_for_command(run);
    const bool is_compared = run->request->with_check && session->is_reserving;
    tune_report_end(&session->report, is_compared ? &session->comparison : NULL, gaps.lost_records, now_ns());
    return 0;
}

/* Starts the command or finds the process, tunes it, gives everything back and waits for the command. Returns an exit code. */
static int run_to_end(struct tune_run *run)
{
    sigset_t before;
    pid_t process;
    block_signals(run, &before);
    prepare(run);
    run->session.report.is_dry = !run->session.is_reserving;
    int code = find_process(run, &before, &process);
    signal(SIGPIPE, SIG_IGN); /* after the command has started, which keeps its own */
    if (!code && tune_process(run, process))
        code = EXIT_IMPOSSIBLE;
    tune_holds_end(&run->session.holds, NULL, now_ns());
    wait_for_command(run);
    if (run->command) /* it goes on without us */
        return COMMAND_SIGNALED + run->last_signal;
    return run->request->command && code != COMMAND_NOT_FOUND && code != COMMAND_NOT_STARTED ? run->status : code;
}

int tune_run(const char *program, const struct tune_request *request)
{
    struct tune_run *const run = &tune;
    *run = (struct tune_run){.program = program, .request = request};
    const char *const reason = request->command ? NULL : not_tunable(request->process);
    if (reason) {
        fprintf(stderr, "%s: process %d %s\n", program, (int)request->process, reason);
        return EXIT_IMPOSSIBLE;
    }
    int unwritten = tune_report_begin(&run->session.report, request->record, false, request->is_quiet, now_ns());
    const int code = unwritten ? EXIT_IMPOSSIBLE : run_to_end(run);
    if (!unwritten)
        unwritten = tune_report_close(&run->session.report);
    if (unwritten && tune_report_has_reader())
        fprintf(stderr, "%s: cannot write %s: %s\n", program, request->record, strerror(-unwritten));
    return unwritten && !request->command ? EXIT_IMPOSSIBLE : code;
}
