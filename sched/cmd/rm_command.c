/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "doctor_checks.h"
#include "ns.h"
#include "own_proc.h"
#include "rate_text.h"
#include "rm_registry.h"
#include "rt_limit.h"
#include "rt_limit_watch.h"
#include "scheduling_right.h"
#include "shown_value.h"
#include "user_command.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: dlex-sched rm run --rate=HZ [--guaranteed --cost=MS | --statistical [--cost=MS]] -- COMMAND [ARGUMENT ...]\n"
    "       dlex-sched rm list\n"
    "\n"
    "run: runs a program under a fixed priority (SCHED_FIFO) by its rate: of all programs run this way, a higher rate has a\n"
    "higher priority. Others get another priority only if there is no free one between them.\n"
    "list: shows these programs. With sudo, run and list have a list of their own.\n"
    "\n"
    "  --rate=HZ        how often the program works, above 0.1 to 1000, such as 25 or 24000/1001 for a film\n"
    "  --guaranteed     refuse the program if it, or another guaranteed program, could miss a deadline\n"
    "  --statistical    no promise for single deadlines; a lower priority than all guaranteed programs (default)\n"
    "  --cost=MS        CPU time in each period: with --guaranteed the longest, otherwise the mean\n"
    "\n"
    "Exit status: that of the command; 126 or 127 if it cannot be run; 1 wrong option, 2 refused or not allowed.\n";

struct rm_request {
    enum rm_class kind;
    double hz;
    double cost_ms; /* 0: not known */
    char **command;
};

static bool parse_number(const char *text, double above, double most, double *number)
{
    char *rest;
    *number = strtod(text, &rest);
    return rest != text && !*rest && *number > above && *number <= most;
}

/* Returns the name of the option if its value is none, or NULL. */
static const char *set_option(struct rm_request *request, int option, const char *value)
{
    switch (option) {
    case 'r': return rate_text_parse(value, &request->hz) && request->hz > 0.1 && request->hz <= 1000 ? NULL : "rate";
    case 'c': return parse_number(value, 0, 10000, &request->cost_ms) ? NULL : "cost";
    case 'g': request->kind = RM_GUARANTEED; break;
    case 's': request->kind = RM_STATISTICAL; break;
    }
    return NULL;
}

/* Returns what is missing or does not fit, or NULL. */
static const char *wrong_with(const struct rm_request *request)
{
    if (!(request->hz > 0))
        return "--rate is missing";
    if (!request->command)
        return "a command is missing";
    if (request->kind == RM_GUARANTEED && !(request->cost_ms > 0))
        return "--guaranteed needs --cost, the longest CPU time";
    return request->cost_ms * request->hz > 1000 ? "--cost is more than the time between two jobs at this rate" : NULL;
}

/* Returns EXIT_DONE with a request, or without a command if the help was asked for; otherwise EXIT_USAGE. */
static int parse_run(struct rm_request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"rate", required_argument, NULL, 'r'}, {"cost", required_argument, NULL, 'c'}, {"guaranteed", no_argument, NULL, 'g'},
        {"statistical", no_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
    };
    *request = (struct rm_request){.kind = RM_STATISTICAL};
    shown_option_names(argv, true);
    for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        const char *const wrong = option == '?' ? NULL : set_option(request, option, optarg);
        if (wrong)
            fprintf(stderr, "%s: --%s=%s is out of range; see --help\n", argv[0], wrong, shown_value(optarg));
        if (option == '?' || wrong)
            return EXIT_USAGE;
    }
    request->command = optind < argc ? &argv[optind] : NULL;
    const char *const wrong = wrong_with(request);
    if (wrong)
        fprintf(stderr, "%s: %s; see --help\n", argv[0], wrong);
    return wrong ? EXIT_USAGE : EXIT_DONE;
}

static struct rm_task task_of(const struct rm_request *request)
{
    const int64_t period_ns = (int64_t)((double)NS_PER_S / request->hz + 0.5);
    const int64_t cost_ns = (int64_t)(request->cost_ms * (double)NS_PER_MS);
    return (struct rm_task){
        .kind = request->kind,
        .period_ns = period_ns,
        .deadline_ns = period_ns,
        .cost_max_ns = request->kind == RM_GUARANTEED ? cost_ns : 0,
        .cost_mean_ns = cost_ns ? cost_ns : 1, /* an unknown cost does not count */
    };
}

/* Tries the highest priority. A child does: this process may have a policy that it must keep. Returns 0 or a negative errno. */
static int try_priority(void)
{
    const struct thread_policy wanted = {.kind = THREAD_FIFO, .priority = rm_band_guaranteed.highest};
    return doctor_try_policy(&wanted);
}

/* Returns EXIT_DONE if an ordinary priority has to do, or EXIT_IMPOSSIBLE. */
static int explain_no_priority(const char *program, enum rm_class kind, int error)
{
    char text[SCHEDULING_REMEDY_SIZE];
    const bool goes_on = kind == RM_STATISTICAL;
    fprintf(stderr, "%s: no fixed priority%s: %s\n", program, goes_on ? ", so the command runs under an ordinary one" : "",
            fixed_priority_remedy(error, text));
    return goes_on ? EXIT_DONE : EXIT_IMPOSSIBLE;
}

