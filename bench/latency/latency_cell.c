/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-bench-cell: runs one policy and one kind of constraint of the latency experiment, under the
 * load that is present. It violates a constraint of each duration given, in the order given, and
 * prints how late the violations were. The driver is bench/dlex_bench/latency/.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <dlex/dlex.h>

#include "latency_policy.h"
#include "raw_timer.h"
#include "shown_value.h"
#include "standard_output.h"

enum { EXIT_USAGE = 1, EXIT_FAILED = 2, EXIT_REFUSED = 3 };

/*
 * The kernel's own timer is measured after each sample, for a time short enough to cost the
 * experiment little.
 */
enum { RAW_MOST_NS = 2000000, WARM_UP_NS = 1000000 };

struct options {
    const char *policy;
    const char *kind;
    bool probe;
    char **durations;
    int duration_count;
};

struct sample {
    int64_t duration_ns;
    int64_t caught_ns;  /* after the violation, in the handler of the block */
    int64_t noticed_ns; /* after the violation, in the signal handler: what the seed measured */
    int64_t raw_ns;     /* the raw timer's handler after its expiry */
};

static const char help[] =
    "Usage: dlex-bench-cell --policy=other|fifo|deadline --kind=deadline|wcet DURATION_US ...\n"
    "Violates a deadline or a WCET of each duration once and prints, as CSV, how late the\n"
    "violation was caught and noticed, and how late a raw timer's handler ran beside it. Part\n"
    "of `./dlex bench latency`.\n"
    "  --probe   only try whether the policy is permitted\n"
    "  --help\n";

static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"policy", required_argument, NULL, 'p'}, {"kind", required_argument, NULL, 'k'},
        {"probe", no_argument, NULL, 't'},        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int name;
    opterr = 0;
    shown_option_names(argv, false);
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (name) {
        case 'p': options->policy = optarg; break;
        case 'k': options->kind = optarg; break;
        case 't': options->probe = true; break;
        case 'h': return 1;
        default:
            fprintf(stderr, "dlex-bench-cell: %s is unknown or has no value; see --help\n",
                    shown_value(argv[optind - 1]));
            return -1;
        }
    }
    options->durations = argv + optind;
    options->duration_count = argc - optind;
    if (options->kind && (!strcmp(options->kind, "deadline") || !strcmp(options->kind, "wcet")))
        return 0;
    fprintf(stderr, "dlex-bench-cell: --kind must be deadline or wcet; see --help\n");
    return -1;
}

static int parse_durations(struct sample *samples, const struct options *options)
{
    for (int i = 0; i < options->duration_count; i++) {
        char *end;
        const long us = strtol(options->durations[i], &end, 10);
        if (*end || us < 1 || us > 10000000) {
            fprintf(stderr, "dlex-bench-cell: %s is not a duration from 1 us to 10 s; see --help\n",
                    shown_value(options->durations[i]));
            return -1;
        }
        samples[i].duration_ns = us * INT64_C(1000);
    }
    return 0;
}

static void compute(void)
{
    for (;;)
        __asm__ __volatile__("");
}

static void note(struct sample *sample)
{
    const struct dlex_violation *violation = dlex_last_violation();
    sample->caught_ns = violation->caught_ns - violation->deadline_ns;
    sample->noticed_ns = violation->noticed_ns - violation->deadline_ns;
}

static void violate_deadline(struct sample *sample)
{
    dlex_try_within_rel(sample->duration_ns) {
        compute();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        note(sample);
    } dlex_end
}

static void violate_wcet(struct sample *sample)
{
    dlex_try_within_wcet(sample->duration_ns) {
        compute();
    } dlex_handle dlex_when(dlex_wcet_violation) {
        note(sample);
    } dlex_end
}

/* Runs the samples and prints nothing meanwhile. Returns 0 or a negative errno. */
static int run(struct sample *samples, int count, bool wcet)
{
    void (*const violate)(struct sample *) = wcet ? violate_wcet : violate_deadline;
    struct raw_timer timer;
    struct sample first = {.duration_ns = WARM_UP_NS};
    const int ret = raw_timer_init(&timer, wcet ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
    if (ret < 0)
        return ret;
    violate(&first);
    for (int i = 0; i < count; i++) {
        struct sample *sample = &samples[i];
        violate(sample);
        dlex_idle(); /* no leftover expiry of libdlex in the raw measurement */
        sample->raw_ns = raw_timer_latency_ns(
            &timer, sample->duration_ns < RAW_MOST_NS ? sample->duration_ns : RAW_MOST_NS);
    }
    raw_timer_finish(&timer);
    return 0;
}

static void print(const struct sample *samples, int count)
{
    printf("duration_us,caught_ns,noticed_ns,raw_ns\n");
    for (int i = 0; i < count; i++)
        printf("%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", samples[i].duration_ns / 1000,
               samples[i].caught_ns, samples[i].noticed_ns, samples[i].raw_ns);
}

static int enter_policy(const char *policy)
{
    const int ret = latency_policy_enter(policy);
    if (!ret)
        return EXIT_SUCCESS;
    if (ret == -EINVAL && strcmp(policy, "deadline")) {
        fprintf(stderr, "dlex-bench-cell: there is no policy '%s'; see --help\n", shown_value(policy));
        return EXIT_USAGE;
    }
    fprintf(stderr, "dlex-bench-cell: the kernel refuses policy %s: %s\n", shown_value(policy), strerror(-ret));
    return EXIT_REFUSED;
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-bench-cell", EXIT_FAILED);
    struct options options = {.policy = "other"};
    const int parsed = parse_options(&options, argc, argv);
    if (parsed > 0)
        fputs(help, stdout);
    if (parsed)
        return parsed < 0 ? EXIT_USAGE : EXIT_SUCCESS;
    /*
     * The driver sets this too, but a program that gains rights when it starts loses the setting.
     */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct sample *samples = calloc(options.duration_count + 1, sizeof(*samples));
    int status = samples ? EXIT_SUCCESS : EXIT_FAILED;
    if (!status && parse_durations(samples, &options))
        status = EXIT_USAGE;
    if (!status)
        status = enter_policy(options.policy);
    if (!status && !options.probe) {
        const int ret = run(samples, options.duration_count, !strcmp(options.kind, "wcet"));
        if (!ret)
            print(samples, options.duration_count);
        if (ret) {
            fprintf(stderr, "dlex-bench-cell: %s\n", strerror(-ret));
            status = EXIT_FAILED;
        }
    }
    free(samples);
    return status;
}
