/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.json and frames.csv of one played file: prepared before playing, and written after it, completely or not at all.
 */
#ifndef PLAYER_RUN_RECORD_H
#define PLAYER_RUN_RECORD_H

#include "clip.h"
#include "frame_log.h"
#include "limits_history.h"
#include "placement.h"
#include "window.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUN_RECORD_FORMAT = 1 }; /* "format" in run.json */

/* The settings from the command line. Strings belong to the caller. */
struct run_settings {
    const char *drop;          /* the words of --drop and --deadline-rule */
    const char *deadline_rule;
    int64_t deadline_base_ns;  /* < 0: the rule's default */
    double deadline_gain;      /* < 0: the rule's default */
    bool strict;               /* --strict */
    const char *skip_to_key;   /* the word of --skip-to-key */
    struct window window;      /* y 0: no --window */
    const char *degrade;       /* the word of --degrade */
    const char *threads;       /* the word of --threads */
    const char *audio_kind;    /* the words of --ao and --vo */
    const char *video_kind;
    int64_t start_ns;
    int64_t length_ns;         /* 0: to the end */
    bool untimed;
    const struct placement *placement;
};

/* How far the pictures were decoded ahead. */
struct queue_facts {
    const char *asked; /* as in --queue */
    bool is_used;      /* false: the serial loop; the rest is 0 */
    double pictures_mean; /* waiting when one was taken, with that one */
    int64_t pictures_max;
    int64_t bytes_max;
};

/* The threads of the video decoder. */
struct decoding_facts {
    int threads_max;  /* what --threads came to */
    int threads;      /* that decode at once: a codec may have fewer */
    const char *kind; /* "none", "frame", "slice" or "own"; NULL: no video was decoded */
};

/* What run.json contains besides the frames. Strings belong to the caller. */
struct run_facts {
    const struct run_settings *settings;
    const char *media_path;
    const struct clip *clip;
    const char *decoder;    /* "h264 (High)"; NULL: no video */
    bool has_gate;
    const char *audio_sink; /* "pulse", "null"; NULL: no sound */
    const char *video_sink; /* "sdl", "null"; NULL: no video */
    const char *clock;      /* "audio" or "monotonic" */
    const char *ended;      /* "end", "quit", "signal", "reading lost", "decoding lost", "sound lost" or "display lost" */
    int64_t started_ns;     /* CLOCK_MONOTONIC */
    int64_t ended_ns;
    int64_t process_cpu_ns; /* at ended_ns, since the program's start: CPU time of all its threads … */
    int64_t held_cpu_ns;    /* … and of those that decode or present */
    const struct placement_facts *placement;
    struct decoding_facts decoding;
    struct queue_facts queue;
    const struct limits_history *limits;
};

/*
 * Call before playing: makes the directory (and its parents) and checks that a record can be written there. If the
 * directory already holds a run.json or a frames.csv, returns -EEXIST, because a record is not overwritten. Returns 0 or a negative
 * errno.
 */
int run_record_prepare(const char *dir);

/*
 * Call after playing: writes both files. Reads the whole media file for its SHA-256 (about 3 s for 1 GB). Returns 0, or
 * a negative errno; neither file is left then.
 */
int run_record_write(const char *dir, const struct run_facts *facts, const struct frame_log *log);

/*
 * Returns run.json's object about the media, as a new reference. Reads only clip, media_path, decoder and has_gate of
 * the facts. Computes the file's SHA-256.
 */
json_t *run_record_media(const struct run_facts *facts);

#endif
