/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PTS of pictures that come out of a decoder.
 *
 * Most have that of their packet. A stream without any PTS, as in AVI, has times of packets only (DTS): the first picture that comes
 * out has the earliest time that went in, whichever packet it was in. So a decoder that reorders pictures makes none of them late. In
 * other streams, a picture without PTS follows on from the one before. The player and dlex-qoe use it, so that both find the same times.
 */
#ifndef PLAYER_PICTURE_STAMPS_H
#define PLAYER_PICTURE_STAMPS_H

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

enum { PICTURE_STAMPS_MAX = 64 };

/* One of zeros is empty. */
struct picture_stamps {
    bool has_packet;
    bool has_pts;                       /* a packet had one of its own */
    int64_t dts_ns[PICTURE_STAMPS_MAX]; /* of packets whose pictures have not come out, ascending */
    int count;
};

/* Call after a flush of the decoder. */
void picture_stamps_clear(struct picture_stamps *stamps);

/* The packet goes into the decoder. */
void picture_stamps_add(struct picture_stamps *stamps, const AVStream *stream, const AVPacket *packet);

/*
 * Returns the PTS of the next picture that comes out, in ns of film time; NS_UNKNOWN: it follows on. delay: at most so many pictures
 * are still in the decoder. If more are missing, they will not come out, and their times are forgotten.
 */
int64_t picture_stamps_take(struct picture_stamps *stamps, const AVStream *stream, const AVFrame *picture, int delay);

#endif
