/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-qoe: reports how good a recorded run looked. Only this file knows all the others, and only it ends the program:
 * from main, or through argp, which exits after --help, --version and a wrong option.
 */
#include "build_facts.h"
#include "clip.h"
#include "ns.h"
#include "output_paths.h"
#include "report.h"
#include "shown_value.h"
#include "standard_output.h"
#include "trace_of_run.h"
#include "whole_file.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum exit_code { EXIT_REPORTED = 0, EXIT_SETUP = 1, EXIT_UNUSABLE = 2 };

enum { WHY_SIZE = PATH_MAX + 256 };

/*
 * A file lasts as long as its longest stream, and stamping replaces the sound. The trailer's own
 * sound goes on for 0.52 s.
 */
static const double length_tolerance_s = 1;

enum key { KEY_MEDIA = 256, KEY_UNSTAMPED, KEY_WINDOW, KEY_JSON, KEY_CSV, KEY_TRACE };

struct arguments {
    const char *dir;
    const char *media_path; /* NULL: the path in the record */
    const char *unstamped_path; /* NULL: the media's own pictures are compared */
    struct window window;   /* y 0: that of the record */
    const char *json_path;  /* NULL: not wanted; "-": standard output */
    const char *csv_path;   /* as json_path */
    const char *trace_path; /* as json_path; if it is wanted, nothing is reported */
};

typedef int report_writer(FILE *out, const struct report *report);

const char *argp_program_version = "dlex-qoe " PROGRAM_VERSION " (" DLEX_COMMIT ")";

static const char doc[] =
    "Reports how good a run looked that dlex-play --record=DIR recorded. Decodes the ideal pictures "
    "from the media and compares each dropped picture with the last one shown before it (with black "
    "before the first), and each one that was shown without its loop filter with itself.\v"
    "RMSE is over all pixels and R, G and B together, in units of ImageMagick's 16-bit "
    "`compare -metric RMSE` and of 8 bits; a shown picture adds nothing to the sum unless "
    "it was changed by --degrade, and mean, median and p90 are over the dropped pictures.\n"
    "\n"
    "FILE may be - for standard output, which then holds nothing else.\n"
    "\n"
    "Exit status: 0 reported, 1 bad option or unwritable output, 2 the record or the media cannot "
    "be used.";

static const struct argp_option option_table[] = {
    {"media", KEY_MEDIA, "FILE", 0, "the media, if it is no longer at the path from which it was played", 0},
    {"unstamped", KEY_UNSTAMPED, "FILE", 0,
     "compare the pictures of this file: the film that was played, without the stamps in its pictures", 0},
    {"window", KEY_WINDOW, "X/Y", 0, "count the losses beyond X of any Y pictures in a row (if the player was asked for a window: "
     "beyond that one)", 0},
    {"json", KEY_JSON, "FILE", 0, "write the figures as JSON", 0},
    {"csv", KEY_CSV, "FILE", 0, "write a row for each dropped or degraded picture", 0},
    {"trace", KEY_TRACE, "FILE", 0, "instead of a report, write what each packet of the clip costs and what losing it would "
     "look like, for dlex-bench-sim; the run must be one with --drop=none", 0},
    {0},
};

