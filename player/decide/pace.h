/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which packets and pictures belong to the part that is played, and which presentation time is next.
 *
 * Time stamps may be missing, and may jump (files put together, a broadcast's new time base). Every seek and every jump
 * begins a new segment. Within a segment the time stamps belong together. Two structs track the segments, each with its
 * own state: feed_pace in decode order, where packets go to the decoder, and show_pace in presentation order, where
 * pictures come out. The functions are pure. Times are ns of the stream, or NS_UNKNOWN where the file does not give
 * one.
 */
#ifndef PLAYER_PACE_H
#define PLAYER_PACE_H

#include "frame_duration.h"

#include <stdbool.h>
#include <stdint.h>

/* A larger difference from the expected time stamp is a jump. No picture lasts so long, and no clock is so wrong. */
#define TIME_STAMP_JUMP_NS INT64_C(10000000000)
/* Time stamps in decode order do not go back, apart from small faults. A larger step is a jump. */
#define TIME_STAMP_BACK_NS INT64_C(1000000000)

/* The part of the file that is to be played. */
struct part {
    int64_t from_ns;           /* pictures before this time are pre-roll of a seek; INT64_MIN: there is no pre-roll */
    int64_t end_ns;            /* pictures from this time on are not played; INT64_MAX: no limit */
    struct frame_duration frame_duration; /* used for a picture without a duration */
};

/* Returns whether a picture is over before the part begins. duration_ns 0: unknown. */
bool part_is_after(const struct part *part, int64_t pts_ns, int64_t duration_ns);

/* The state in decode order. */
struct feed_pace {
    struct part part;
    bool may_jump;       /* time stamps of this format can jump forward; in other formats the picture just lasts long */
    int segment;         /* of the packets that go to the decoder now */
    int back_segment;    /* the last one that began with a jump back; 0: none since the last seek */
    int64_t expected_ns; /* time stamp at which the next packet is expected */
    bool jumped;         /* since the last seek */
    bool key_seen;       /* since the last seek */
};

struct packet_times {
    int64_t dts_ns;
    int64_t pts_ns;
    int64_t duration_ns; /* 0: unknown */
    bool key;
    bool discarded; /* the file says that its picture is decoded, because others refer to it, and is not shown */
};

struct packet_place {
    int segment;
    bool unwanted;    /* pre-roll of a seek, or discarded: its picture is decoded and not shown */
    bool undecodable; /* pre-roll before the first key frame: the decoder has no reference picture for it */
};

/* Call at the beginning and at each seek. The next packet begins a new segment. may_jump is kept. */
void feed_pace_restart(struct feed_pace *pace, const struct part *part);

/*
 * Returns the segment of the next packet in decode order, and whether its picture is wanted. The time stamps of discarded packets
 * are those that the pictures would have if the file were not cut there: beside what is shown, so they never begin a segment.
 */
struct packet_place feed_pace_packet(struct feed_pace *pace, const struct packet_times *packet);

/* The state in presentation order. */
struct show_pace {
    struct part part;
    int segment;         /* of the pictures that come out now; the clock uses its time stamps */
    int64_t first_ns;    /* where reading began: the PTS of a first picture that has no time stamp; or NS_UNKNOWN */
    int64_t next_ns;     /* PTS of the picture that is to be presented next, as far as known */
};

struct picture_place {
    int64_t pts_ns;  /* never unknown */
    bool unwanted;   /* outside the part */
    bool jumped;     /* its segment differs from the last picture's: the time stamps have jumped */
    int64_t jump_ns; /* size of the jump against the expected PTS; NS_UNKNOWN where none was expected */
};

/*
 * Call at the beginning and at each seek. Its pictures have this `segment`. Reading begins at first_ns. NS_UNKNOWN: it begins
 * somewhere before the part, so that pictures without time stamps are not shown until one has a time stamp.
 */
void show_pace_restart(struct show_pace *pace, const struct part *part, int segment, int64_t first_ns);

/*
 * Takes the next picture that came out of the decoder and returns its PTS and whether it is wanted. pts_ns NS_UNKNOWN:
 * the picture follows on from the last one. duration_ns 0: unknown.
 */
struct picture_place show_pace_picture(struct show_pace *pace, int segment, int64_t pts_ns, int64_t duration_ns);

/* Returns when a picture is due. A picture that began before the part is due at the part's start. */
int64_t show_pace_due_ns(const struct show_pace *pace, int64_t pts_ns);

/*
 * Returns the PTS that will be presented once the packet with this PTS is decoded: that of its own picture, or of one
 * that the decoder held back. NS_UNKNOWN: nothing is known, or the packet lies behind a jump and the clock says nothing
 * about it.
 */
int64_t show_pace_next_ns(const struct show_pace *pace, int segment, int64_t pts_ns);

/*
 * The same where several pictures are decoded at once. So many others, which are decoded beside this packet's, have not come
 * out, but do not wait for it: returns the PTS of the first one behind those. It is never later than pts_ns.
 */
int64_t show_pace_first_waiting_ns(const struct show_pace *pace, int segment, int64_t pts_ns, int beside);

#endif
