/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-bench-libdlex: measures what libdlex costs and how soon it reacts, against what the kernel
 * offers.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost.h"
#include "figure_report.h"
#include "guard_cost.h"
#include "output_paths.h"
#include "response.h"
#include "shown_value.h"
#include "standard_output.h"

enum { EXIT_USAGE = 1, EXIT_FAILED = 2 };

struct options {
    const char *json;
    bool quick;
    long rounds;  /* of each cost */
    long samples; /* of each side of a response, in each of RESPONSE_ROUNDS */
    long aborts;  /* the aborts among which early ones are counted */
};

enum { RESPONSE_ROUNDS = 30 };

static const struct options full = {.rounds = 200, .samples = 200, .aborts = 100000};
static const struct options quick = {.rounds = 50, .samples = 40, .aborts = 10000, .quick = true};

static const char help[] =
    "Usage: dlex-bench-libdlex [OPTION ...]\n"
    "Measures what the constructs of libdlex cost, and how soon a handler runs after a violation.\n"
    "Measures the kernel's own mechanism in turns with each, and compares the results with the\n"
    "goals. Takes about one minute; the machine should be otherwise idle.\n"
    "  --json=FILE    all figures and rounds\n"
    "  --quick        about 15 s, with less certain figures, and early violations counted in 10^4\n"
    "                 and not in 10^5\n"
    "  --rounds=N     rounds of each cost (default 200, at most 1000)\n"
    "  --samples=N    samples of each side of a latency, in each of 30 rounds (default 200)\n"
    "  --aborts=N     aborts that are checked for early violations (default 100000)\n"
    "  --help\n";

static int parse_count(const char *name, const char *text, long most, long *count)
{
    char *end;
    *count = strtol(text, &end, 10);
    if (end != text && !*end && *count >= 1 && *count <= most)
        return 0;
    fprintf(stderr, "dlex-bench-libdlex: --%s=%s is not a number from 1 to %ld; see --help\n", name,
            shown_value(text), most);
    return -1;
}

/*
 * Returns 0, 1 when help is wanted, or -1 after printing one sentence. Options not given stay zero.
 */
static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"json", required_argument, NULL, 'j'},    {"quick", no_argument, NULL, 'q'},
        {"rounds", required_argument, NULL, 'r'},  {"samples", required_argument, NULL, 's'},
        {"aborts", required_argument, NULL, 'a'},  {"help", no_argument, NULL, 'h'},
        {0},
    };
    int name, failed = 0;
    opterr = 0;
    shown_option_names(argv, false);
    while (!failed && (name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (name) {
        case 'j': options->json = optarg; break;
        case 'q': options->quick = true; break;
        case 'r': failed = parse_count("rounds", optarg, ROUNDS_MOST, &options->rounds); break;
        case 's': failed = parse_count("samples", optarg, 100000, &options->samples); break;
        case 'a': failed = parse_count("aborts", optarg, 100000000, &options->aborts); break;
        case 'h': return 1;
        default:
            fprintf(stderr, "dlex-bench-libdlex: %s is unknown or has no value; see --help\n",
                    shown_value(argv[optind - 1]));
            return -1;
        }
    }
    if (failed || optind == argc)
        return failed;
    fprintf(stderr, "dlex-bench-libdlex: %s is not an option; see --help\n", shown_value(argv[optind]));
    return -1;
}

static void fill_in(struct options *options)
{
    const struct options *standard = options->quick ? &quick : &full;
    if (!options->rounds)
        options->rounds = standard->rounds;
    if (!options->samples)
        options->samples = standard->samples;
    if (!options->aborts)
        options->aborts = standard->aborts;
}

/* Shows progress on a terminal; prints nothing to a file. */
static void tell(const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s", what);
}

static void measure(struct figures *figures, const struct options *options)
{
    tell("measuring costs ...");
    cost_measure(figures, options->rounds);
    tell("measuring latencies ...");
    response_measure(figures, RESPONSE_ROUNDS, options->samples);
    tell("counting early violations ...");
    response_count_early(figures, options->aborts);
    tell("measuring the guard ...");
    guard_cost_measure(figures, options->rounds);
    tell("");
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-bench-libdlex", EXIT_FAILED);
    struct options options = {0};
    const int parsed = parse_options(&options, argc, argv);
    if (parsed > 0)
        fputs(help, stdout);
    if (parsed)
        return parsed < 0 ? EXIT_USAGE : EXIT_SUCCESS;
    if (!output_paths_try("dlex-bench-libdlex", options.json))
        return EXIT_FAILED;
    fill_in(&options);
    struct host host;
    host_read(&host); /* before this program itself causes load */
    static struct figures figures;
    measure(&figures, &options);
    const struct figure_report report = {
        .figures = &figures,
        .host = &host,
        .quick = options.quick,
        .rounds = options.rounds,
    };
    figure_report_print(&report);
    const int ret = options.json ? figure_report_write_json(&report, options.json) : 0;
    if (ret < 0)
        fprintf(stderr, "dlex-bench-libdlex: %s cannot be written: %s; name another file\n",
                options.json, strerror(-ret));
    figures_finish(&figures);
    return ret < 0 ? EXIT_FAILED : EXIT_SUCCESS;
}
