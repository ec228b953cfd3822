/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a run record: DIR/run.json and DIR/frames.csv as dlex-play --record=DIR wrote them. */
#ifndef QOE_RECORDED_RUN_H
#define QOE_RECORDED_RUN_H

#include "frame_record.h"
#include "window.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded_run {
    json_t *json; /* run.json; it owns the strings below */
    const char *media_path;
    const char *media_sha256;
    int stream_index; /* of the video in the media */
    struct window window; /* that dlex-play --window asked for; y 0: none */
    struct frame_record *rows; /* in presentation order */
    int64_t count;
    bool is_old; /* the rows do not say how long each picture stood (frame_record.h) */
};

/*
 * Returns 0, or a negative errno with a whole sentence in why ("DIR/frames.csv is damaged in line
 * 7: …"). It refuses a record that cannot be true (record_faults.h) and one of a film from a pipe,
 * and a directory that holds the records of several files, whose names it gives.
 * recorded_run_finish accepts a run of zeros.
 */
int recorded_run_read(struct recorded_run *run, const char *dir, char *why, size_t why_size);
void recorded_run_finish(struct recorded_run *run);

#endif
