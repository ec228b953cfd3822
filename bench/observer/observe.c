/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-bench-observe: records a player as seen and heard from outside. Only this file knows all the others. The program
 * ends by its return from main, or in observe_options.c through argp, which exits after --help and a wrong option.
 */
#include "observed_run.h"
#include "observing_thread.h"
#include "run_record.h"
#include "standard_output.h"

#include <dlex/dlex.h>
#include <libavutil/log.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ns.h"
#include "stamp.h"

enum exit_code { EXIT_WRITTEN = 0, EXIT_SETUP = 1, EXIT_NOTHING_OBSERVED = 2 };

enum { WHY_SIZE = 256 };

/*
 * Changes for each picture: two edges, each perhaps unreadable in between. The same number again is for pictures that
 * come back.
 */
enum { CHANGES_PER_PICTURE = 8, MORE_CHANGES = 65536 };

static atomic_bool stop;

static void on_signal(int number)
{
    (void)number;
    atomic_store_explicit(&stop, true, memory_order_relaxed);
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART, so that a signal ends the sleep */
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

__attribute__((format(printf, 2, 3)))
static enum exit_code complain(enum exit_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("dlex-bench-observe: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

struct observation {
    struct observe_options options;
    struct clip clip;
    struct clip_times times;
    struct xwd_screen screen;
    struct screen_watch watch;
    struct monitor_source *source;
    struct monitor_record sound;
};

static enum exit_code open_clip(struct observation *it)
{
    char why[WHY_SIZE];
    const struct observe_options *const options = &it->options;
    if (clip_open(&it->clip, options->media_path, NULL, why, sizeof why) < 0 ||
        clip_times_read(&it->times, &it->clip, why, sizeof why) < 0)
        return complain(EXIT_SETUP, "%s: %s", options->media_path, why);
    const int64_t frame_ns = frame_duration_ns(clip_frame_duration(&it->clip));
    if (options->frame_ns && llabs(options->frame_ns - frame_ns) > frame_ns / 100)
        return complain(EXIT_SETUP, "%s: a picture lasts %.3f ms, not the %.3f of --frame-ns; name the clip played",
                        options->media_path, ns_to_ms(frame_ns), ns_to_ms(options->frame_ns));
    if (it->times.pts_ns[it->times.count - 1] < options->first_pts_ns)
        return complain(EXIT_SETUP, "%s ends before --first-pts-ns", options->media_path);
    return EXIT_WRITTEN;
}

static enum exit_code open_screen(struct observation *it)
{
    char why[WHY_SIZE];
    struct observe_options *const options = &it->options;
    if (xwd_screen_open(&it->screen, options->screen_path, why, sizeof why) < 0)
        return complain(EXIT_SETUP, "%s: %s", options->screen_path, why);
    if (!options->width) {
        options->width = it->clip.video->codecpar->width;
        options->height = it->clip.video->codecpar->height;
    }
    if (options->width > it->screen.width || options->height > it->screen.height)
        return complain(EXIT_SETUP, "the screen of %dx%d is smaller than the picture of %dx%d; start a larger Xvfb",
                        it->screen.width, it->screen.height, options->width, options->height);
    if (options->width < STAMP_WIDTH || options->height < 2 * STAMP_BLOCK)
        return complain(EXIT_SETUP, "a picture of %dx%d is too small for stamps of %dx%d; play a larger clip",
                        options->width, options->height, (int)STAMP_WIDTH, (int)STAMP_BLOCK);
    const size_t room = (size_t)it->times.count * CHANGES_PER_PICTURE + MORE_CHANGES;
    if (screen_watch_init(&it->watch, &it->screen, options->height, options->rate_hz, room) < 0)
        return complain(EXIT_SETUP, "out of memory");
    return EXIT_WRITTEN;
}

static enum exit_code open_sound(struct observation *it)
{
    char why[WHY_SIZE];
    const struct observe_options *const options = &it->options;
    if (!options->sound)
        return EXIT_WRITTEN;
    const double length_s = ns_to_s(clip_duration_ns(&it->clip));
    if (monitor_source_open(&it->source, options->sound, length_s, &stop, why, sizeof why) < 0)
        return complain(EXIT_SETUP, "the source %s: %s; pactl list short sources names them", options->sound, why);
    return EXIT_WRITTEN;
}

static enum exit_code prepare(struct observation *it)
{
    const struct observe_options *const options = &it->options;
    int ret = options->cpu >= 0 ? observing_thread_place(options->cpu) : 0;
    if (ret < 0)
        return complain(EXIT_SETUP, "cannot run on CPU %d: %s", options->cpu, strerror(-ret));
    ret = run_record_prepare(options->out_dir);
    if (ret < 0)
        return complain(EXIT_SETUP, "the record cannot be written to %s: %s", options->out_dir,
                        ret == -EEXIST ? "a record is already there" : strerror(-ret));
    enum exit_code code = open_clip(it);
    if (!code)
        code = open_screen(it);
    return code ? code : open_sound(it);
}

static enum exit_code judge_end(struct observation *it)
{
    char why[WHY_SIZE];
    if (it->source && monitor_source_end(it->source, &it->sound, why, sizeof why) < 0)
        return complain(EXIT_NOTHING_OBSERVED, "%s; nothing was written", why);
    if (it->watch.screen_lost)
        return complain(EXIT_NOTHING_OBSERVED, "the screen %s was lost: its X server has ended; nothing was written",
                        it->options.screen_path);
    return EXIT_WRITTEN;
}

static enum exit_code write_down(const struct observation *it, struct observed_run *run)
{
    if (observed_run_evaluate(run) < 0)
        return complain(EXIT_SETUP, "out of memory");
    if (!run->sightings.shown)
        return complain(EXIT_NOTHING_OBSERVED, "no stamped picture was ever whole on the screen; play a clip with "
                        "stamps (media/make --list), unscaled, in the upper left corner");
    const int ret = observed_run_write(run);
    if (ret < 0)
        return complain(EXIT_SETUP, "cannot write the record to %s: %s; nothing was left there", it->options.out_dir,
                        strerror(-ret));
    return EXIT_WRITTEN;
}

static enum exit_code observe(struct observation *it)
{
    const char *const sched = observing_thread_hurry();
    struct observed_run run = {
        .options = &it->options, .clip = &it->clip, .times = &it->times, .watch = &it->watch, .sched = sched,
    };
    puts("observing");
    if (standard_output_flush())
        return EXIT_SETUP; /* it is reported when the program ends */
    const double cpu_before_s = observing_thread_cpu_s();
    run.started_ns = dlex_now_ns();
    screen_watch_run(&it->watch, &stop);
    run.ended_ns = dlex_now_ns();
    run.cpu_s = observing_thread_cpu_s() - cpu_before_s;
    enum exit_code code = judge_end(it);
    run.sound = it->source ? &it->sound : NULL;
    if (!code)
        code = write_down(it, &run);
    observed_run_finish(&run);
    return code;
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-bench-observe", EXIT_SETUP);
    struct observation it = {.screen = {.fd = -1}};
    observe_options_parse(&it.options, argc, argv);
    av_log_set_level(AV_LOG_QUIET);
    catch_signals();
    enum exit_code code = prepare(&it);
    if (!code)
        code = observe(&it);
    monitor_source_close(&it.source);
    screen_watch_finish(&it.watch);
    xwd_screen_close(&it.screen);
    clip_times_finish(&it.times);
    clip_close(&it.clip);
    return code;
}
