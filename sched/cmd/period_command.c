/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "ns.h"
#include "option_value.h"
#include "output_paths.h"
#include "own_proc.h"
#include "period_files.h"
#include "period_report.h"
#include "period_syscalls.h"
#include "process_watch.h"
#include "shown_value.h"
#include "standard_output.h"
#include "switch_ring.h"
#include "user_command.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "Usage: dlex-sched period [OPTION ...] --pid=PID\n"
    "       dlex-sched period [OPTION ...] -- COMMAND [ARGUMENT ...]\n"
    "\n"
    "Watches a player and reports at which rate each of its threads works, how regularly, and how much CPU time it uses. The\n"
    "player is not disturbed. Four seconds are enough to distinguish 23.976 from 24 pictures per second. A command is watched\n"
    "from one second after its start on, with the programs that it starts.\n"
    "\n"
    "  --pid=PID     the player's process id\n"
    "  --seconds=S   how long to watch, 0.2 to 8 s; default 4\n"
    "  --paper       also show what the paper's own detector finds in the jobs of all threads together\n"
    "  --json        print one JSON object\n"
    "  --plot=FILE   draw the spectra of the threads' jobs (SVG)\n"
    "  --record=FILE write the jobs of all threads to FILE (CSV)\n"
    "  --events=WHAT jobs (default), or syscalls: the paper's events, the entries and exits of system calls, and the paper's\n"
    "                detector; needs root\n"
    "\n"
    "Exit status: that of the command, 126 or 127 if it cannot be run; otherwise 0 reported, 1 wrong option, 2 the program\n"
    "cannot be watched.\n";

static const int64_t poll_ns = 100 * NS_PER_MS;
/* period_detect uses 8 s; the paper tried 0.2 s. */
static const double seconds_min = 0.2, seconds_max = 8;

static const int64_t starting_ns = NS_PER_S;

struct request {
    pid_t process;
    char **command; /* NULL: the process */
    double seconds;
    bool with_paper;
    bool as_json;
    bool is_of_syscalls;
    const char *plot;   /* paths; NULL: none */
    const char *record;
    struct period_files files;
};

/* Too large for the stack. */
static struct observation observation;

/* Takes over an option other than --help. Returns the name of the option if its value is none, or NULL. */
static const char *set_option(struct request *request, int option, const char *value)
{
    switch (option) {
    case 'p': return option_process(value, &request->process) ? NULL : "pid";
    case 's': return option_number(value, seconds_min, seconds_max, &request->seconds) ? NULL : "seconds";
    case 'e':
        request->is_of_syscalls = !strcmp(value, "syscalls");
        return request->is_of_syscalls || !strcmp(value, "jobs") ? NULL : "events";
    case 'l': request->plot = value; break;
    case 'r': request->record = value; break;
    case 'P': request->with_paper = true; break;
    case 'j': request->as_json = true; break;
    }
    return NULL;
}

/* Returns EXIT_DONE with a request, or with neither process nor command if the help was asked for; otherwise EXIT_USAGE. */
static int parse_arguments(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"pid", required_argument, NULL, 'p'}, {"seconds", required_argument, NULL, 's'},
        {"paper", no_argument, NULL, 'P'}, {"json", no_argument, NULL, 'j'}, {"plot", required_argument, NULL, 'l'},
        {"record", required_argument, NULL, 'r'}, {"events", required_argument, NULL, 'e'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *request = (struct request){.seconds = 4};
    shown_option_names(argv, true);
    for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            request->process = 0;
            return EXIT_DONE;
        }
        const char *const wrong = option == '?' ? NULL : set_option(request, option, optarg);
        if (wrong)
            option_report_wrong(argv[0], wrong, optarg);
        if (option == '?' || wrong)
            return EXIT_USAGE;
    }
    request->command = optind < argc ? &argv[optind] : NULL;
    if (!request->process != !request->command)
        return EXIT_DONE;
    fputs(help, stderr);
    return EXIT_USAGE;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

