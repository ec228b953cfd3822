/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packets of one video stream, all in memory, so that benchmarks and tests can decode
 * them many times over and nothing but the decoder differs from pass to pass.
 */
#ifndef CODED_STREAM_H
#define CODED_STREAM_H

#include <libavcodec/avcodec.h>

struct coded_stream {
    AVCodecParameters *parameters;
    AVPacket **packets;
    size_t packet_count;
};

/*
 * Reads the best video stream of the file at path, at most so many packets of it. Returns 0, or a
 * negative AVERROR with nothing to free. stream_finish() frees what 0 came with, and may be
 * called on a zeroed stream.
 */
int stream_load(struct coded_stream *stream, const char *path, size_t most_packets);

/* Appends a copy of the packet. Returns 0 or a negative AVERROR; the stream stays valid. */
int stream_append(struct coded_stream *stream, const AVPacket *packet);

void stream_finish(struct coded_stream *stream);

#endif
