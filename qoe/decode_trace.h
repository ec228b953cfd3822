/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decode trace: what each packet of a clip costs, and what losing its picture would look like. dlex-qoe writes it, and
 * dlex-bench-sim simulates playing with it.
 *
 * The file is CSV: a header row and one row for each packet, in decode order. It begins with a key picture. The functions
 * below are the only ones that know its form.
 */
#ifndef QOE_DECODE_TRACE_H
#define QOE_DECODE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The error is known for showing a picture that is 1 to so many pictures earlier. */
enum { TRACE_REPEATS = 10 };

struct trace_packet {
    int64_t pts_ns; /* of the stream; no two packets have the same */
    int64_t size_bytes;
    bool key;
    bool droppable; /* no other picture refers to it (player/source/droppable.h) */
    int64_t decode_cpu_ns;
    /*
     * [k]: RMSE in ImageMagick's 16-bit units if the picture that is presented k + 1 pictures earlier is shown in place of
     * this one; NAN and an empty field: there is no such picture.
     */
    double repeat_rmse_q16[TRACE_REPEATS];
};

struct decode_trace {
    struct trace_packet *packets; /* in decode order */
    int64_t count;
};

/* Both write one line with its end. Errors stay in the stream (ferror). */
void decode_trace_write_header(FILE *out);
void decode_trace_write_packet(FILE *out, const struct trace_packet *packet);

/*
 * Reads a file. Returns 0, or a negative errno with a whole sentence in why; *trace is then empty. decode_trace_finish frees
 * the packets; it accepts an empty trace.
 */
int decode_trace_read(struct decode_trace *trace, const char *path, char *why, size_t why_size);
void decode_trace_finish(struct decode_trace *trace);

#endif
