/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timed_decode CLIP [PACKETS]: decodes the clip's video, or so many packets of it, as fast as
 * possible and prints the process CPU time that took, in ns, and the number of pictures.
 *
 * Built twice from this source: with DLEX_GATED and the patched FFmpeg it decodes as the player
 * does, each packet in a deadline block and the gate open, with the deadline an hour away; without,
 * it is linked to a pristine FFmpeg. Reading the clip is not measured.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coded_stream.h"

#ifdef DLEX_GATED
#include <dlex/dlex.h>

static const int64_t hour_ns = 3600 * INT64_C(1000000000);
static int64_t deadline_ns; /* of the packet being decoded */

static int gate(AVCodecContext *avctx, const AVFrame *picture,
                int (*run)(AVCodecContext *, void *), void *arg)
{
    (void)picture;
    volatile int ret = AVERROR(ECANCELED); /* survives the jump */
    dlex_try_within_abs_shielded(deadline_ns) {
        ret = run(avctx, arg);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        fprintf(stderr, "timed_decode: an hour has passed\n");
    } dlex_end
    return ret;
}

static void open_gate(AVCodecContext *avctx)
{
    avctx->gate = gate;
}
#else
static void open_gate(AVCodecContext *avctx)
{
    (void)avctx;
}
#endif

static int decode_packet(AVCodecContext *avctx, AVPacket *packet, AVFrame *frame, int *pictures)
{
    int ret = avcodec_send_packet(avctx, packet);
    while (ret >= 0 && (ret = avcodec_receive_frame(avctx, frame)) >= 0) {
        ++*pictures;
        av_frame_unref(frame);
    }
    return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}

#ifdef DLEX_GATED
static int decode_in_block(AVCodecContext *avctx, AVPacket *packet, AVFrame *frame, int *pictures)
{
    volatile int ret = 0; /* survives the jump */
    deadline_ns = dlex_now_ns() + hour_ns;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        ret = decode_packet(avctx, packet, frame, pictures);
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        fprintf(stderr, "timed_decode: an hour has passed\n");
    } dlex_end
    return ret;
}
#else
#define decode_in_block decode_packet
#endif

static int decode(const struct coded_stream *stream, size_t packet_count, AVCodecContext *avctx,
                  int *pictures)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return AVERROR(ENOMEM);
    int ret = 0;
    for (size_t i = 0; ret >= 0 && i < packet_count; i++)
        ret = decode_in_block(avctx, stream->packets[i], frame, pictures);
    if (ret >= 0)
        ret = decode_packet(avctx, NULL, frame, pictures);
    av_frame_free(&frame);
    return ret;
}

static int open_decoder(AVCodecContext **out, const struct coded_stream *stream)
{
    const AVCodec *codec = avcodec_find_decoder(stream->parameters->codec_id);
    AVCodecContext *avctx = *out = avcodec_alloc_context3(codec);
    if (!codec || !avctx)
        return codec ? AVERROR(ENOMEM) : AVERROR_DECODER_NOT_FOUND;
    const int ret = avcodec_parameters_to_context(avctx, stream->parameters);
    if (ret < 0)
        return ret;
    avctx->thread_count = 1;
    open_gate(avctx);
    return avcodec_open2(avctx, codec, NULL);
}

static int64_t process_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int main(int argc, char **argv)
{
    struct coded_stream stream;
    AVCodecContext *avctx = NULL;
    int pictures = 0;
    if (argc < 2 || stream_load(&stream, argv[1]) < 0) {
        fprintf(stderr, "timed_decode: no clip that can be read; name one\n");
        return EXIT_FAILURE;
    }
    size_t packet_count = argc > 2 ? strtoull(argv[2], NULL, 10) : stream.packet_count;
    if (packet_count > stream.packet_count)
        packet_count = stream.packet_count;

    int ret = open_decoder(&avctx, &stream);
    const int64_t start_ns = process_cpu_ns();
    if (ret >= 0)
        ret = decode(&stream, packet_count, avctx, &pictures);
    const int64_t cpu_ns = process_cpu_ns() - start_ns;
    avcodec_free_context(&avctx);
    stream_finish(&stream);
    if (ret < 0) {
        fprintf(stderr, "timed_decode: %s: %s\n", argv[1], av_err2str(ret));
        return EXIT_FAILURE;
    }
    printf("%" PRId64 " %d\n", cpu_ns, pictures);
    return EXIT_SUCCESS;
}
