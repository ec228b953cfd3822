/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packets of one video stream, all in memory. Benchmarks and tests can decode them many times,
 * and only the decoder differs from pass to pass.
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
 * Reads at most most_packets of the best video stream of the file at path. Returns 0, or a negative
 * AVERROR with nothing to free. After 0, stream_finish() frees the stream. It also accepts a zeroed
 * stream.
 */
int stream_load(struct coded_stream *stream, const char *path, size_t most_packets);

/* Appends a copy of the packet. Returns 0 or a negative AVERROR; the stream stays valid. */
int stream_append(struct coded_stream *stream, const AVPacket *packet);

void stream_finish(struct coded_stream *stream);

/*
 * Opens a decoder of the stream with one thread. prepare, if not NULL, is called with `opaque`
 * before the decoder is opened, e.g. to set its gate. Returns 0 or a negative AVERROR. In both
 * cases, free *out with avcodec_free_context().
 */
int stream_open_decoder(AVCodecContext **out, const struct coded_stream *stream,
                        void (*prepare)(AVCodecContext *avctx, void *opaque), void *opaque);

/*
 * Decodes one packet (NULL: drains) and passes each picture that comes out to take, if that is not
 * NULL. The picture is unreferenced afterwards. Returns 0, the decoder's error, or the negative
 * value that take returned; the pictures after it are lost then. `frame` is only used during the
 * call.
 */
int stream_decode_packet(AVCodecContext *avctx, const AVPacket *packet, AVFrame *frame,
                         int (*take)(void *opaque, const AVFrame *frame), void *opaque);

#endif
