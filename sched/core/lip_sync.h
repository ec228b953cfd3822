/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much skew between two media people accept: Table 1 of seed 004 and Recommendation ITU-R BT.1359-1 (1998). Nothing in
 * here measures; dlex-qoe and the laboratory do.
 *
 * The sign is one in the whole project: A-V > 0 means that the video is late. The seed's sign is the same (negative: the video
 * is ahead of the audio), and so is the Recommendation's (positive: the sound is advanced).
 */
#ifndef SCHED_LIP_SYNC_H
#define SCHED_LIP_SYNC_H

#include <stdint.h>

enum medium { MEDIUM_VIDEO, MEDIUM_AUDIO, MEDIUM_ANIMATION, MEDIUM_IMAGE, MEDIUM_TEXT, MEDIUM_POINTER };

/* A row of Table 1: the skew may lie from least_ms to most_ms. */
struct skew_limit {
    enum medium first;
    enum medium second;
    const char *mode;
    int least_ms; /* negative */
    int most_ms;
};

enum { SKEW_LIMITS = 14 };

/*
 * Table 1, in the seed's order; an entry with two modes has two rows. For audio and pointer, negative means that the pointer is
 * ahead. The second row, video and audio, is lip synchronisation.
 */
extern const struct skew_limit skew_limits[SKEW_LIMITS];
enum { SKEW_LIP_SYNC = 1 };

/* Grades of the seed for lip synchronisation. */
enum lip_sync {
    LIP_SYNC_ACCEPTED,    /* within +/- 80 ms: accepted by most casual observers */
    LIP_SYNC_IRRITATING,  /* between: the content can still be followed */
    LIP_SYNC_DISTRACTING, /* video ahead by 240 ms or late by 160 ms: real distraction, severe annoyance */
};

enum lip_sync lip_sync_grade(int64_t skew_ns);
const char *lip_sync_name(enum lip_sync grade);

/* Grades of BT.1359-1, considering g, by the averages of its subjective evaluations. */
enum lip_sync_itu {
    LIP_SYNC_ITU_UNDETECTED,   /* from -125 to +45 ms */
    LIP_SYNC_ITU_ACCEPTABLE,   /* from -185 to +90 ms: detected, but accepted */
    LIP_SYNC_ITU_UNACCEPTABLE,
};

enum lip_sync_itu lip_sync_itu_grade(int64_t skew_ns);
const char *lip_sync_itu_name(enum lip_sync_itu grade);

#endif
