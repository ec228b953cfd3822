/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run_record.h"

#include "build_facts.h"
#include "freeze.h"
#include "loss_windows.h"
#include "machine.h"
#include "ns.h"
#include "whole_file.h"

#include <errno.h>
#include <jansson.h>
#include <libavutil/avutil.h>
#include <libavutil/mem.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_directories(const char *dir)
{
    char path[PATH_MAX];
    if (!*dir)
        return -ENOENT;
    if (snprintf(path, sizeof path, "%s", dir) >= (int)sizeof path)
        return -ENAMETOOLONG;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
}

static int path_in(char path[PATH_MAX], const char *dir, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int run_record_prepare(const char *dir)
{
    char path[PATH_MAX];
    int ret = make_directories(dir);
    static const char *const names[] = {"frames.csv", "run.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !ret; i++) {
        ret = path_in(path, dir, names[i]);
        if (!ret && !access(path, F_OK))
            ret = -EEXIST;
    }
    if (ret)
        return ret;
    struct whole_file trial;
    ret = whole_file_open(&trial, path);
    if (!ret)
        whole_file_abandon(&trial);
    return ret;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *default_or_seconds(int64_t ns)
{
    return ns < 0 ? json_null() : json_real(ns_to_s(ns));
}

static json_t *window_option(const struct window *window)
{
    return window->y > 0 ? json_sprintf("%d/%d", window->x, window->y) : json_null();
}

static json_t *options_json(const struct run_settings *settings)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:b, s:s, s:o, s:s, s:s, s:s, s:s, s:f, s:f, s:b}",
                     "drop", settings->drop,
                     "deadline_rule", settings->deadline_rule,
                     "deadline_base_s", default_or_seconds(settings->deadline_base_ns),
                     "deadline_gain", settings->deadline_gain < 0 ? json_null() : json_real(settings->deadline_gain),
                     "strict", settings->strict,
                     "skip_to_key", settings->skip_to_key,
                     "window", window_option(&settings->window),
                     "degrade", settings->degrade,
                     "threads", settings->threads,
                     "ao", settings->audio_kind,
                     "vo", settings->video_kind,
                     "start_s", ns_to_s(settings->start_ns),
                     "length_s", ns_to_s(settings->length_ns),
                     "untimed", settings->untimed);
}

static json_t *rational_json(AVRational value)
{
    return json_sprintf("%d/%d", value.num, value.den);
}

static json_t *video_json(const struct run_facts *facts)
{
    const AVStream *const stream = facts->clip->video;
    if (!stream)
        return json_null();
    const AVCodecParameters *const codec = stream->codecpar;
    return json_pack("{s:i, s:s?, s:b, s:i, s:i, s:o, s:o, s:I}",
                     "stream_index", stream->index,
                     "codec", facts->decoder,
                     "gate", facts->has_gate,
                     "width", codec->width,
                     "height", codec->height,
                     "time_base", rational_json(stream->time_base),
                     "frame_rate", rational_json(av_guess_frame_rate(facts->clip->format, facts->clip->video, NULL)),
                     "frame_duration_ns", (json_int_t)frame_duration_ns(clip_frame_duration(facts->clip)));
}

static json_t *audio_json(const struct run_facts *facts)
{
    const AVStream *const stream = facts->clip->audio;
    if (!stream)
        return json_null();
    return json_pack("{s:i, s:s, s:i, s:i}",
                     "stream_index", stream->index,
                     "codec", avcodec_get_name(stream->codecpar->codec_id),
                     "rate", stream->codecpar->sample_rate,
                     "channels", stream->codecpar->ch_layout.nb_channels);
}

/* Returns a path as a JSON string. JSON strings are UTF-8, so bytes of another encoding are written in the form %E9. */
static json_t *path_json(const char *path)
{
    json_t *const plain = json_string(path);
    if (plain)
        return plain;
    char escaped[3 * PATH_MAX + 1];
    size_t length = 0;
    for (; *path && length + 4 < sizeof escaped; path++)
        length += (size_t)sprintf(escaped + length, (unsigned char)*path < 0x80 ? "%c" : "%%%02X", (unsigned char)*path);
    return json_string(escaped);
}

