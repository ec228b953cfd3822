/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-bench-gates: tests whether a picture that is given up harms any other. It gives up thousands of droppable pictures
 * of each codec, with one thread, frame threads and slice threads, and compares all others with an undisturbed decode,
 * bit by bit.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dlex/dlex.h>

#include "gate_clips.h"
#include "gates_report.h"
#include "output_paths.h"
#include "shown_value.h"
#include "standard_output.h"

struct options {
    int64_t aborts;
    int64_t passes;
    uint64_t seed;
    const char *codecs; /* NULL: all */
    bool only_polls;
    bool undisturbed;
    const char *json;
};

enum { KEY_ABORTS = 1000, KEY_PASSES, KEY_CODECS, KEY_ONLY_POLLS, KEY_UNDISTURBED, KEY_SEED, KEY_JSON };
enum { THREADS_LEAST = 2, THREADS_MOST = 4, MODES_MAX = GATE_MODES_MAX * (THREADS_MOST - THREADS_LEAST + 1), MOST_PASSES = 1000000 };

static const struct argp_option option_list[] = {
    { "aborts", KEY_ABORTS, "N", 0, "How many decodes of each codec are given up, at least (10000)", 0 },
    { "passes", KEY_PASSES, "N", 0, "How often each clip is decoded in each mode for that, at most (4000)", 0 },
    { "codecs", KEY_CODECS, "NAME,...", 0, "Some of h264, hevc, mpeg12, mpeg4, vp8, vp9, av1 (all)", 0 },
    { "only-polls", KEY_ONLY_POLLS, NULL, 0, "Leave out the jump, which ThreadSanitizer cannot follow", 0 },
    { "undisturbed", KEY_UNDISTURBED, NULL, 0, "Only decode, without callbacks: to see which races are FFmpeg's own", 0 },
    { "seed", KEY_SEED, "N", 0, "Seed of all choices (1)", 0 },
    { "json", KEY_JSON, "FILE", 0, "Write the result as JSON", 0 },
    { 0 },
};

static bool is_in_list(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, length) && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static bool is_codec_list(const char *list)
{
    int known = 0;
    const char *last = "";
    for (int i = 0; i < gate_clip_count; i++)
        if (strcmp(gate_clips[i].codec, last)) {
            last = gate_clips[i].codec;
            known += is_in_list(list, last);
        }
    int named = 1;
    for (const char *at = list; *at; at++)
        named += *at == ',';
    return known == named;
}

