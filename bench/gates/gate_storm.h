/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives up droppable pictures of one stream in one mode, again and again, and compares every other picture with an
 * undisturbed decode with the same threads.
 */
#ifndef GATE_STORM_H
#define GATE_STORM_H

#include "pass_difference.h"

struct gate_storm {
    /* set by the caller */
    const struct coded_stream *stream;
    struct decode_mode mode;
    struct pass_seek seek;
    enum comparison comparison;
    /*
     * Undefined contents of new buffers must not show: in each pass they are others, so that they would. But what FFmpeg
     * shows of a stream that is not whole may depend on them.
     */
    bool is_whole;
    bool is_strict; /* any error rejects its packet (AV_EF_EXPLODE) */
    uint64_t seed;
    int64_t wanted; /* interrupted pictures, for WAY_WITHHOLD withheld ones; fewer if most_passes are not enough */
    int most_passes;
    bool is_undisturbed; /* only the decode with which others would be compared */

    /* result */
    bool misplaces_captions; /* the undisturbed decode does (see pass_misplaces_captions()), so side data was not compared */
    size_t pictures;     /* that came out of the undisturbed decode */
    size_t droppable;    /* of these; for WAY_WITHHOLD, packets */
    int passes;          /* without the undisturbed one */
    int64_t interrupted; /* given up after their decode had begun */
    int64_t refused;     /* given up before */
    int64_t compared;    /* pictures that were not given up */
    struct differences differences;
};

/*
 * Decodes undisturbed, then with callbacks that give up nothing, then with all droppable pictures refused, then at random.
 * Without droppable pictures it ends before. Returns 0, or a negative AVERROR if the stream cannot be decoded at all.
 */
int gate_storm_run(struct gate_storm *storm);

/* The pictures that were given up: interrupted and refused ones. */
int64_t gate_storm_aborts(const struct gate_storm *storm);

#endif
