/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moves a clip to another place in its file. Only the thread that reads the clip may call this. */
#ifndef PLAYER_CLIP_SEEK_H
#define PLAYER_CLIP_SEEK_H

#include "clip.h"

/*
 * Time stamps this near count as equal. A container's start is rounded to microseconds, and so is a time that somebody reads from
 * a list of time stamps and subtracts the start from.
 */
#define CLIP_ROUNDING_NS INT64_C(2000)

/*
 * Moves the clip to a place from which a decoder gives every picture from the target (ns of the stream) on, and gives it whole: the
 * next key picture is not shown after the target, and intra refreshes that begin there are over by then. At the start of the clip
 * or before, this is the first packet of the file. If no such place is found within twelve minutes before the target, the next
 * packets are those near the target. Without pictures that are played, the clip goes to the sound of the target. Returns 0, or a
 * negative AVERROR; the place is unknown then.
 *
 * Blocks for reading. Demuxers go by the time at which packets are decoded, and some do not know key packets, so each place is
 * checked: the packets are read as far as needed. They are not lost, clip_read returns them.
 */
int clip_seek(struct clip *clip, int64_t target_ns);

#endif