/* Returns null for a pipe, because its contents cannot be read again. */
static json_t *sha256_json(const char *path)
{
    char hex[65];
    struct stat facts;
    if (stat(path, &facts) || !S_ISREG(facts.st_mode) || clip_sha256(path, hex))
        return json_null();
    return json_string(hex);
}

json_t *run_record_media(const struct run_facts *facts)
{
    char *const full = realpath(facts->media_path, NULL);
    json_t *const media = json_pack("{s:o, s:o, s:s, s:f, s:f, s:o, s:o}",
                                    "path", path_json(full ? full : facts->media_path),
                                    "sha256", sha256_json(facts->media_path),
                                    "format", facts->clip->format->iformat->name,
                                    "start_s", ns_to_s(clip_start_ns(facts->clip)),
                                    "duration_s", ns_to_s(clip_duration_ns(facts->clip)),
                                    "video", video_json(facts),
                                    "audio", audio_json(facts));
    free(full);
    return media;
}

/* What the rows say of the whole run. */
struct run_totals {
    struct totals pictures;
    int64_t longest_freeze_ns; /* see freeze.h */
    struct loss_windows windows;
};

static json_t *totals_json(const struct run_totals *run)
{
    const struct totals *const totals = &run->pictures;
    const int64_t freeze_ns = run->longest_freeze_ns;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}",
                     "shown", (json_int_t)totals->shown,
                     "dropped", (json_int_t)(totals->aborted + totals->skipped + totals->late),
                     "aborted", (json_int_t)totals->aborted,
                     "skipped", (json_int_t)totals->skipped,
                     "late", (json_int_t)totals->late,
                     "longest_freeze_s", freeze_ns == FIELD_EMPTY ? json_null() : json_real(ns_to_s(freeze_ns)));
}

static json_t *window_json(const struct loss_windows *windows)
{
    if (windows->window.y == 0)
        return json_null();
    return json_pack("{s:i, s:i, s:I, s:I}",
                     "x", windows->window.x,
                     "y", windows->window.y,
                     "violations_sliding", (json_int_t)windows->violations_sliding,
                     "violations_aligned", (json_int_t)windows->violations_aligned);
}

static json_t *asked_policy(const struct placement *asked)
{
    char text[THREAD_POLICY_TEXT_SIZE];
    if (asked->rate.cost_ms > 0)
        return json_sprintf("rm:guaranteed:%.10g", asked->rate.cost_ms);
    if (asked->rate.is_asked)
        return json_string(asked->rate.is_guaranteed ? "rm:guaranteed" : "rm");
    return asked->has_policy ? json_string(thread_policy_text(&asked->policy, text)) : json_null();
}

static json_t *thread_json(const struct thread_facts *thread)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", thread->name, "roles", thread->roles, "policy", thread->policy,
                     "slice_ms", thread->slice_ns ? json_real(ns_to_ms(thread->slice_ns)) : json_null(), "cpus", thread->cpus);
}

/* The playing threads come first in the list. */
static json_t *scheduling_json(const struct run_facts *facts)
{
    const struct placement *const asked = facts->settings->placement;
    json_t *const threads = json_array();
    for (int i = 0; i < facts->placement->thread_count; i++)
        json_array_append_new(threads, thread_json(&facts->placement->threads[i]));
    return json_pack("{s:o, s:o, s:s?, s:o}",
                     "asked", asked_policy(asked),
                     "cpu", asked->cpu < 0 ? json_null() : json_integer(asked->cpu),
                     "applied", facts->placement->thread_count ? facts->placement->threads[0].policy : NULL,
                     "threads", threads);
}

static json_t *queue_json(const struct queue_facts *queue)
{
    json_t *const json = json_pack("{s:s}", "asked", queue->asked);
    if (json && queue->is_used)
        json_object_update_new(json, json_pack("{s:f, s:I, s:I}",
                                               "pictures_mean", queue->pictures_mean,
                                               "pictures_max", (json_int_t)queue->pictures_max,
                                               "bytes_max", (json_int_t)queue->bytes_max));
    return json;
}

