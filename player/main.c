/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-play: plays its files one after the other. The program ends by its return from
 * main, or in options.c through argp, which exits after --help, --version and a wrong option. Xlib may also call exit().
 */
#include "cpu_limits.h"
#include "framemd5.h"
#include "log.h"
#include "options.h"
#include "output_paths.h"
#include "playback.h"
#include "run_record.h"
#include "standard_output.h"
#include "terminal.h"
#include "thread_role.h"
#include "video_sink.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum exit_code { EXIT_PLAYED = 0, EXIT_SETUP = 1, EXIT_NOTHING_PLAYED = 2, EXIT_SOME_PLAYED = 3, EXIT_SIGNAL = 4 };

struct outcome {
    int played;
    int failed;
    bool over; /* the user quit or a signal came, so the remaining files are not played */
    bool by_signal;
    bool rest_lost;
    bool record_lost;
    bool sound_lost; /* the sound of a file that has nothing else */
    bool no_device; /* a requested device or scheduling policy is not available, and would not be for the next file */
};

static volatile sig_atomic_t signal_seen;
/* Global, because the exit handler needs it when Xlib calls exit(). */
static struct framemd5 *framemd5;
static struct picture_ticks ticks;

static void close_framemd5_at_exit(void)
{
    framemd5_close(&framemd5);
}

static void note_signal(int number)
{
    signal_seen = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* SIG_IGN comes from nohup or a shell's background job */
            dlex_sigaction(numbers[i], &action, NULL); /* so that no deadline interrupts the handler */
    }
    signal(SIGPIPE, SIG_IGN);
}

static const char *record_dir_of(const struct options *options, int file, char path[PATH_MAX])
{
    if (!options->record_dir)
        return NULL;
    if (options->file_count == 1)
        snprintf(path, PATH_MAX, "%s", options->record_dir);
    else
        snprintf(path, PATH_MAX, "%s/%d", options->record_dir, file + 1);
    return path;
}

