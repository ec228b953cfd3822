/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which packets and pictures belong to the part that is played, and which presentation time is next.
 *
 * Time stamps may be missing, and may jump (files put together, a broadcast's new time base). Every seek and every jump
 * begins a new segment; within one the time stamps belong together. Two places follow this, each with a state of its own:
 * feed_pace in decode order, where packets go to the decoder, and show_pace in presentation order, where pictures come out.
 * Pure: times are ns of the stream, NS_UNKNOWN where a file does not tell.
 */
#ifndef PLAYER_PACE_H
#define PLAYER_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* No picture lasts so much longer than its duration, no clock is so wrong: the time stamps have jumped. */
#define TIME_STAMP_JUMP_NS INT64_C(10000000000)

/* The part that is to be played. */
struct part {
    int64_t from_ns;           /* pictures before it are pre-roll of a seek; INT64_MIN: nothing is */
    int64_t end_ns;            /* pictures from there on are not played; INT64_MAX: no such limit */
    int64_t frame_duration_ns; /* of a picture that does not tell its own; > 0 */
};

/* Whether a picture is over before the part begins. duration_ns 0: unknown. */
bool part_is_after(const struct part *part, int64_t pts_ns, int64_t duration_ns);

/* In decode order. */
struct feed_pace {
    struct part part;
    bool may_jump;       /* the format has time stamps that jump forward; in others a picture just lasts */
    int segment;         /* of the packets that go to the decoder now */
    int64_t expected_ns; /* time stamp at which the next packet is expected */
    bool jumped;         /* since the last seek */
    bool key_seen;       /* since the last seek */
};

struct packet_times {
    int64_t dts_ns;
    int64_t pts_ns;
    int64_t duration_ns; /* 0: unknown */
    bool key;
};

struct packet_place {
    int segment;
    bool unwanted;    /* pre-roll: its picture is decoded and not shown */
    bool undecodable; /* pre-roll before the first key frame: there is nothing that it could be decoded from */
};

/* At the beginning and at each seek: the next packet begins a new segment. may_jump stays. */
void feed_pace_restart(struct feed_pace *pace, const struct part *part);

struct packet_place feed_pace_packet(struct feed_pace *pace, const struct packet_times *packet);

/* In presentation order. */
struct show_pace {
    struct part part;
    int segment;         /* of the pictures that come out now; its time stamps are the clock's */
    int64_t first_ns;    /* of a first picture that has no time stamp: where reading began */
    int64_t next_ns;     /* of the picture that is to be presented next, as far as known */
};

struct picture_place {
    int64_t pts_ns;  /* never unknown */
    bool unwanted;   /* outside the part */
    bool jumped;     /* its segment is another one than the last picture's: the time stamps have jumped */
    int64_t jump_ns; /* by so much against what was expected; NS_UNKNOWN where nothing was */
};

/* At the beginning and at each seek, whose pictures are those of `segment`. first_ns: where reading begins. */
void show_pace_restart(struct show_pace *pace, const struct part *part, int segment, int64_t first_ns);

/* A picture has come out. pts_ns NS_UNKNOWN: it follows on from the last one. duration_ns 0: unknown. */
struct picture_place show_pace_picture(struct show_pace *pace, int segment, int64_t pts_ns, int64_t duration_ns);

/* When a picture is due: one that began before the part is due at the part's start. */
int64_t show_pace_due_ns(const struct show_pace *pace, int64_t pts_ns);

/*
 * What will be presented once the packet with this PTS is decoded: its own picture, or one that was held back. NS_UNKNOWN:
 * nothing is known, or it lies behind a jump and is in no relation to the clock.
 */
int64_t show_pace_next_ns(const struct show_pace *pace, int segment, int64_t pts_ns);

#endif
