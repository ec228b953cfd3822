/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of the clip's own modules: reading in the file's time, below clip_read. Only the thread that reads the clip may call these. */
#ifndef PLAYER_CLIP_READ_H
#define PLAYER_CLIP_READ_H

#include "clip.h"

/* Prepares the clip, whose streams are known, for clip_read. Returns 0 or AVERROR(ENOMEM); clip_forget_all cleans up. */
int clip_begin(struct clip *clip);

/* As av_read_frame, but skips what the demuxer does not understand, and knows the end of the file: see clip_read. */
int clip_read_frame(struct clip *clip, AVPacket *packet);

/* The file was moved to about this film time; packets that were put back since then stay. */
void clip_begin_at(struct clip *clip, int64_t film_ns);

/*
 * For those who look at packets of the file in advance: moves the packet's reference behind the packets that are read next, or
 * frees all these packets. *packet is blank afterwards. Return 0 or AVERROR(ENOMEM).
 */
int clip_put_back(struct clip *clip, AVPacket *packet);
void clip_forget_read(struct clip *clip);

/* Frees all packets and queues of the clip. */
void clip_forget_all(struct clip *clip);

/*
 * Returns a time stamp of the file in ns since the clip's origin, or NS_UNKNOWN. It is not film time yet: see time_stamps_file_ns.
 * clip_origin returns the origin in the stream's time base.
 */
int64_t clip_file_ns(const struct clip *clip, const AVStream *stream, int64_t stamp);
int64_t clip_origin(const struct clip *clip, const AVStream *stream);

#endif
