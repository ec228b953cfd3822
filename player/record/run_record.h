/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.json and frames.csv of one played file: opened before playing, written after it, whole or not at all.
 */
#ifndef PLAYER_RUN_RECORD_H
#define PLAYER_RUN_RECORD_H

#include "clip.h"
#include "frame_log.h"
#include "placement.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was asked for on the command line. Strings belong to the caller. */
struct run_settings {
    const char *drop;          /* the words of --drop and --deadline-rule */
    const char *deadline_rule;
    int64_t deadline_base_ns;  /* < 0: the rule's own */
    double deadline_gain;      /* < 0: the rule's own */
    const char *audio_kind;    /* the words of --ao and --vo */
    const char *video_kind;
    int64_t start_ns;
    int64_t length_ns;         /* 0: to the end */
    bool untimed;
    const struct placement *placement;
};

/* What run.json tells besides the frames. Strings belong to the caller. */
struct run_facts {
    const struct run_settings *settings;
    const char *media_path;
    const struct clip *clip;
    const char *decoder;    /* "h264 (High)"; NULL: no video */
    bool has_gate;
    const char *audio_sink; /* "pulse", "null"; NULL: no sound */
    const char *video_sink; /* "sdl", "null"; NULL: no video */
    const char *clock;      /* "audio" or "monotonic" */
    const char *ended;      /* "end", "quit", "signal" or "display lost" */
    int64_t started_ns;     /* CLOCK_MONOTONIC */
    int64_t ended_ns;
    int64_t process_cpu_ns; /* at ended_ns, since the program's start: CPU time of all its threads … */
    int64_t main_cpu_ns;    /* … and of the main one */
    const struct placement_facts *placement;
};

/*
 * Before playing: makes the directory (and its parents) and sees that a record can be written there. A directory that
 * holds a run.json already is refused, -EEXIST: a record is not overwritten. Returns 0 or a negative errno.
 */
int run_record_prepare(const char *dir);

/*
 * After playing: writes both files. Reads the whole media file for its SHA-256 (some 3 s for 1 GB). Returns 0, or a negative
 * errno with neither file left behind.
 */
int run_record_write(const char *dir, const struct run_facts *facts, const struct frame_log *log);

/*
 * What run.json tells of the media, as a new reference: of the facts, clip, media_path, decoder and has_gate are read. The
 * file's SHA-256 is computed here.
 */
json_t *run_record_media(const struct run_facts *facts);

#endif
