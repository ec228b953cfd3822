/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time stamps of one stream, compared with each other: what is expected of the next packet, and what is learnt from it. The "key"
 * of a packet is its DTS, or its PTS where it has no DTS. For time_stamps.h, which compares both streams. Pure. Times are in ns, or
 * NS_UNKNOWN; film time and the file's time differ by the stream's offset.
 */
#ifndef PLAYER_STAMPED_STREAM_H
#define PLAYER_STAMPED_STREAM_H

#include "frame_duration.h"
#include "read_ahead.h"

#include <stdbool.h>
#include <stdint.h>

/* The stamps of a packet. */
struct stamp {
    enum read_stream stream;
    int64_t dts_ns;
    int64_t pts_ns;
    int64_t duration_ns; /* 0: unknown */
    bool is_cut;         /* the container says that it is decoded and not shown, e.g. because it lies before a cut */
};

/* What is known of a stream before its first packet. */
struct stamped_facts {
    bool is_there;
    bool may_jump;                  /* the format's time stamps may jump, e.g. of recorded broadcasts */
    struct frame_duration duration; /* of a packet that does not say it */
    int64_t end_ns;                 /* where the file's header says that the film ends; NS_UNKNOWN: it does not */
    int reorder;                    /* a picture is shown at most so many after it is decoded; 0: as in H.264 */
};

struct stamped_stream {
    struct stamped_facts facts;
    int64_t offset_ns;   /* file time - film time */
    int64_t expected_ns; /* key of the next packet in film time; NS_UNKNOWN: no packet had a stamp */
    int64_t first_ns;    /* key of the first packet in film time; NS_UNKNOWN: none had a stamp */
    int64_t last_ns;     /* key of the last packet in film time; NS_UNKNOWN: none had a stamp */
    int64_t file_key_ns; /* the same in the file's time, also if it was damaged */
    int same_keys;       /* so many in a row were nearly equal */
    int64_t step_ns;     /* from the key before it; 0: unknown */
    int64_t run_ns;      /* since here no packet is missing for long */
    int64_t beside_ns;   /* expected_ns of the other stream when the last packet came; NS_UNKNOWN: unknown */
    int64_t delay_ns;    /* PTS - DTS of the last packet that had both */
    int same_delays;     /* so many in a row had this delay */
    int regular;         /* so many steps in a row were equal; of sound: as long as its packets */
    bool had_dts;        /* the last packet */
    bool has_pts;        /* a packet had one */
};

enum {
    STAMPS_AHEAD = 10,       /* packets of the same stream behind an odd stamp that are looked at */
    STAMPS_FEW_REGULAR = 3,  /* so many equal steps say how long a packet lasts */
    STAMPS_REGULAR = 8,      /* the stream has a constant rate: it makes no pauses by itself */
};

/* A shorter gap or step back is played as it is: nobody misses a second, and two streams need not agree on less. */
#define STAMPS_SHORT_NS INT64_C(1000000000)
/* A longer gap is closed also where packets last differently, if no other stream fills it. */
#define STAMPS_LONG_NS INT64_C(10000000000)
/* Without sound, in a format whose time stamps do not jump, a picture may well stand for so long. */
#define STAMPS_VERY_LONG_NS INT64_C(60000000000)
/* A stream counts as going on over shorter gaps. Packets of both streams come in chunks of up to 1 s. */
#define STAMPS_UNFILLED_NS INT64_C(1250000000)

/* The keys and the PTS of the next packets of a stream, in the file's time. */
struct next_stamps {
    int64_t key_ns[STAMPS_AHEAD];
    int64_t pts_ns[STAMPS_AHEAD];
    bool is_dts[STAMPS_AHEAD];
    int count;
};

int64_t stamp_key_ns(const struct stamp *stamp);

/* Returns how long a packet usually lasts. */
int64_t stamped_usual_ns(const struct stamped_stream *stream);

/* Returns from which difference on a stamp needs a judgement. */
int64_t stamped_odd_ns(const struct stamped_stream *stream);

/* Returns how long before it is shown a picture may be decoded. */
int64_t stamped_reorder_ns(const struct stamped_stream *stream);

/* Returns how far a key in film time is behind what was read of the stream (before it: < 0). The stream's first packet is known. */
int64_t stamped_apart_ns(const struct stamped_stream *stream, int64_t key_ns);

/* Returns whether DTS or PTS are near those that are expected. */
bool stamped_fits(const struct stamped_stream *stream, const struct stamp *file);

/*
 * Returns how far the PTS is ahead of what reordering needs in a stream of a constant rate; 0: it is not. Where pictures last
 * differently, the picture behind a long one may be decoded before it.
 */
int64_t stamped_ahead_ns(const struct stamped_stream *stream, const struct stamp *file);

/*
 * Returns whether the PTS say alone when pictures are shown: from this packet on they rise, and by more than the DTS and
 * reordering. Programs that copy slides may write DTS that go on at the nominal rate.
 */
bool stamped_pts_lead(const struct stamped_stream *stream, const struct stamp *file, const struct next_stamps *next);

/*
 * Looks for one of the next packets that follows on from a packet at from_ns of the file's time. Returns where that packet is by this
 * one; NS_UNKNOWN: none follows on. stamped_goes_on returns whether one does.
 */
int64_t stamped_seen_from(const struct stamped_stream *stream, const struct next_stamps *next, int64_t from_ns, int64_t tolerance_ns);
bool stamped_goes_on(const struct stamped_stream *stream, const struct next_stamps *next, int64_t from_ns, int64_t tolerance_ns);

/* Returns how many equal steps surround an odd one. */
int stamped_regular_around(const struct stamped_stream *stream, const struct next_stamps *next);

/* Returns whether the next packets stay near the odd key: programs that write a film raise what is behind a stamp up to it. */
bool stamped_stand_still(const struct next_stamps *next, int64_t key_ns);

/* Returns whether a packet behind has an earlier key. No stream has that without damage, except for PTS of B pictures. */
bool stamped_go_back(const struct next_stamps *next, int64_t key_ns);

/* Returns whether the key hardly differs from the one before it, as if a packet lasted less than an eighth of its length. */
bool stamped_is_same(const struct stamped_stream *stream, const struct stamp *file);

/*
 * Returns whether a packet in a stream of a constant rate says that it lasts long or shortly. In some formats, the duration is the
 * time to the next stamp, so it is what a jump behind it made of it.
 */
bool stamped_has_odd_length(const struct stamped_stream *stream, const struct stamp *file);

/* What was found out about a packet. */
struct stamp_verdict {
    bool is_damaged;
    bool is_ahead;    /* a PTS that is further ahead than reordering needs is right */
    bool lasts_so;    /* an odd length is right */
};

/* Returns the stamps in film time. A damaged one is as expected, or NS_UNKNOWN. */
struct stamp stamped_film(const struct stamped_stream *stream, const struct stamp *file, struct stamp_verdict verdict);

/* Learns from a packet, which has these stamps in film time. beside_ns: expected_ns of the other stream. */
void stamped_learn(struct stamped_stream *stream, const struct stamp *file, const struct stamp *film, bool is_damaged, int64_t beside_ns);

#endif
