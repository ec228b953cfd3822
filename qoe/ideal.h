/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the pictures that an undisturbed decode of a file gives, by their time stamps.
 *
 * The decoder is set up like the player's (one thread, so that damaged places look the same), with
 * its gate shut. Going forward is cheap. Going back, or far ahead, seeks in the file and decodes
 * from a key picture well before. Only the picture found last is kept.
 */
#ifndef QOE_IDEAL_H
#define QOE_IDEAL_H

#include "frame_record.h"

#include <libavutil/frame.h>
#include <stddef.h>
#include <stdint.h>

struct ideal;

/*
 * stream_index: the stream that was played, according to the record. Returns 0, or a negative
 * AVERROR with the cause in why, as a clause ("memory ran out"). ideal_close accepts an empty
 * pointer and clears it.
 */
int ideal_open(struct ideal **out, const char *path, int stream_index, char *why, size_t why_size);
void ideal_close(struct ideal **ideal);

/*
 * From now on, leaves out the loop filter of each packet whose row says DEGRADED_ITSELF, so that the pictures are those of a run.
 * A packet without a row is decoded like the one before it. The rows are in ascending order of time stamps, and must exist as
 * long as they are in use. Begins again at the beginning of the file. Returns 0 or a negative AVERROR.
 */
int ideal_degrade(struct ideal *ideal, const struct frame_record *rows, int64_t count);

/*
 * Finds the picture with this time stamp (frames.csv's pts_ns). *out stays valid until the next
 * call. Returns 0, AVERROR(ENOENT) when the file has no such picture, or another negative AVERROR.
 */
int ideal_find(struct ideal *ideal, int64_t pts_ns, const AVFrame **out);

#endif
