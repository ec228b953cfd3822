/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dlex-bench-decode: measures what the gate costs, and how soon a deadline gets control in it. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_report.h"
#include "clip_path.h"
#include "ns.h"
#include "output_paths.h"
#include "shown_value.h"
#include "standard_output.h"

enum {
    EXIT_USAGE = 1,
    EXIT_FAILED = 2,
    PAIRS = 40, /* pairs differ by some per cent: each process gets other pages */
    QUICK_PAIRS = 15,
    QUICK_PACKETS = 250,
    ABORTS = 1000,
    QUICK_ABORTS = 200,
    MOST_PASSES = 100, /* fewer than ten aborts per pass: the clip has hardly any droppable pictures */
};

struct options {
    const char *clip;
    const char *json;
    int64_t deadline_base_ns;
    int quick;
};

static const char help[] =
    "Usage: dlex-bench-decode [OPTION ...]\n"
    "Measures what the gate of the patched FFmpeg costs while no deadline passes, against a\n"
    "pristine FFmpeg, and how soon a deadline that passes has control in a droppable picture:\n"
    "1080p and 2160p, by the jump and by the poll, under SCHED_OTHER and SCHED_FIFO, alone and\n"
    "beside programs that compute, and with frame threads.\n"
    "  --clip=FILE           decode this, not the trailer (or, without it, the made clip)\n"
    "  --deadline-base=MS    of the second measurement, from the start of a decode (default 1)\n"
    "  --json=FILE           all figures and samples\n"
    "  --quick               part of the 1080p clip, without SCHED_FIFO, with less certain figures\n"
    "  --help\n";

static int parse_milliseconds(const char *text, int64_t *ns)
{
    char *end;
    const double ms = strtod(text, &end);
    if (end == text || *end || !(ms > 0 && ms < 1e6))
        return -1;
    *ns = ms * (double)NS_PER_MS;
    return 0;
}

/* Returns 0, 1 when help is wanted, or -1 after printing one sentence. */
static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"clip", required_argument, NULL, 'c'}, {"deadline-base", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'}, {"quick", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},       {0},
    };
    int name;
    opterr = 0;
    shown_option_names(argv, false);
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (name) {
        case 'c': options->clip = optarg; break;
        case 'j': options->json = optarg; break;
        case 'q': options->quick = 1; break;
        case 'h': return 1;
        case 'd':
            if (!parse_milliseconds(optarg, &options->deadline_base_ns))
                break;
            fprintf(stderr, "dlex-bench-decode: --deadline-base=%s is not a time; give milliseconds\n",
                    shown_value(optarg));
            return -1;
        default:
            fprintf(stderr, "dlex-bench-decode: %s is unknown or has no value; see --help\n",
                    shown_value(argv[optind - 1]));
            return -1;
        }
    }
    if (optind == argc)
        return 0;
    fprintf(stderr, "dlex-bench-decode: %s is not an option; name a clip by --clip=FILE\n",
            shown_value(argv[optind]));
    return -1;
}

struct clips {
    char first[4096];
    char large[4096]; /* 2160p; "": there is none */
    char hevc[4096];  /* 2160p, HEVC with 10 bits; "": there is none */
};

/* Finds the clip given, or else the trailer in both sizes and codecs, or else the made clip. */
static int find_clips(const struct options *options, struct clips *clips)
{
    clips->large[0] = clips->hevc[0] = '\0';
    if (options->clip)
        return snprintf(clips->first, sizeof(clips->first), "%s", options->clip) < (int)sizeof(clips->first) ? 0 : -1;
    if (!options->quick && clip_path(clips->large, sizeof(clips->large), "trailer_2160p"))
        clips->large[0] = '\0';
    if (!options->quick && clip_path(clips->hevc, sizeof(clips->hevc), "trailer_2160p_hevc10"))
        clips->hevc[0] = '\0';
    if (!clip_path(clips->first, sizeof(clips->first), "trailer_1080p") ||
        !clip_path(clips->first, sizeof(clips->first), "hard_1080p"))
        return 0;
    fprintf(stderr, "dlex-bench-decode: no clip can be made here; name one by --clip=FILE\n");
    return -1;
}

static int measure_overhead(struct gate_overhead *overhead, const struct options *options,
                            const char *clip)
{
    *overhead = (struct gate_overhead){
        .gated_program = GATED_PROGRAM,
        .pristine_program = PRISTINE_PROGRAM,
        .clip = clip,
        .packet_count = options->quick ? QUICK_PACKETS : 0,
        .pair_count = options->quick ? QUICK_PAIRS : PAIRS,
        .seed = 1,
    };
    return overhead_measure(overhead);
}

static int measure_latency(struct latency_cases *cases, const struct options *options, const struct clips *clips)
{
    struct latency_settings settings = {
        .clips = {clips->first},
        .deadline_base_ns = options->deadline_base_ns,
        .aborts = options->quick ? QUICK_ABORTS : ABORTS,
        .most_passes = MOST_PASSES,
        .without_fifo = options->quick,
    };
    int count = 1;
    if (clips->large[0])
        settings.clips[count++] = clips->large;
    if (clips->hevc[0])
        settings.clips[count++] = clips->hevc;
    return latency_cases_measure(cases, &settings);
}

static int report(const struct bench_report *report, const char *json)
{
    report_print(report);
    const int ret = json ? report_write_json(report, json) : 0;
    if (ret < 0)
        fprintf(stderr, "dlex-bench-decode: %s cannot be written: %s; name another file\n", json, strerror(-ret));
    return ret;
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-bench-decode", EXIT_FAILED);
    struct options options = {.deadline_base_ns = NS_PER_MS};
    const int parsed = parse_options(&options, argc, argv);
    if (parsed > 0)
        fputs(help, stdout);
    if (parsed)
        return parsed < 0 ? EXIT_USAGE : EXIT_SUCCESS;
    const struct named_path outputs[] = {{"--json", options.json}, {NULL, NULL}}, inputs[] = {{"--clip", options.clip}, {NULL, NULL}};
    if (!output_paths_check("dlex-bench-decode", outputs, inputs) || !output_paths_try("dlex-bench-decode", options.json))
        return EXIT_USAGE;
    struct clips clips;
    if (find_clips(&options, &clips) < 0)
        return EXIT_FAILED;

    struct gate_overhead overhead;
    struct latency_cases cases;
    const int has_pristine = PRISTINE_PROGRAM[0] != '\0';
    if (has_pristine && measure_overhead(&overhead, &options, clips.first) < 0)
        return EXIT_FAILED;
    int ret = measure_latency(&cases, &options, &clips);
    if (ret >= 0)
        ret = report(&(struct bench_report){clips.first, has_pristine ? &overhead : NULL, &cases}, options.json);
    latency_cases_finish(&cases);
    return ret < 0 ? EXIT_FAILED : EXIT_SUCCESS;
}
