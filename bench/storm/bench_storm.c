/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-bench-storm: tests whether an abort at any instruction does harm. It aborts loops over
 * malloc, scoped resources, streams, locks and pure computation a million times, with
 * libdlex-guard, in one to sixteen threads. Then it checks everything that could be harmed.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dlex/dlex.h>

#include "output_paths.h"
#include "shown_value.h"
#include "standard_output.h"
#include "storm_report.h"

struct options {
    uint64_t aborts;
    uint32_t seed;
    int runs;
    int threads[STORM_RUNS_MAX];
    const char *json;
};

enum { KEY_ABORTS = 1000, KEY_THREADS, KEY_SEED, KEY_JSON };

static const struct argp_option option_list[] = {
    { "aborts", KEY_ABORTS, "N", 0, "How many aborts in all (1000000)", 0 },
    { "threads", KEY_THREADS, "N,...", 0, "The numbers of threads (1,2,4,8,16)", 0 },
    { "seed", KEY_SEED, "N", 0, "Seed for the choices of the loops and for their deadlines (1)", 0 },
    { "json", KEY_JSON, "FILE", 0, "Write the result as JSON", 0 },
    { 0 },
};

/*
 * Reads a number from least to most, which ends the text or is followed by one of the characters of
 * end. Returns the place after the number, or NULL.
 */
static const char *read_number(const char *text, const char *end, uint64_t least, uint64_t most,
                               uint64_t *number)
{
    char *after;
    errno = 0;
    *number = strtoull(text, &after, 10);
    if (after == text || *text == '-' || errno || *number < least || *number > most)
        return NULL;
    return *after == '\0' || strchr(end, *after) ? after : NULL;
}

static bool read_threads(const char *text, struct options *options)
{
    options->runs = 0;
    while (text && options->runs < STORM_RUNS_MAX) {
        uint64_t number;
        text = read_number(text, ",", 1, STORM_THREADS_MAX, &number);
        if (!text)
            return false;
        options->threads[options->runs++] = (int)number;
        if (*text == '\0')
            return true;
        text++;
    }
    return false;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *const options = state->input;
    uint64_t number = 0;
    switch (key) {
    case KEY_ABORTS:
        if (!read_number(text, "", 1, UINT64_MAX / 256, &options->aborts))
            argp_error(state, "--aborts needs a number from 1, not '%s'", shown_value(text));
        return 0;
    case KEY_THREADS:
        if (!read_threads(text, options))
            argp_error(state, "--threads needs up to %d numbers from 1 to %d, not '%s'",
                       STORM_RUNS_MAX, STORM_THREADS_MAX, shown_value(text));
        return 0;
    case KEY_SEED:
        if (!read_number(text, "", 0, UINT32_MAX, &number))
            argp_error(state, "--seed needs a number, not '%s'", shown_value(text));
        options->seed = (uint32_t)number;
        return 0;
    case KEY_JSON: options->json = text; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", shown_value(text)); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int most_threads(const struct options *options)
{
    int most = 1;
    for (int i = 0; i < options->runs; i++)
        if (options->threads[i] > most)
            most = options->threads[i];
    return most;
}

/* Runs the storm. Returns true when a thread makes no progress; then nothing can be cleaned up. */
static bool storm(const struct options *options, struct storm_report *report)
{
    uint64_t before = 0;
    for (int i = 0; i < options->runs; i++) {
        struct storm_result *const result = &report->results[report->runs++];
        const uint64_t aborts = (options->aborts - before) / (options->runs - i);
        const int err = storm_run(result, options->threads[i], aborts, report->seed, before,
                                  options->aborts);
        if (err) {
            fprintf(stderr, "dlex-bench-storm: %s\n", strerror(-err));
            exit(EXIT_FAILURE);
        }
        before += aborts;
        if (result->stalled)
            return true;
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%40s\r", "");
    return false;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_list, .parser = parse,
        .doc = "Aborts loops over malloc, streams, locks and pure computation, guarded by "
               "libdlex-guard, and looks for damage. The exit status is 0 if there is none."
    };
    standard_output_begin("dlex-bench-storm", EXIT_FAILURE);
    struct options options = { 1000000, 1, 5, { 1, 2, 4, 8, 16 }, NULL };
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (!output_paths_try("dlex-bench-storm", options.json))
        return EXIT_FAILURE;
    static struct storm_report report;
    report.seed = options.seed;
    if (storm_loops_init() < 0) {
        perror("dlex-bench-storm");
        return EXIT_FAILURE;
    }
    storm_warm_up(most_threads(&options));
    dlex_thread_init(); /* with the POSIX notification, the library starts a thread here */
    const bool stalled = storm(&options, &report);
    if (!stalled)
        report.locks_held = storm_loops_finish();
    storm_report_print(&report);
    const int err = options.json ? storm_report_write_json(&report, options.json) : 0;
    if (err)
        fprintf(stderr, "dlex-bench-storm: %s: %s\n", options.json, strerror(-err));
    standard_output_flush();
    if (stalled)
        _exit(EXIT_FAILURE);
    return storm_report_faults(&report) || err ? EXIT_FAILURE : EXIT_SUCCESS;
}
