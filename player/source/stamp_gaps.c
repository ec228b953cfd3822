/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stamp_gaps.h"

#include "ns.h"

#include <stdlib.h>

/* The stream has a constant rate, where nothing else speaks for a jump. */
enum { LONG_REGULAR = 25 };

/* The other stream has ended if it is so far behind. */
static const int64_t ENDED_NS = 3 * NS_PER_S;

struct stamped_stream *stamps_other(struct time_stamps *stamps, const struct stamped_stream *stream)
{
    return &stamps->streams[stream == &stamps->streams[READ_VIDEO] ? READ_SOUND : READ_VIDEO];
}

bool stamps_is_sound(const struct time_stamps *stamps, const struct stamped_stream *stream)
{
    return stream == &stamps->streams[READ_SOUND];
}

struct next_stamps stamps_next(const struct time_stamps *stamps, enum read_stream stream)
{
    struct next_stamps next = {.count = 0};
    for (int i = 1; i < stamps->count && next.count < STAMPS_AHEAD; i++) {
        const struct stamp *const stamp = &stamps->window[(stamps->first + i) % TIME_STAMPS_WINDOW];
        if (stamp->stream == stream && stamp_key_ns(stamp) != NS_UNKNOWN && !stamp->is_cut) {
            next.is_dts[next.count] = stamp->dts_ns != NS_UNKNOWN;
            next.pts_ns[next.count] = stamp->pts_ns;
            next.key_ns[next.count++] = stamp_key_ns(stamp);
        }
    }
    return next;
}

/* Returns whether the other stream is read up to about the same film time, so that it says what happens there. */
static bool is_alive(const struct stamped_stream *other, const struct stamped_stream *stream)
{
    return other->expected_ns != NS_UNKNOWN && other->expected_ns > stream->expected_ns - ENDED_NS;
}

int64_t stamps_reach(const struct time_stamps *stamps, const struct stamped_stream *stream, int until)
{
    int64_t film_ns = stream->expected_ns;
    for (int i = 0; i < until && film_ns != NS_UNKNOWN; i++) {
        const struct stamp *const stamp = &stamps->window[(stamps->first + i) % TIME_STAMPS_WINDOW];
        if (&stamps->streams[stamp->stream] != stream || stamp_key_ns(stamp) == NS_UNKNOWN || stamp->is_cut)
            continue;
        const int64_t key_ns = stamp_key_ns(stamp) - stream->offset_ns;
        if (llabs(key_ns - film_ns) > STAMPS_UNFILLED_NS)
            break;
        film_ns = key_ns < film_ns ? film_ns : key_ns + stamped_usual_ns(stream);
    }
    return film_ns;
}

int stamps_place_of_next(const struct time_stamps *stamps, enum read_stream stream, int number)
{
    int place = 1;
    for (; place < stamps->count; place++) {
        const struct stamp *const stamp = &stamps->window[(stamps->first + place) % TIME_STAMPS_WINDOW];
        if (stamp->stream == stream && stamp_key_ns(stamp) != NS_UNKNOWN && !stamp->is_cut && !number--)
            break;
    }
    return place;
}

/* Returns whether the other stream went on while this one made a step forward. */
static bool is_filled(const struct stamped_stream *stream, const struct stamped_stream *other, int64_t from_ns, int64_t to_ns,
                      struct beside beside)
{
    if (beside.behind_ns == NS_UNKNOWN || other->offset_ns != stream->offset_ns)
        return false;
    const int64_t step_ns = to_ns - from_ns;
    const int64_t before_ns = beside.before_ns != NS_UNKNOWN ? beside.before_ns : other->first_ns;
    const int64_t unfilled_ns = step_ns - (beside.behind_ns - before_ns);
    const bool is_there = other->run_ns <= from_ns + STAMPS_UNFILLED_NS && beside.behind_ns >= to_ns - STAMPS_UNFILLED_NS / 4;
    return step_ns > 0 && (is_there || unfilled_ns < (step_ns / 2 > STAMPS_UNFILLED_NS ? step_ns / 2 : STAMPS_UNFILLED_NS));
}

/* Returns whether a gap that no other stream fills is a jump of the time stamps. Otherwise it is played as a gap. */
static bool is_closed(struct time_stamps *stamps, const struct stamped_stream *stream, int64_t gap_ns, int regular)
{
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    if (is_alive(other, stream))
        return regular >= STAMPS_REGULAR || gap_ns > STAMPS_LONG_NS;
    if (stamps_is_sound(stamps, stream))
        return gap_ns > STAMPS_LONG_NS || (regular >= STAMPS_REGULAR && (stream->facts.may_jump || !other->facts.is_there));
    if (stream->facts.may_jump)
        return gap_ns > STAMPS_LONG_NS || regular >= STAMPS_REGULAR;
    return gap_ns > STAMPS_VERY_LONG_NS && regular >= LONG_REGULAR;
}

bool gap_is_played(struct time_stamps *stamps, const struct stamped_stream *stream, int64_t from_ns, int64_t to_ns,
                   struct beside beside, int regular)
{
    const int64_t step_ns = to_ns - from_ns;
    return step_ns <= STAMPS_SHORT_NS || is_filled(stream, stamps_other(stamps, stream), from_ns, to_ns, beside) ||
           !is_closed(stamps, stream, step_ns, regular);
}
