/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "ns.h"
#include "period_paper.h"
#include "process_watch.h"
#include "switch_ring.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Usage: dlex-sched period --pid=PID [--seconds=S] [--paper]\n"
    "\n"
    "Watches a player and says at which rate each of its threads works, how regularly, and how much CPU time it uses. The\n"
    "player goes on undisturbed. Four seconds tell 23.976 from 24 pictures per second.\n"
    "\n"
    "  --pid=PID     the player's process id\n"
    "  --seconds=S   how long to watch, 0.2 to 8 s; default 4\n"
    "  --paper       show also what the detector of the paper behind it finds, in the jobs of all threads together\n"
    "\n"
    "Exit status: 0 reported, 1 wrong option, 2 the program cannot be watched.\n";

static const int64_t poll_ns = 100 * NS_PER_MS;
/* period_detect uses 8 s; the paper tried 0.2 s. */
static const double seconds_min = 0.2, seconds_max = 8;

struct request {
    pid_t process;
    double seconds;
    bool with_paper;
};

/* What was found, too large for the stack. */
static struct observation {
    struct period_thread threads[WATCHED_THREADS_MAX];
    struct period_work work;
    struct picture_rate rate;
    int count;
    int64_t observed_ns;
} observation;

static bool parse_number(const char *text, double least, double most, double *number)
{
    char *rest;
    *number = strtod(text, &rest);
    return rest != text && !*rest && *number >= least && *number <= most;
}

/* Takes over an option other than --help. Returns false, with a message, if its value is none. */
static bool set_option(struct request *request, const char *program, int option, const char *value)
{
    if (option == 'P') {
        request->with_paper = true;
        return true;
    }
    const bool is_pid = option == 'p';
    double number;
    if (!parse_number(value, is_pid ? 1 : seconds_min, is_pid ? 1 << 30 : seconds_max, &number)) {
        fprintf(stderr, "%s: --%s=%s is out of range\n", program, is_pid ? "pid" : "seconds", value);
        return false;
    }
    if (is_pid)
        request->process = (pid_t)number;
    else
        request->seconds = number;
    return true;
}

/* Returns EXIT_DONE with a request, or with process 0 if the help was asked for; otherwise EXIT_USAGE. */
static int parse_arguments(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"pid", required_argument, NULL, 'p'}, {"seconds", required_argument, NULL, 's'},
        {"paper", no_argument, NULL, 'P'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *request = (struct request){.seconds = 4};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            request->process = 0;
            return EXIT_DONE;
        }
        if (option == '?' || !set_option(request, argv[0], option, optarg))
            return EXIT_USAGE;
    }
    if (request->process && optind == argc)
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

/* Watches for this time, or until the process has ended. */
static void observe(struct process_watch *watch, double seconds)
{
    const int64_t begun_ns = now_ns();
    const int64_t until_ns = begun_ns + (int64_t)(seconds * (double)NS_PER_S);
    const struct timespec pause = ns_to_timespec(poll_ns);
    while (now_ns() < until_ns && process_watch_poll(watch) > 0)
        nanosleep(&pause, NULL);
    process_watch_poll(watch);
    observation.observed_ns = now_ns() - begun_ns;
    observation.count = process_watch_threads(watch, INT64_MIN, observation.threads, WATCHED_THREADS_MAX);
}

static void print_rate(void)
{
    const struct picture_rate *const rate = &observation.rate;
    if (rate->verdict == PERIOD_UNKNOWN)
        printf("Too few jobs in %.1f s to find a rate. If the player is paused, let it play.\n", ns_to_s(observation.observed_ns));
    else if (rate->verdict == PERIOD_NONE)
        puts("Not periodic: no thread works at a steady rate.");
    else if (rate->standard.numerator)
        printf("%.5g pictures per second (measured %.4f +/- %.4f), by %d of %d threads\n", standard_rate_hz(rate->standard),
               rate->hz, rate->sd_hz, rate->threads, observation.count);
    else
        printf("%.4f per second (+/- %.4f), by %d of %d threads\n", rate->hz, rate->sd_hz, rate->threads, observation.count);
}

