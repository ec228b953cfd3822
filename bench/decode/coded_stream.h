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

/*
 * Opens a decoder of the stream with one thread. prepare, if not NULL, is called with `opaque` before the decoder is opened,
 * e.g. to set its gate. Returns 0 or a negative AVERROR; *out is freed by avcodec_free_context() either way.
 */
int stream_open_decoder(AVCodecContext **out, const struct coded_stream *stream,
                        void (*prepare)(AVCodecContext *avctx, void *opaque), void *opaque);

/*
 * Decodes one packet (NULL: drains) and hands each picture that comes out to take, if that is not NULL; the picture is
 * unreferenced after it. Returns 0, the decoder's error, or what take returned when that was negative: the pictures behind
 * it are lost then. `frame` is only used meanwhile.
 */
int stream_decode_packet(AVCodecContext *avctx, const AVPacket *packet, AVFrame *frame,
                         int (*take)(void *opaque, const AVFrame *frame), void *opaque);

#endif