/* Watches from from_ns on for this time, or until the process has ended. */
static void observe(struct process_watch *watch, int64_t from_ns, double seconds)
{
    const int64_t until_ns = from_ns + (int64_t)(seconds * (double)NS_PER_S);
    const struct timespec pause = ns_to_timespec(poll_ns);
    while (now_ns() < until_ns && process_watch_poll(watch) > 0)
        nanosleep(&pause, NULL);
    process_watch_poll(watch);
    const int64_t observed_ns = now_ns() - from_ns;
    observation.observed_ns = observed_ns > 0 ? observed_ns : poll_ns; /* it has ended before */
    observation.count = process_watch_threads(watch, from_ns, observation.threads, WATCHED_THREADS_MAX);
}

static int report_syscalls(const char *program, const struct request *request, pid_t process)
{
    const struct syscalls_request wanted = {
        .process = process,
        .with_family = request->command,
        .waits_ns = request->command ? starting_ns : 0,
        .lasts_ns = (int64_t)(request->seconds * (double)NS_PER_S),
        .as_json = request->as_json,
        .files = &request->files,
    };
    return period_syscalls(program, &wanted);
}

/* Watches a process and reports. Returns an exit code. */
static int report_jobs(const char *program, const struct request *request, pid_t process)
{
    struct process_watch *watch;
    int error = process_watch_create(&watch, process);
    if (error) {
        char text[SWITCH_RING_REMEDY_SIZE];
        fprintf(stderr, "%s: cannot watch process %d: %s\n", program, (int)process,
                error == -ESRCH ? "there is no such process" : switch_ring_remedy(error, text));
        return EXIT_IMPOSSIBLE;
    }
    if (request->command)
        process_watch_family(watch);
    const int64_t from_ns = now_ns() + (request->command ? starting_ns : 0);
    observe(watch, from_ns, request->seconds);
    error = period_vote(&observation.rate, observation.threads, observation.count, observation.observed_ns, &observation.work);
    if (!error && request->as_json)
        period_report_json(&observation, watch, request->with_paper);
    else if (!error)
        period_report_text(&observation, watch, request->with_paper);
    standard_output_flush();
    if (!error)
        period_files_write_jobs(&request->files, &observation, watch, from_ns);
    process_watch_destroy(&watch);
    return error ? EXIT_IMPOSSIBLE : EXIT_DONE;
}

static int report(const char *program, const struct request *request, pid_t process)
{
    return request->is_of_syscalls ? report_syscalls(program, request, process) : report_jobs(program, request, process);
}

/* Starts the command, watches it and waits for it. Returns an exit code. */
static int report_command(const char *program, const struct request *request)
{
    pid_t process;
    sigset_t mask;
    int status;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    const int error = user_command_start(request->command, &mask, &process);
    if (error) {
        fprintf(stderr, "%s: cannot run %s: %s\n", program, request->command[0], strerror(-error));
        return error == -ENOENT ? COMMAND_NOT_FOUND : COMMAND_NOT_STARTED;
    }
    report(program, request, process);
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return EXIT_IMPOSSIBLE;
    return user_command_code(status);
}

/* Returns whether no file that the command may read, and no other output, would be overwritten. */
static bool check_paths(const char *program, const struct request *request)
{
    struct stat facts;
    const bool prints_to_file = !fstat(STDOUT_FILENO, &facts) && S_ISREG(facts.st_mode);
    const struct named_path plot = {"--plot", request->plot}, record = {"--record", request->record};
    const struct named_path outputs[] = {plot, record, {"standard output", prints_to_file ? "-" : NULL}, {NULL, NULL}};
    return output_paths_check(program, outputs, &outputs[3]) && output_paths_check_command(program, plot, request->command) &&
           output_paths_check_command(program, record, request->command);
}

int period_command(int argc, char **argv)
{
    struct request request;
    const int parsed = parse_arguments(&request, argc, argv);
    if (parsed != EXIT_DONE || (!request.process && !request.command))
        return parsed;
    if (!check_paths(argv[0], &request))
        return EXIT_USAGE;
    if (!own_proc_check(argv[0]))
        return EXIT_IMPOSSIBLE;
    int code = EXIT_IMPOSSIBLE;
    if (period_files_open(&request.files, argv[0], request.plot, request.record))
        code = request.command ? report_command(argv[0], &request) : report(argv[0], &request, request.process);
    return period_files_close(&request.files, argv[0]) || request.command ? code : EXIT_IMPOSSIBLE;
}