__attribute__((format(printf, 1, 2)))
static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("dlex-qoe: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static bool is_stdout(const char *path)
{
    return path && !strcmp(path, "-");
}

static void parse_window(struct window *window, const char *arg, struct argp_state *state)
{
    if (window_parse(window, arg))
        argp_error(state, "--window=%s is no window; write X/Y, with Y from 1 to %d and X from 0 to Y", shown_value(arg), WINDOW_MAX);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct arguments *const arguments = state->input;
    switch (key) {
    case KEY_MEDIA: arguments->media_path = arg; break;
    case KEY_UNSTAMPED: arguments->unstamped_path = arg; break;
    case KEY_WINDOW: parse_window(&arguments->window, arg, state); break;
    case KEY_JSON: arguments->json_path = arg; break;
    case KEY_CSV: arguments->csv_path = arg; break;
    case KEY_TRACE: arguments->trace_path = arg; break;
    case ARGP_KEY_ARG:
        if (arguments->dir)
            argp_error(state, "%s is one argument too many; name one record", shown_value(arg));
        arguments->dir = arg;
        break;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no DIR given; name a record that dlex-play --record=DIR wrote");
        break;
    case ARGP_KEY_END:
        if (arguments->media_path && arguments->unstamped_path)
            argp_error(state, "--media and --unstamped both name the pictures to compare; leave out one of them");
        if (is_stdout(arguments->json_path) && is_stdout(arguments->csv_path))
            argp_error(state, "--json=- and --csv=- cannot share standard output; "
                              "name a file for one of them");
        if (arguments->trace_path && (arguments->json_path || arguments->csv_path))
            argp_error(state, "--trace writes no report; leave out --json and --csv");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static struct arguments parse_arguments(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "DIR", doc, NULL, NULL, NULL};
    struct arguments arguments = {0};
    argp_err_exit_status = EXIT_SETUP;
    argv[0] = "dlex-qoe"; /* instead of the path by which it was called */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    return arguments;
}

/* Standard output gets the report, unless it was named as a file. Only another file could be lost by that. */
static const char *report_path(const struct arguments *arguments)
{
    struct stat facts;
    const bool is_taken = is_stdout(arguments->json_path) || is_stdout(arguments->csv_path) || arguments->trace_path;
    return !is_taken && !fstat(STDOUT_FILENO, &facts) && S_ISREG(facts.st_mode) ? "-" : NULL;
}

/* Returns whether nothing that is read, and no other output, would be overwritten. `media`: as in the record; NULL: not known yet. */
static bool check_paths(const struct arguments *arguments, const char *media)
{
    char run[PATH_MAX], frames[PATH_MAX];
    snprintf(run, sizeof run, "%s/run.json", arguments->dir);
    snprintf(frames, sizeof frames, "%s/frames.csv", arguments->dir);
    const struct named_path outputs[] = {
        {"--json", arguments->json_path}, {"--csv", arguments->csv_path}, {"--trace", arguments->trace_path},
        {"standard output", report_path(arguments)}, {NULL, NULL},
    };
    const struct named_path inputs[] = {
        {"record", run}, {"record", frames}, {"media", media}, {"media", arguments->media_path},
        {"unstamped", arguments->unstamped_path}, {NULL, NULL},
    };
    return output_paths_check("dlex-qoe", outputs, inputs);
}

/* Runs before the long work, so that nobody waits for a report that cannot be written. */
static int try_output(const char *path)
{
    if (!path || is_stdout(path))
        return 0;
    struct whole_file trial;
    const int ret = whole_file_open(&trial, path);
    if (ret < 0)
        complain("cannot write %s: %s", path, strerror(-ret));
    else
        whole_file_abandon(&trial);
    return ret;
}

/* What standard output loses is reported when the program ends. */
static int write_stdout(const struct report *report, report_writer *write)
{
    const int ret = write(stdout, report);
    return ferror(stdout) ? 0 : ret;
}

static int write_file(const char *path, const struct report *report, report_writer *write)
{
    struct whole_file file;
    int ret = whole_file_open(&file, path);
    if (ret < 0)
        return ret;
    ret = write(file.out, report);
    if (!ret)
        return whole_file_commit(&file);
    whole_file_abandon(&file);
    return ret;
}

static int write_output(const char *path, const struct report *report, report_writer *write)
{
    if (!path)
        return 0;
    const int ret = is_stdout(path) ? write_stdout(report, write) : write_file(path, report, write);
    if (ret < 0)
        complain("cannot write %s: %s; nothing was left there", is_stdout(path) ? "to standard output" : path, strerror(-ret));
    return ret;
}

static enum exit_code write_outputs(const struct arguments *arguments, const struct report *report)
{
    const bool stdout_taken = is_stdout(arguments->json_path) || is_stdout(arguments->csv_path);
    if (write_output(arguments->json_path, report, report_write_json) ||
        write_output(arguments->csv_path, report, report_write_csv) ||
        write_output(stdout_taken ? NULL : "-", report, report_write_text))
        return EXIT_SETUP;
    return EXIT_REPORTED;
}

static struct loss_windows count_violations(const struct arguments *arguments, const struct recorded_run *run)
{
    return loss_windows_of(arguments->window.y > 0 ? &arguments->window : &run->window, run->rows, run->count);
}

/* Another film has other packets, which do not show what degrading those of the played one changed. Returns as drops_compare. */
static int64_t compare(const struct report *report, struct ideal *ideal, struct rgb_converter *converter, struct drop **drops)
{
    const struct recorded_run *const run = report->run;
    char why[WHY_SIZE];
    struct played *played = NULL;
    *drops = NULL;
    int64_t count = report->unstamped ? 0 : played_open(&played, report->media_path, run, why, sizeof why);
    if (count >= 0)
        count = drops_compare(drops, run->rows, run->count, ideal, played, converter, why, sizeof why);
    if (count < 0)
        complain("%s cannot be compared with %s: %s", report->media_path, report->dir, why);
    played_close(&played);
    return count;
}

static enum exit_code judge(const struct arguments *arguments, struct report *report,
                            struct ideal *ideal)
{
    struct rgb_converter converter;
    rgb_converter_init(&converter);
    const struct recorded_run *const run = report->run;
    struct drop *drops;
    enum exit_code code = EXIT_UNUSABLE;
    report->drop_count = compare(report, ideal, &converter, &drops);
    if (report->drop_count < 0)
        goto out;
    struct quality quality;
    if (quality_of(&quality, run->rows, run->count, drops, report->drop_count)) {
        complain("out of memory");
        goto out;
    }
    const struct loss_windows windows = count_violations(arguments, run);
    report->windows = &windows;
    report->drops = drops;
    report->quality = &quality;
    report->converter = &converter;
    code = write_outputs(arguments, report);
out:
    free(drops);
    rgb_converter_finish(&converter);
    return code;
}

/* A picture of another file is not an ideal: the media must be the very bytes that were played. */
static int check_media(const struct recorded_run *run, const char *path)
{
    char sha256[65];
    const int ret = clip_sha256(path, sha256);
    if (ret < 0) {
        complain("%s: %s; use --media=FILE to name the file that was played", path, strerror(-ret));
        return ret;
    }
    if (!strcmp(sha256, run->media_sha256))
        return 0;
    complain("%s is not the file that was played (its SHA-256 differs from the record's); "
             "use --media=FILE to name that file",
             path);
    return -EINVAL;
}

static bool is_of_size(const struct recorded_run *run, const struct clip *clip)
{
    const json_t *const media = json_object_get(run->json, "media");
    const json_t *const video = json_object_get(media, "video");
    const double length_s = json_number_value(json_object_get(media, "duration_s"));
    return clip->video && json_integer_value(json_object_get(video, "width")) == clip->video->codecpar->width &&
           json_integer_value(json_object_get(video, "height")) == clip->video->codecpar->height &&
           fabs(length_s - ns_to_s(clip_duration_ns(clip))) < length_tolerance_s;
}

/* The bytes differ from those that were played, so this check can only find an obvious mistake. */
static int check_unstamped(const struct recorded_run *run, const char *path)
{
    char why[WHY_SIZE];
    struct clip clip = {0};
    int ret = clip_open(&clip, path, NULL, why, sizeof why);
    if (ret < 0) {
        complain("%s: %s", path, why);
    } else if (!is_of_size(run, &clip)) {
        complain("%s differs in size or length from the file that was played; name the same film without stamps",
                 path);
        ret = -EINVAL;
    }
    clip_close(&clip);
    return ret;
}

static int check_pictures(const struct arguments *arguments, const struct recorded_run *run, const char *path)
{
    return arguments->unstamped_path ? check_unstamped(run, path) : check_media(run, path);
}

static int write_trace(const char *path, const struct decode_trace *trace)
{
    struct whole_file file;
    int ret = whole_file_open(&file, path);
    if (!ret) {
        decode_trace_write_header(file.out);
        for (int64_t i = 0; i < trace->count; i++)
            decode_trace_write_packet(file.out, &trace->packets[i]);
        ret = whole_file_commit(&file);
    }
    if (ret < 0)
        complain("cannot write %s: %s; nothing was left there", path, strerror(-ret));
    return ret;
}

/* The packets are those that were played, also where the pictures of another file are compared. */
static enum exit_code trace_run(const struct arguments *arguments, const struct recorded_run *run, struct ideal *ideal)
{
    const char *const media_path = arguments->media_path ? arguments->media_path : run->media_path;
    if (arguments->unstamped_path && check_media(run, media_path))
        return EXIT_UNUSABLE;
    char why[WHY_SIZE];
    struct decode_trace trace;
    if (trace_of_run(&trace, run, media_path, ideal, why, sizeof why)) {
        complain("%s cannot be traced: %s", arguments->dir, why);
        return EXIT_UNUSABLE;
    }
    const int ret = write_trace(arguments->trace_path, &trace);
    decode_trace_finish(&trace);
    return ret ? EXIT_SETUP : EXIT_REPORTED;
}

static enum exit_code report_run(const struct arguments *arguments, const struct recorded_run *run)
{
    struct report report = {
        .dir = arguments->dir,
        .media_path = arguments->unstamped_path ? arguments->unstamped_path
                      : arguments->media_path   ? arguments->media_path : run->media_path,
        .unstamped = arguments->unstamped_path,
        .run = run,
    };
    if (check_pictures(arguments, run, report.media_path))
        return EXIT_UNUSABLE;
    char why[WHY_SIZE];
    struct ideal *ideal;
    if (ideal_open(&ideal, report.media_path, run->stream_index, why, sizeof why) < 0) {
        complain("%s: %s", report.media_path, why);
        return EXIT_UNUSABLE;
    }
    const enum exit_code code =
        arguments->trace_path ? trace_run(arguments, run, ideal) : judge(arguments, &report, ideal);
    ideal_close(&ideal);
    return code;
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-qoe", EXIT_SETUP);
    const struct arguments arguments = parse_arguments(argc, argv);
    av_log_set_level(AV_LOG_QUIET); /* damage in the media was already reported when it was played */
    if (!check_paths(&arguments, NULL) || try_output(arguments.json_path) || try_output(arguments.csv_path) || try_output(arguments.trace_path))
        return EXIT_SETUP;
    struct recorded_run run;
    char why[WHY_SIZE];
    if (recorded_run_read(&run, arguments.dir, why, sizeof why)) {
        complain("%s", why);
        return EXIT_UNUSABLE;
    }
    const enum exit_code code = check_paths(&arguments, run.media_path) ? report_run(&arguments, &run) : EXIT_SETUP;
    recorded_run_finish(&run);
    return code;
}
