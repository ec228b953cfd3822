/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observed_run.h"

#include "build_facts.h"
#include "frame_record.h"
#include "freeze.h"
#include "machine.h"
#include "ns.h"
#include "run_record.h"
#include "whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>


/* Selects the pictures from first_pts_ns on, as many as were requested. */
static void choose_pictures(struct observed_run *run)
{
    const struct clip_times *const times = run->times;
    while (run->first < times->count && times->pts_ns[run->first] < run->options->first_pts_ns)
        run->first++;
    run->count = times->count - run->first;
    if (run->options->frames && run->options->frames < run->count)
        run->count = run->options->frames;
}

/*
 * Returns half the duration of a picture. A picture that becomes whole later than this was torn for most of its time.
 */
static int64_t torn_after_ns(const struct observed_run *run)
{
    return frame_duration_ns(clip_frame_duration(run->clip)) / 2;
}

int observed_run_evaluate(struct observed_run *run)
{
    choose_pictures(run);
    const struct sightings_clip clip = {
        .count = run->times->count,
        .first = run->first,
        .played = run->count,
        .torn_after_ns = torn_after_ns(run),
    };
    int ret = sightings_of(&run->sightings, run->watch->change, run->watch->change_count, &clip);
    if (ret < 0)
        return ret;
    for (int64_t i = run->first; i < run->first + run->count; i++)
        run->shown += run->sightings.first_ns[i] != FIELD_EMPTY;
    const struct monitor_record *const sound = run->sound;
    if (!sound)
        return 0;
    return heard_clock_make(&run->clock, sound->burst, sound->burst_count, sound->report, sound->report_count,
                            sound->rate, run->times->pts_ns[0], run->options->first_pts_ns);
}

void observed_run_finish(struct observed_run *run)
{
    sightings_finish(&run->sightings);
    heard_clock_finish(&run->clock);
}

static json_t *options_json(const struct observed_run *run)
{
    const struct observe_options *const options = run->options;
    return json_pack("{s:s, s:s?, s:f, s:i, s:I, s:I, s:i}", "screen", options->screen_path, "sound", options->sound,
                     "rate_hz", options->rate_hz, "cpu", options->cpu, "frames", (json_int_t)options->frames,
                     "first_pts_ns", (json_int_t)options->first_pts_ns, "height", run->watch->picture_height);
}

static json_t *screen_json(const struct observed_run *run)
{
    const struct screen_watch *const watch = run->watch;
    const struct sightings *const seen = &run->sightings;
    return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:f, s:I, s:f, s:I}",
                     "looks", (json_int_t)watch->looks, "looks_missed", (json_int_t)watch->looks_missed,
                     "looks_torn", (json_int_t)watch->looks_torn, "changes_lost", (json_int_t)watch->changes_lost,
                     "look_late_us_p50", ns_to_us(screen_watch_lateness_ns(watch, 0.5)),
                     "look_late_us_p99", ns_to_us(screen_watch_lateness_ns(watch, 0.99)),
                     "look_late_us_worst", ns_to_us(watch->worst_late_ns),
                     "pictures_torn", (json_int_t)seen->torn, "pictures_only_torn", (json_int_t)seen->only_torn,
                     "torn_after_ms", ns_to_ms(torn_after_ns(run)),
                     "pictures_returned", (json_int_t)seen->returned, "torn_s", ns_to_s(seen->torn_ns),
                     "pictures_seen", (json_int_t)seen->shown);
}

static json_t *sound_json(const struct observed_run *run)
{
    const struct monitor_record *const sound = run->sound;
    if (!sound)
        return json_null();
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "rate", sound->rate, "tones", (json_int_t)run->clock.count,
                     "breaks", (json_int_t)run->clock.breaks, "odd_sounds", (json_int_t)sound->odd_sounds,
                     "holes_frames", (json_int_t)sound->holes_frames, "reports", (json_int_t)sound->report_count,
                     "lost", (json_int_t)sound->lost);
}

static json_t *observer_json(const struct observed_run *run)
{
    const double wall_s = ns_to_s(run->ended_ns - run->started_ns);
    return json_pack("{s:s, s:f, s:f, s:o, s:o}", "sched", run->sched, "cpu_s", run->cpu_s,
                     "cpu_fraction", wall_s > 0 ? run->cpu_s / wall_s : 0, "screen", screen_json(run),
                     "sound", sound_json(run));
}

