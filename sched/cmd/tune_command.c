/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "budget_sum.h"
#include "ns.h"
#include "option_value.h"
#include "output_paths.h"
#include "own_proc.h"
#include "shown_value.h"
#include "tune_run.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: dlex-sched tune [OPTION ...] -- COMMAND [ARGUMENT ...]\n"
    "       dlex-sched tune [OPTION ...] --pid=PID\n"
    "\n"
    "Finds out at which rate a player works and how much CPU time it needs, reserves that for the threads that decode and\n"
    "present pictures, follows what they need, and gives everything back at the end. The player need not be changed. Reserving\n"
    "needs root or CAP_SYS_NICE; the command itself runs as the user who calls, without any of these rights.\n"
    "\n"
    "  --pid=PID        tune a player that runs already, and the programs that it has started\n"
    "  --dry-run        reserve nothing; show what would be reserved\n"
    "  --limit=PERCENT  the most that all reservations together may have of one CPU; default 60\n"
    "  --check          switch the reservations off and on every 5 s, and report at the end whether they helped\n"
    "  --rule=RULE      how budgets follow the use: percentile (default), max or lfsg (the feedback of the paper)\n"
    "  --period=MS      reserve with this period instead of each thread's own, as the paper does to compare them; with\n"
    "                   --rule=lfsg only\n"
    "  --strict         let no thread use more than its budget, even if the CPU is idle\n"
    "  --record=FILE    write a row a second to FILE (CSV)\n"
    "  --quiet          report only at the end\n"
    "\n"
    "Exit status: that of the command, 126 or 127 if it cannot be run; with --pid 0; 1 wrong option, 2 the process cannot be\n"
    "watched. After `kill -9` of dlex-sched a second process gives everything back; `dlex-sched repair` does if both are killed.\n";

enum { LIMIT_LEAST = 1, PERIOD_LEAST_MS = 1, PERIOD_MOST_MS = 1000 };

/* The kernel admits 95 % of each CPU. */
static double limit_most(void)
{
    return 95.0 * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static bool set_rule(struct tune_request *request, const char *value)
{
    static const struct {
        const char *name;
        enum budget_rule rule;
    } rules[] = {{"percentile", BUDGET_PERCENTILE}, {"max", BUDGET_MAX}, {"lfsg", BUDGET_LFSG}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!strcmp(value, rules[i].name)) {
            request->rule = rules[i].rule;
            return true;
        }
    return false;
}

/* Takes over an option. Returns the name of the option if its value is none, or NULL. */
static const char *set_option(struct tune_request *request, int option, const char *value)
{
    double number;
    switch (option) {
    case 'p': return option_process(value, &request->process) ? NULL : "pid";
    case 'l':
        if (!option_number(value, LIMIT_LEAST, limit_most(), &number))
            return "limit";
        request->limit = number / 100;
        break;
    case 'r':
        if (!set_rule(request, value))
            return "rule";
        break;
    case 't':
        if (!option_number(value, PERIOD_LEAST_MS, PERIOD_MOST_MS, &number))
            return "period";
        request->period_ns = (int64_t)(number * (double)NS_PER_MS);
        break;
    case 'o': request->record = value; break;
    case 'n': request->is_dry = true; break;
    case 'c': request->with_check = true; break;
    case 'q': request->is_quiet = true; break;
    case 's': request->is_strict = true; break;
    }
    return NULL;
}

/* Returns what is missing or does not fit, or NULL. */
static const char *wrong_with(const struct tune_request *request)
{
    if (request->process && request->command)
        return "either --pid or a command, not both";
    if (!request->process && !request->command)
        return "a command or --pid is missing";
    if (request->is_dry && request->with_check)
        return "--check needs reservations, and --dry-run makes none";
    return request->period_ns && request->rule != BUDGET_LFSG ? "--period needs --rule=lfsg" : NULL;
}

/* Returns EXIT_DONE with a request; with neither a process nor a command if the help was asked for; otherwise EXIT_USAGE. */
static int parse_arguments(struct tune_request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"pid", required_argument, NULL, 'p'}, {"dry-run", no_argument, NULL, 'n'}, {"limit", required_argument, NULL, 'l'},
        {"check", no_argument, NULL, 'c'}, {"rule", required_argument, NULL, 'r'}, {"record", required_argument, NULL, 'o'},
        {"period", required_argument, NULL, 't'}, {"quiet", no_argument, NULL, 'q'}, {"strict", no_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
    };
    *request = (struct tune_request){.limit = budget_sum_default, .rule = BUDGET_PERCENTILE};
    /* +: the options of the command are its own */
    shown_option_names(argv, true);
    for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            *request = (struct tune_request){.process = 0};
            return EXIT_DONE;
        }
        const char *const wrong = option == '?' ? NULL : set_option(request, option, optarg);
        if (wrong)
            option_report_wrong(argv[0], wrong, optarg);
        if (option == '?' || wrong)
            return EXIT_USAGE;
    }
    request->command = optind < argc ? &argv[optind] : NULL;
    const char *const wrong = wrong_with(request);
    if (wrong)
        fprintf(stderr, "%s: %s; see --help\n", argv[0], wrong);
    return wrong ? EXIT_USAGE : EXIT_DONE;
}

int tune_command(int argc, char **argv)
{
    struct tune_request request;
    const int parsed = parse_arguments(&request, argc, argv);
    if (parsed != EXIT_DONE || (!request.process && !request.command))
        return parsed;
    if (!output_paths_check_command(argv[0], (struct named_path){"--record", request.record}, request.command))
        return EXIT_USAGE;
    if (!own_proc_check(argv[0]))
        return EXIT_IMPOSSIBLE;
    return tune_run(argv[0], &request);
}