/* Call before anything plays, so that nobody watches a film whose record cannot be written. */
static int prepare_records(const struct options *options)
{
    char path[PATH_MAX];
    for (int i = 0; options->record_dir && i < options->file_count; i++) {
        const int ret = run_record_prepare(record_dir_of(options, i, path));
        if (ret == -EEXIST)
            log_error("%s holds a record already (run.json or frames.csv); name another directory for --record", path);
        else if (ret < 0)
            log_error("cannot write a record to %s: %s; name another directory for --record", path, strerror(-ret));
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* Links may make one folder of two: then a record would overwrite the one before it. Call when the folders exist. */
static bool check_record_folders(const struct options *options)
{
    struct stat *const folders = calloc((size_t)options->file_count, sizeof *folders);
    char path[PATH_MAX];
    bool are_apart = folders;
    for (int i = 0; are_apart && options->record_dir && i < options->file_count; i++) {
        are_apart = !stat(record_dir_of(options, i, path), &folders[i]);
        for (int before = 0; are_apart && before < i; before++)
            are_apart = folders[before].st_dev != folders[i].st_dev || folders[before].st_ino != folders[i].st_ino;
        if (!are_apart)
            log_error("%s is the folder of another film's record, too; name another directory for --record", path);
    }
    free(folders);
    return are_apart;
}

/* Returns the path of a film that may be given as a URL: file:film.mkv, or pipe:3 (pipe: is standard input), which may be a file. */
static const char *local_path(const char *film, char text[PATH_MAX])
{
    if (!strcmp(film, "-"))
        return "./-"; /* as an output it is standard output, as a film it is a file */
    if (!access(film, F_OK))
        return film;
    if (!strncmp(film, "file:", 5))
        return film + 5;
    if (strncmp(film, "pipe:", 5) != 0)
        return film;
    snprintf(text, PATH_MAX, "/dev/fd/%ld", strtol(film + 5, NULL, 10));
    return text;
}

/* Returns whether no output overwrites a film, or another output. A record that is there already is refused by prepare_records. */
static bool check_outputs(const struct options *options)
{
    char dir[PATH_MAX], run[PATH_MAX + 16], frames[PATH_MAX + 16], film[PATH_MAX];
    for (int i = 0; i < options->file_count; i++) {
        const bool has_record = record_dir_of(options, i, dir);
        snprintf(run, sizeof run, "%s/run.json", dir);
        snprintf(frames, sizeof frames, "%s/frames.csv", dir);
        const struct named_path outputs[] = {
            {"--framemd5", options->framemd5_path}, {"--record", has_record ? run : NULL},
            {"--record", has_record ? frames : NULL}, {NULL, NULL},
        };
        const struct named_path inputs[] = {{"film", local_path(options->files[i], film)}, {NULL, NULL}};
        if (!output_paths_check("dlex-play", outputs, inputs))
            return false;
    }
    return true;
}

static void account(struct outcome *outcome, const struct playback_result *result)
{
    const enum playback_end end = result->end;
    outcome->no_device = end == PLAYBACK_NO_DEVICE || end == PLAYBACK_NOT_PLACED;
    outcome->played += end != PLAYBACK_UNPLAYABLE && !outcome->no_device;
    outcome->failed += end == PLAYBACK_UNPLAYABLE;
    outcome->by_signal = end == PLAYBACK_SIGNAL || signal_seen;
    outcome->over = end == PLAYBACK_QUIT || outcome->no_device || outcome->by_signal;
    outcome->sound_lost = outcome->sound_lost || end == PLAYBACK_SOUND_LOST;
    outcome->rest_lost = outcome->rest_lost || result->rest_lost;
    outcome->record_lost = outcome->record_lost || result->record_lost;
}

static struct threads_place find_threads_place(const struct options *options)
{
    struct threads_place place = options_threads_place(options);
    place.cpus = options->placement.cpu >= 0 ? 1 : cpu_limits_affinity();
    place.quota_cpus = cpu_limits_quota(&control_groups_of_system);
    place.most = threads_wish_most(control_groups_thread_room(&control_groups_of_system));
    return place;
}

static struct outcome play_files(const struct options *options)
{
    const struct threads_place threads_place = find_threads_place(options);
    struct outcome outcome = {0};
    struct video_sink *screen = NULL;
    struct decode_thread *decode_thread = NULL;
    char record_dir[PATH_MAX];
    terminal_start();
    for (int i = 0; i < options->file_count && !outcome.over; i++) {
        const struct playback_setup setup = {
            .options = options,
            .path = options->files[i],
            .threads_place = threads_place,
            .record_dir = record_dir_of(options, i, record_dir),
            .framemd5 = framemd5,
            .ticks = &ticks,
            .decode_thread = &decode_thread,
            .screen = &screen,
            .signal_seen = &signal_seen,
        };
        log_begin_file();
        const struct playback_result result = playback_run(&setup);
        account(&outcome, &result);
    }
    terminal_stop();
    decode_thread_destroy(&decode_thread);
    video_sink_destroy(&screen);
    return outcome;
}

static enum exit_code exit_code_of(const struct outcome *outcome)
{
    if (outcome->by_signal)
        return EXIT_SIGNAL;
    if (outcome->record_lost || outcome->sound_lost || outcome->no_device)
        return EXIT_SETUP;
    if (!outcome->failed && !outcome->rest_lost)
        return EXIT_PLAYED;
    return outcome->played ? EXIT_SOME_PLAYED : EXIT_NOTHING_PLAYED;
}

static int prepare_deadlines(const struct options *options)
{
    if (options->policy.drop != DROP_DEADLINE)
        return 0;
    const int ret = dlex_thread_init();
    if (ret < 0)
        log_error("deadlines need a timer, and this system gives none: %s; try --drop=none, or a higher limit of pending "
                  "signals (ulimit -i)", strerror(-ret));
    return ret;
}

/* Standard output, pipes and devices are written directly; any other file is left as it was. */
static void report_lost_framemd5(const char *path, int error)
{
    const bool is_standard_output = !strcmp(path, "-");
    struct stat facts;
    const bool is_direct = is_standard_output || (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode));
    log_error("cannot write %s: %s; %s", is_standard_output ? "to standard output" : path, strerror(-error),
              is_direct ? "what was written there is not complete" : "nothing was left there");
}

int main(int argc, char **argv)
{
    struct options options;
    standard_output_begin("dlex-play", EXIT_SETUP);
    options_parse(&options, argc, argv);
    log_init(options.quiet);
    catch_signals();
    thread_role_take(options.queue.kind == QUEUE_NONE ? ROLE_DECODE | ROLE_PRESENT : ROLE_PRESENT);
    if (placement_prepare(&options.placement) < 0)
        return EXIT_SETUP;
    /* Twice: only in folders that exist two files can be compared. */
    if (!check_outputs(&options) || prepare_records(&options) < 0 || !check_record_folders(&options) || !check_outputs(&options))
        return EXIT_SETUP;
    if (prepare_deadlines(&options) < 0)
        return EXIT_SETUP;
    if (options.tick_table && picture_ticks_open(&ticks, options.tick_table) < 0)
        return EXIT_SETUP;
    if (options.framemd5_path) {
        const int ret = framemd5_create(&framemd5, options.framemd5_path);
        if (ret < 0) {
            log_error("cannot write %s: %s", options.framemd5_path, strerror(-ret));
            return EXIT_SETUP;
        }
        atexit(close_framemd5_at_exit);
    }
    struct outcome outcome = play_files(&options);
    picture_ticks_close(&ticks);
    const int ret = framemd5_close(&framemd5);
    if (ret < 0) {
        report_lost_framemd5(options.framemd5_path, ret);
        outcome.record_lost = true;
    }
    return exit_code_of(&outcome);
}