static bool read_number(const char *text, int64_t least, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *number >= least;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *const options = state->input;
    int64_t number = 0;
    switch (key) {
    case KEY_ABORTS:
        if (!read_number(text, 1, &options->aborts))
            argp_error(state, "--aborts needs a number from 1, not '%s'", shown_value(text));
        return 0;
    case KEY_PASSES:
        if (!read_number(text, 1, &options->passes) || options->passes > MOST_PASSES)
            argp_error(state, "--passes needs a number from 1 to %d, not '%s'", MOST_PASSES, shown_value(text));
        return 0;
    case KEY_SEED:
        if (!read_number(text, 0, &number))
            argp_error(state, "--seed needs a number, not '%s'", shown_value(text));
        options->seed = (uint64_t)number;
        return 0;
    case KEY_CODECS:
        if (!is_codec_list(text))
            argp_error(state, "--codecs needs names of codecs, not '%s'", shown_value(text));
        options->codecs = text;
        return 0;
    case KEY_ONLY_POLLS: options->only_polls = true; return 0;
    case KEY_UNDISTURBED: options->undisturbed = true; return 0;
    case KEY_JSON: options->json = text; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", shown_value(text)); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Writes the modes that are tried. One thread is tried once, because the same seed makes the same choices again. */
static int choose_modes(const struct options *options, const struct coded_stream *stream, struct decode_mode chosen[MODES_MAX])
{
    int count = 0;
    for (int threads = THREADS_LEAST; threads <= THREADS_MOST; threads++) {
        struct decode_mode modes[GATE_MODES_MAX];
        const int known = gate_modes(stream, threads, modes);
        for (int i = 0; i < known; i++)
            if ((modes[i].threads > 1 || threads == THREADS_LEAST) && !(options->only_polls && modes[i].way == WAY_JUMP))
                chosen[count++] = modes[i];
    }
    return count;
}

/* All clips of a codec have the same share of its aborts, and all modes and numbers of threads the same of a clip's. */
static int64_t share_of(const struct options *options, const struct gate_clip *clip, int modes)
{
    int clips = 0;
    for (int i = 0; i < gate_clip_count; i++)
        clips += !strcmp(gate_clips[i].codec, clip->codec) && !gate_clips[i].plain;
    return options->aborts / (clips * modes) + 1;
}

static int run_mode(const struct options *options, const struct gate_clip *clip, const struct coded_stream *stream,
                    struct decode_mode mode, int64_t wanted, struct gates_report *report)
{
    struct gate_storm storm = {
        .stream = stream,
        .mode = mode,
        .seek = gate_clip_seek(clip, stream),
        .comparison = clip->comparison,
        .is_whole = !clip->damaged && !clip->seek,
        .is_strict = !clip->damaged && !clip->seek,
        .seed = options->seed + (uint64_t)mode.threads, /* other choices with each number of threads */
        .wanted = wanted,
        .most_passes = (int)options->passes,
        .is_undisturbed = options->undisturbed,
    };
    char name[128];
    gate_clip_describe(clip, name, sizeof(name));
    const int ret = gate_storm_run(&storm);
    if (ret < 0) {
        fprintf(stderr, "dlex-bench-gates: %s: %s\n", name, av_err2str(ret));
        return -1;
    }
    report_add(report, clip->codec, name, &storm);
    return 0;
}

static int run_clip(const struct options *options, const struct gate_clip *clip, struct gates_report *report)
{
    struct coded_stream stream;
    const int loaded = gate_clip_load(clip, &stream);
    if (loaded <= 0)
        return loaded;
    struct decode_mode modes[MODES_MAX];
    const int count = choose_modes(options, &stream, modes);
    int ret = 0;
    for (int i = 0; !ret && i < count; i++)
        ret = run_mode(options, clip, &stream, modes[i], share_of(options, clip, count), report);
    stream_finish(&stream);
    return ret;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_list, .parser = parse,
        .doc = "Gives up droppable pictures of each codec at random, with and without codec threads, and compares all other "
               "pictures with an undisturbed decode with the same threads. The exit status is 0 if none differs and "
               "enough were given up."
    };
    standard_output_begin("dlex-bench-gates", EXIT_FAILURE);
    struct options options = {.aborts = 10000, .passes = 4000, .seed = 1};
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (!output_paths_try("dlex-bench-gates", options.json))
        return EXIT_FAILURE;
    setvbuf(stdout, NULL, _IOLBF, 0);
    static struct gates_report report;
    report.seed = options.seed;
    report.wanted = options.undisturbed ? 0 : options.aborts;
    for (int i = 0; i < gate_clip_count; i++) {
        const struct gate_clip *const clip = &gate_clips[i];
        if (options.codecs && !is_in_list(options.codecs, clip->codec))
            continue;
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rclip %d of %d\033[K", i + 1, gate_clip_count);
        if (run_clip(&options, clip, &report) < 0)
            return EXIT_FAILURE;
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    report_print(&report);
    const int err = options.json ? report_write_json(&report, options.json) : 0;
    if (err)
        fprintf(stderr, "dlex-bench-gates: %s: %s\n", options.json, strerror(-err));
    return report_faults(&report) || report_shortfalls(&report) || err || !report.cell_count ? EXIT_FAILURE : EXIT_SUCCESS;
}