static void explain_refusal(const char *program, int error, const struct rm_joined *joined)
{
    if (error == -EBUSY && joined->by == RESPONSE_TOO_LATE)
        fprintf(stderr, "%s: refused: %s (process %d) could take %.1f ms or more, and has %.1f ms\n", program, joined->late.name,
                (int)joined->late.process, ns_to_ms(joined->late_response_ns), ns_to_ms(joined->late_deadline_ns));
    else if (error == -EBUSY)
        fprintf(stderr, "%s: refused: all programs together would need more than a whole CPU; `dlex-sched rm list` shows them\n",
                program);
    else if (error == -ENOSPC)
        fprintf(stderr, "%s: refused: there are %d such programs already\n", program, RM_MEMBERS_MAX);
    else
        fprintf(stderr, "%s: the list of programs cannot be changed: %s\n", program, strerror(-error));
}

/* Returns the last part of a path. */
static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Sets the priority of this process, until it is the one that the registry has. Returns 0 or a negative errno. */
static int set_priority(int *level)
{
    for (int set = 0; set != *level;) {
        const struct sched_param wanted = {.sched_priority = *level};
        if (sched_setscheduler(0, SCHED_FIFO, &wanted))
            return -errno;
        set = *level;
        const int now = rm_registry_level();
        *level = now > 0 ? now : set;
    }
    return 0;
}

/*
 * Lifts a limit that this process has inherited. Returns EXIT_DONE, or if it stays and the command would be killed for it: EXIT_IMPOSSIBLE
 * after a message.
 */
static int lift_own_limit(const char *program, const struct rm_request *request)
{
    char text[RT_LIMIT_TEXT_SIZE];
    int64_t limit_us;
    const enum rt_limit found = rt_limit_lift(0, &limit_us);
    if (found != RT_LIMIT_NONE)
        fprintf(stderr, "%s: %s%s\n", program, rt_limit_text(found, getpid(), base_name(request->command[0]), limit_us, text),
                found == RT_LIMIT_LIFTED ? "" : request->kind == RM_STATISTICAL ? ", so the command runs under an ordinary one" : ": refused");
    return found == RT_LIMIT_STAYS ? EXIT_IMPOSSIBLE : EXIT_DONE;
}

static void watch_limits(const char *program)
{
    const int error = rt_limit_watch(program);
    if (error)
        fprintf(stderr, "%s: limits of real-time CPU time that the command sets are not lifted: %s\n", program, strerror(-error));
}

/*
 * Joins and gets the priority. Returns EXIT_DONE, also if an ordinary priority has to do, or EXIT_IMPOSSIBLE after a message.
 */
static int join(const char *program, const struct rm_request *request)
{
    const struct rm_task task = task_of(request);
    struct rm_joined joined;
    int error = try_priority();
    if (error)
        return explain_no_priority(program, request->kind, error);
    if (lift_own_limit(program, request))
        return request->kind == RM_STATISTICAL ? EXIT_DONE : EXIT_IMPOSSIBLE;
    error = rm_registry_join(&task, base_name(request->command[0]), &joined);
    if (error) {
        explain_refusal(program, error, &joined);
        return EXIT_IMPOSSIBLE;
    }
    watch_limits(program);
    error = set_priority(&joined.level);
    if (error) {
        fprintf(stderr, "%s: the priority %d cannot be set: %s\n", program, joined.level, strerror(-error));
        return EXIT_IMPOSSIBLE;
    }
    fprintf(stderr, "%s: priority %d%s\n", program, joined.level,
            joined.has_merged ? ", shared with another rate, because all priorities are in use" : "");
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct rm_request request;
    const int parsed = parse_run(&request, argc, argv);
    if (parsed != EXIT_DONE || !request.command)
        return parsed;
    if (!own_proc_check(argv[0]))
        return EXIT_IMPOSSIBLE;
    const int joined = join(argv[0], &request);
    if (joined != EXIT_DONE)
        return joined;
    const int error = user_command_become(request.command);
    fprintf(stderr, "%s: cannot run %s: %s\n", argv[0], request.command[0],
            error == -EPERM ? "its rights cannot be given up" : strerror(-error));
    return error == -ENOENT ? COMMAND_NOT_FOUND : COMMAND_NOT_STARTED;
}

static void print_member(const struct rm_member *member, const struct rm_task *task)
{
    const int64_t cost_ns = task->kind == RM_GUARANTEED ? task->cost_max_ns : task->cost_mean_ns;
    printf("%8d  %-12s%10.3f", task->level, task->kind == RM_GUARANTEED ? "guaranteed" : "statistical",
           (double)NS_PER_S / (double)task->period_ns);
    if (cost_ns > 1)
        printf("%10.2f", ns_to_ms(cost_ns));
    else
        printf("%10s", "?");
    printf("  %8d  %s\n", (int)member->process, member->name);
}

static int list(const char *program)
{
    struct rm_registry registry;
    if (!own_proc_check(program))
        return EXIT_IMPOSSIBLE;
    const int error = rm_registry_read(&registry);
    if (error) {
        fprintf(stderr, "%s: the list cannot be read: %s\n", program, strerror(-error));
        return EXIT_IMPOSSIBLE;
    }
    if (!registry.count) {
        puts("No program of this user runs under rate-monotonic priorities.");
        return EXIT_DONE;
    }
    printf("%8s  %-12s%10s%10s  %8s  %s\n", "priority", "class", "rate, Hz", "cost, ms", "process", "name");
    for (int level = RM_LEVEL_MAX; level > 0; level--)
        for (int i = 0; i < registry.count; i++)
            if (registry.tasks[i].level == level)
                print_member(&registry.members[i], &registry.tasks[i]);
    return EXIT_DONE;
}

int rm_command(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "run")) {
        argv[1] = argv[0];
        return run(argc - 1, argv + 1);
    }
    if (!strcmp(what, "list") && argc == 2)
        return list(argv[0]);
    const bool is_help = !strcmp(what, "--help");
    fputs(help, is_help ? stdout : stderr);
    return is_help ? EXIT_DONE : EXIT_USAGE;
}
