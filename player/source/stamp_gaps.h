/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of time_stamps.h: what the two streams say about a gap between the time stamps of one of them. A gap is played where the other stream
 * goes on, or where a picture may well stand for so long; otherwise it is a jump. Pure. Times are in ns, or NS_UNKNOWN.
 */
#ifndef PLAYER_STAMP_GAPS_H
#define PLAYER_STAMP_GAPS_H

#include "time_stamps.h"

/*
 * What the other stream does while this one makes a step: the film times that it has reached when the packet before the step and the
 * one behind it are read; NS_UNKNOWN: unknown.
 */
struct beside {
    int64_t before_ns;
    int64_t behind_ns;
};

/* Returns the other one of both streams. */
struct stamped_stream *stamps_other(struct time_stamps *stamps, const struct stamped_stream *stream);

bool stamps_is_sound(const struct time_stamps *stamps, const struct stamped_stream *stream);

/* Returns the keys of the stream's packets that wait, without the oldest packet of both streams. */
struct next_stamps stamps_next(const struct time_stamps *stamps, enum read_stream stream);

/* Returns where the stream is, in film time, when so many packets that wait are read. */
int64_t stamps_reach(const struct time_stamps *stamps, const struct stamped_stream *stream, int until);

/* Returns the place in the window of the so-manieth next packet of this stream; the end of the window if there is none. */
int stamps_place_of_next(const struct time_stamps *stamps, enum read_stream stream, int number);

/* Returns whether a step between two times of the film is played, with so many equal steps around it. Otherwise it is a jump. */
bool gap_is_played(struct time_stamps *stamps, const struct stamped_stream *stream, int64_t from_ns, int64_t to_ns,
                   struct beside beside, int regular);

#endif