static void print_thread(const struct process_watch *watch, int number)
{
    const struct period_thread *const thread = &observation.threads[number];
    const struct period *const found = &thread->found;
    printf("%8d  %-16s%7.2f %%", (int)process_watch_id(watch, number), process_watch_name(watch, number), 100 * found->cpu_share);
    if (thread->hz > 0)
        printf("%11.3f", thread->hz);
    else
        printf("%11s", found->verdict == PERIOD_NONE ? "none" : "?");
    if (thread->part)
        printf("   1/%-4d", thread->part);
    else
        printf("%9s", "");
    if (thread->hz > 0)
        printf("%9.3f", found->cpu_share / thread->hz * 1e3);
    if (found->rates)
        printf("%8.2f", found->rate[0].regularity);
    putchar('\n');
}

static void print_threads(const struct process_watch *watch)
{
    printf("\n%8s  %-16s%9s%11s   part  %9s%8s\n", "thread", "name", "CPU", "rate, Hz", "ms a job", "regular");
    for (int i = 0; i < observation.count; i++)
        print_thread(watch, i);
    puts("\npart: of the picture rate; 1/3 is one thread in three of a decoder. regular: 1 if all jobs begin at the same phase.");
}

/* The paper watches one process as a whole: all threads' jobs are one series of events. */
static void print_paper(void)
{
    static const char *const reasons[] = {
        [PAPER_NOT_PERIODIC] = "no candidate", [PAPER_FEW] = "the largest of few candidates",
        [PAPER_REGRESSION] = "by regression", [PAPER_LARGEST] = "the largest candidate",
    };
    struct period_paper found;
    int64_t count = 0, taken = 0;
    for (int i = 0; i < observation.count; i++)
        count += observation.threads[i].count;
    int64_t *const times_ns = malloc((size_t)count * sizeof *times_ns + 1);
    for (int i = 0; times_ns && i < observation.count; i++)
        for (int64_t k = 0; k < observation.threads[i].count; k++)
            times_ns[taken++] = observation.threads[i].events[k].time_ns;
    if (taken && !period_paper_detect(&found, &period_paper_defaults, times_ns, taken, &observation.work.spectrum))
        printf("The paper's detector: %.0f Hz (%s; 0: not periodic)\n", found.hz, reasons[found.step]);
    free(times_ns);
}

static void print_gaps(const struct process_watch *watch)
{
    const struct process_watch_gaps gaps = process_watch_gaps(watch);
    char text[SWITCH_RING_REMEDY_SIZE];
    if (gaps.lost_records)
        printf("%lld context switches were lost; the figures are less certain.\n", (long long)gaps.lost_records);
    if (gaps.unwatched)
        printf("%d threads are missing: %s.\n", gaps.unwatched,
               gaps.error ? switch_ring_remedy(gaps.error, text) : "there are too many");
}

int period_command(int argc, char **argv)
{
    struct request request;
    const int parsed = parse_arguments(&request, argc, argv);
    if (parsed != EXIT_DONE || !request.process)
        return parsed;
    struct process_watch *watch;
    int error = process_watch_create(&watch, request.process);
    if (error) {
        char text[SWITCH_RING_REMEDY_SIZE];
        fprintf(stderr, "%s: cannot watch process %d: %s\n", argv[0], (int)request.process,
                error == -ESRCH ? "there is no such process" : switch_ring_remedy(error, text));
        return EXIT_IMPOSSIBLE;
    }
    observe(watch, request.seconds);
    error = period_vote(&observation.rate, observation.threads, observation.count, observation.observed_ns, &observation.work);
    if (!error) {
        print_rate();
        print_threads(watch);
        if (request.with_paper)
            print_paper();
        print_gaps(watch);
    }
    process_watch_destroy(&watch);
    return error ? EXIT_IMPOSSIBLE : EXIT_DONE;
}
