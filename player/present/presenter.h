/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What happens to a picture that comes out of the decoder: its verdict, its wait, the screen, its row in the log.
 *
 * Main thread. While a file plays, no other module writes into the frame log: what the decoder knows about a picture comes here as plain data.
 */
#ifndef PLAYER_PRESENTER_H
#define PLAYER_PRESENTER_H

#include "decode_job.h"
#include "division.h"
#include "frame_log.h"
#include "framemd5.h"
#include "lead.h"
#include "media_clock.h"
#include "pace.h"
#include "picture_ticks.h"
#include "policy_present.h"
#include "steering.h"
#include "video_sink.h"

#include <stdbool.h>
#include <stdint.h>

/* The presenter finds the rows of this many last jobs by number. It is far more than any decoder holds back. */
enum { PRESENTER_JOBS = 256 };

struct presenter {
    /* Set by the session; not changed while the file is open. */
    struct media_clock *clock;
    struct steering *steering;
    struct video_sink **screen;
    struct frame_log *log;
    struct framemd5 *framemd5; /* NULL: not wanted */
    struct picture_ticks *ticks;
    struct picture_queue *pictures; /* NULL: nothing is decoded ahead */
    /* Decodes can be given up in the middle, so a droppable picture that came out whole was in time. Not so with AV1: there only
       decodes that have not begun are given up. */
    bool can_abandon;

    struct part part;
    int64_t next_ns; /* PTS of the picture that is to be presented next; NS_UNKNOWN: none came yet */
    struct present_policy policy;
    struct presented presented;
    bool last_job_is_starting; /* see present_policy.h */
    int64_t decode_errors; /* packets that the decoder refused */
    int64_t drawing_ns;    /* what drawing the last picture took, and its CPU time */
    int64_t drawing_cpu_ns;
    struct lead lead;
    struct division division; /* of a reservation; the session asks it */
    int64_t shown_due_ns;     /* when the last shown picture was due; NS_UNKNOWN: none was shown yet */
    int64_t began_ns;      /* when this picture was first shown, before the clock ran; NS_UNKNOWN: the clock ran */
    struct standing {
        struct frame_record *record; /* NULL: no picture stands, or it does not count how long */
        int64_t shown_ns;            /* when it was shown, after the clock began; its row may have an earlier time */
        int64_t paused_ns;           /* media_clock_paused_ns then */
    } standing;                      /* the last shown picture */
    bool show_failed;      /* the screen's failure was logged */
    struct {
        int64_t number; /* JOB_UNKNOWN: none */
        struct frame_row *row;
    } jobs[PRESENTER_JOBS];
    struct frame_row spare_row; /* used when the log has no room */
};

/* Call once, after the fields above are set. */
void presenter_init(struct presenter *presenter, const struct policy_settings *settings);

/* Call at the beginning and at each seek. */
void presenter_restart(struct presenter *presenter, const struct part *part);

/* Makes the row of a packet that was decoded. Call it before presenter_show for the packet's pictures. */
void presenter_note_job(struct presenter *presenter, const struct job_note *note);

/*
 * Presents a picture, or records why not. Blocks until the picture is due; returns early when there is a request. The
 * caller keeps owning the frame's contents.
 */
void presenter_show(struct presenter *presenter, const struct decoded_picture *picture);

/* A request of the user keeps the next picture away: notes how long the last one stood. Call it when the loop ends for a request. */
void presenter_note_request(struct presenter *presenter);

#endif
