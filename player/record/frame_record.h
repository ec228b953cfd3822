/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One picture's row of a run record (frames.csv).
 *
 * The struct, the header row, the writer and the parser are all generated from the one list of fields below.
 * A field that does not apply holds FIELD_EMPTY and is written as nothing between two commas.
 */
#ifndef PLAYER_FRAME_RECORD_H
#define PLAYER_FRAME_RECORD_H

#include "ns.h"

#include <stdint.h>
#include <stdio.h>

#define FIELD_EMPTY NS_UNKNOWN

/* The result for a picture whose packet was read. dropped = aborted + skipped + late + unseen. */
enum verdict {
    VERDICT_NONE,    /* never came out, or lies outside the part that was to be played (pre-roll of a seek) */
    VERDICT_SHOWN,   /* presented */
    VERDICT_ABORTED, /* its deadline ended the decode in the middle: at least one slice is unfinished */
    VERDICT_SKIPPED, /* refused in advance: none of its slices was begun, or its packet was passed over */
    VERDICT_LATE,    /* decoded to the end, not presented */
    VERDICT_UNSEEN,  /* never on the screen; reported by an observer of the screen only (dlex-bench-observe) */
};

/* How a decoded picture differs from that of the file. */
enum degraded {
    DEGRADED_NOT,       /* it does not */
    DEGRADED_ITSELF,    /* it was decoded without its loop filter */
    DEGRADED_BY_OTHERS, /* it may: since the last key picture, one to which others refer was decoded without its loop filter */
};

/*
 *   X(kind, name)
 * index          position in presentation order over the whole run; seeks do not restart it
 * pts_ns         presentation time stamp in the stream's own time
 * type           I, P, B, … or ? if the decoder did not say
 * droppable      1: no other picture refers to it, according to the decoder; 0: it is a reference, or this is not known
 * size_bytes     size of its packets
 * decode_*_ns    CLOCK_MONOTONIC around the decode block, or until the picture came out of codec threads that work on several;
 *                decode_cpu_ns is the CPU time of the decode, empty if nobody measured it. All empty if the packet was
 *                passed over; type is ? then
 * deadline_ns    absolute, CLOCK_MONOTONIC; empty when no deadline was in force
 * fired_ns       when the expiry reached the program: in the gate, or at the end of the protected section
 * shown_ns       when the presenting call had returned
 * skew_ns        A-V at shown_ns, or when the clock began to run if that was later; > 0: the video is late
 * degraded       0, 1 or 2, as in enum degraded, of a picture that was not given up; empty: not decoded, or not known
 * stood_ns       how long a shown picture stood on the screen, without the pauses of the player: until the next one was shown, or
 *                until a seek or the end by the user kept the next one away. 0: neither happened, as with the last picture. Empty:
 *                not shown. Records of before 2026-11-28 do not have this column
 */
#define FRAME_RECORD_FIELDS(X) \
    X(NUMBER, index)           \
    X(NUMBER, pts_ns)          \
    X(LETTER, type)            \
    X(NUMBER, droppable)       \
    X(NUMBER, size_bytes)      \
    X(NUMBER, decode_start_ns) \
    X(NUMBER, decode_end_ns)   \
    X(NUMBER, decode_cpu_ns)   \
    X(NUMBER, deadline_ns)     \
    X(NUMBER, fired_ns)        \
    X(VERDICT, verdict)        \
    X(NUMBER, shown_ns)        \
    X(NUMBER, skew_ns)         \
    X(NUMBER, degraded)        \
    X(NUMBER, stood_ns)

struct frame_record {
#define DECLARE_FIELD(kind, name) int64_t name;
    FRAME_RECORD_FIELDS(DECLARE_FIELD)
#undef DECLARE_FIELD
};

/* How many pictures have each verdict. Pictures without a verdict (VERDICT_NONE) are not counted. See also freeze.h. */
struct totals {
    int64_t shown;
    int64_t aborted;
    int64_t skipped;
    int64_t late;
};

struct totals totals_of(const struct frame_record *rows, int64_t count);

/* Returns a record with every field empty and verdict none. */
struct frame_record frame_record_empty(void);

/* Returns the verdict's word in frames.csv. */
const char *verdict_name(enum verdict verdict);

/* Write the header row, or one record, with its line end. Both return 0 or a negative errno. */
int frame_record_write_header(FILE *out);
int frame_record_write(FILE *out, const struct frame_record *record);

/*
 * Both read one line, with or without its line end. They return 0, or -EINVAL when the line does not have exactly the
 * fields above; *record is then undefined.
 */
int frame_record_parse_header(const char *line);
int frame_record_parse(const char *line, struct frame_record *record);

/* The same for records that do not have the last column, stood_ns. It is empty then. */
int frame_record_parse_old_header(const char *line);
int frame_record_parse_old(const char *line, struct frame_record *record);

#endif