static json_t *run_json(const struct observed_run *run)
{
    const struct run_facts media = {.media_path = run->options->media_path, .clip = run->clip};
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:s?, s:I, s:I, s:{s:I, s:I, s:I}, s:o}",
                     "format", RUN_RECORD_FORMAT, "version", PROGRAM_VERSION, "commit", DLEX_COMMIT, "view", "outside",
                     "options", options_json(run), "media", run_record_media(&media), "machine", machine_facts(),
                     "clock", run->clock.count ? "audio" : NULL,
                     "started_ns", (json_int_t)run->started_ns, "ended_ns", (json_int_t)run->ended_ns,
                     "totals", "shown", (json_int_t)run->shown, "dropped", (json_int_t)(run->count - run->shown),
                     "unseen", (json_int_t)(run->count - run->shown), "observer", observer_json(run));
}

static int write_run(FILE *out, const struct observed_run *run)
{
    json_t *const json = run_json(run);
    if (!json)
        return -ENOMEM;
    const int ret = json_dumpf(json, out, JSON_INDENT(2)) ? -EIO : 0;
    fputc('\n', out);
    json_decref(json);
    return ret;
}

/* The skew is unknown before the sound begins: a first picture that waits on the screen for the sound is not early. */
static int64_t skew_ns(const struct observed_run *run, int64_t pts_ns, int64_t shown_ns)
{
    const int64_t position_ns = heard_clock_position_ns(&run->clock, shown_ns);
    const int64_t start_ns = run->times->pts_ns[run->first];
    return position_ns == FIELD_EMPTY || position_ns < start_ns ? FIELD_EMPTY : position_ns - pts_ns;
}

static struct frame_record row_of(const struct observed_run *run, int64_t index)
{
    struct frame_record row = frame_record_empty();
    row.index = index;
    row.pts_ns = run->times->pts_ns[run->first + index];
    row.shown_ns = run->sightings.first_ns[run->first + index];
    row.verdict = row.shown_ns == FIELD_EMPTY ? VERDICT_UNSEEN : VERDICT_SHOWN;
    if (row.verdict == VERDICT_SHOWN)
        row.skew_ns = skew_ns(run, row.pts_ns, row.shown_ns);
    return row;
}

/* A pause or a seek of the player cannot be seen from outside; nobody asks for one while a player is observed. */
static int write_frames(FILE *out, const struct observed_run *run)
{
    struct frame_record *const rows = malloc((size_t)(run->count + 1) * sizeof *rows);
    for (int64_t i = 0; rows && i < run->count; i++)
        rows[i] = row_of(run, i);
    int ret = rows ? freeze_note_stood(rows, run->count) : -ENOMEM;
    if (!ret)
        ret = frame_record_write_header(out);
    for (int64_t i = 0; i < run->count && !ret; i++)
        ret = frame_record_write(out, &rows[i]);
    free(rows);
    return ret;
}

static void write_number(FILE *out, int number)
{
    if (number >= 0)
        fprintf(out, ",%d", number);
    else
        fputc(',', out);
}

static int write_screen(FILE *out, const struct observed_run *run)
{
    fputs("time_ns,top,bottom,last_ns\n", out);
    for (size_t i = 0; i < run->watch->change_count; i++) {
        const struct screen_change *const change = &run->watch->change[i];
        fprintf(out, "%" PRId64, change->time_ns);
        write_number(out, change->top);
        write_number(out, change->bottom);
        fprintf(out, ",%" PRId64 "\n", change->last_ns);
    }
    return ferror(out) ? -EIO : 0;
}

static int write_sound(FILE *out, const struct observed_run *run)
{
    fputs("time_ns,second\n", out);
    for (int64_t i = 0; i < run->clock.count; i++)
        fprintf(out, "%" PRId64 ",%.6f\n", run->clock.tone[i].time_ns,
                ns_to_s(run->clock.tone[i].position_ns));
    return ferror(out) ? -EIO : 0;
}

struct part {
    const char *name;
    int (*write)(FILE *out, const struct observed_run *run);
};

/* run.json marks a complete record, so it comes last. */
static const struct part parts[] = {
    {"screen.csv", write_screen},
    {"sound.csv", write_sound},
    {"frames.csv", write_frames},
    {"run.json", write_run},
};

enum { PARTS = sizeof parts / sizeof *parts };

static int write_part(struct whole_file *file, const struct part *part, const struct observed_run *run)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", run->options->out_dir, part->name) >= PATH_MAX)
        return -ENAMETOOLONG;
    const int ret = whole_file_open(file, path);
    return ret ? ret : part->write(file->out, run);
}

/* Writes all files before the first one gets its final name. */
int observed_run_write(const struct observed_run *run)
{
    struct whole_file file[PARTS] = {0};
    int ret = 0;
    int named = 0;
    for (int i = 0; i < PARTS && !ret; i++)
        ret = write_part(&file[i], &parts[i], run);
    for (; named < PARTS && !ret; named++)
        ret = whole_file_commit(&file[named]);
    for (int i = 0; i < PARTS && ret; i++) {
        if (i < named - 1)
            unlink(file[i].path);
        whole_file_abandon(&file[i]);
    }
    return ret;
}