static json_t *decoding_json(const struct decoding_facts *decoding)
{
    if (!decoding->kind)
        return json_null();
    return json_pack("{s:i, s:i, s:s}", "threads_max", decoding->threads_max, "threads", decoding->threads, "kind", decoding->kind);
}

static json_t *limits_json(const struct limits_history *history)
{
    json_t *const seen = json_array();
    for (int64_t i = 0; i < history->count && i < LIMITS_HISTORY_MAX; i++) {
        const struct cpu_limits *const limits = &history->seen[i].limits;
        json_array_append_new(seen, json_pack("{s:I, s:i, s:o}",
                                              "at_ns", (json_int_t)history->seen[i].at_ns,
                                              "cpus", limits->cpus,
                                              "quota", isinf(limits->quota) ? json_null() : json_real(limits->quota)));
    }
    return json_pack("{s:I, s:o}", "count", (json_int_t)history->count, "seen", seen);
}

static json_t *run_json(const struct run_facts *facts, const struct run_totals *totals)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o}",
                     "format", RUN_RECORD_FORMAT,
                     "version", PROGRAM_VERSION,
                     "commit", DLEX_COMMIT,
                     "ffmpeg", av_version_info(),
                     "options", options_json(facts->settings),
                     "media", run_record_media(facts),
                     "machine", machine_facts(),
                     "scheduling", scheduling_json(facts),
                     "audio_sink", text_or_null(facts->audio_sink),
                     "video_sink", text_or_null(facts->video_sink),
                     "clock", facts->clock,
                     "ended", facts->ended,
                     "decoding", decoding_json(&facts->decoding),
                     "queue", queue_json(&facts->queue),
                     "cpu_limits", limits_json(facts->limits),
                     "started_ns", (json_int_t)facts->started_ns,
                     "ended_ns", (json_int_t)facts->ended_ns,
                     "process_cpu_ns", (json_int_t)facts->process_cpu_ns,
                     "held_cpu_ns", (json_int_t)facts->held_cpu_ns,
                     "totals", totals_json(totals),
                     "window", window_json(&totals->windows));
}

static int write_run(FILE *out, const struct run_facts *facts, const struct run_totals *totals)
{
    json_t *const run = run_json(facts, totals);
    if (!run)
        return -ENOMEM;
    const int ret = json_dumpf(run, out, JSON_INDENT(2)) ? -EIO : 0;
    fputc('\n', out);
    json_decref(run);
    return ret;
}

/* Counts the totals from the rows that are written, so that the two files agree. */
static int write_frames(FILE *out, const struct frame_log *log, const struct window *window, struct run_totals *totals)
{
    struct frame_record *rows = NULL;
    const int64_t count = frame_log_finish(log, &rows);
    int ret = count < 0 ? (int)count : frame_record_write_header(out);
    *totals = (struct run_totals){totals_of(rows, count), freeze_longest_ns(rows, count), loss_windows_of(window, rows, count)};
    for (int64_t i = 0; i < count && !ret; i++)
        ret = frame_record_write(out, &rows[i]);
    free(rows);
    return ret;
}

int run_record_write(const char *dir, const struct run_facts *facts, const struct frame_log *log)
{
    char path[PATH_MAX];
    struct whole_file run = {0};
    struct whole_file frames = {0};
    struct run_totals totals;
    int ret = path_in(path, dir, "frames.csv");
    if (!ret)
        ret = whole_file_open(&frames, path);
    if (!ret)
        ret = path_in(path, dir, "run.json");
    if (!ret)
        ret = whole_file_open(&run, path);
    if (!ret)
        ret = write_frames(frames.out, log, &facts->settings->window, &totals);
    if (!ret)
        ret = write_run(run.out, facts, &totals);
    if (!ret)
        ret = whole_file_commit(&frames);
    if (ret)
        goto fail;
    ret = whole_file_commit(&run);
    if (!ret)
        return 0;
    unlink(frames.path); /* run.json marks a complete record: without it there is no record */
fail:
    whole_file_abandon(&run);
    whole_file_abandon(&frames);
    return ret;
}
