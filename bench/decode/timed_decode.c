/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timed_decode CLIP: prints the number of packets of the clip's video. Then it reads a number of
 * packets from each line of its input and decodes that many more packets as fast as possible. For
 * each line it prints the process CPU time that this took, in ns, and the number of pictures that
 * came out. In this way two such processes can take turns.
 *
 * Built twice from this source. With DLEX_GATED and the patched FFmpeg, it decodes as the player
 * does: each packet in a deadline block and with the gate open, with the deadline an hour away.
 * Without DLEX_GATED, it is linked to a pristine FFmpeg. Reading the clip is not measured.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coded_stream.h"
#include "ns.h"

#ifdef DLEX_GATED
#include <dlex/dlex.h>

static const int64_t hour_ns = 3600 * NS_PER_S;
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

static void open_gate(AVCodecContext *avctx, void *opaque)
{
    (void)opaque;
    if (avctx->codec->capabilities & AV_CODEC_CAP_GATE) /* otherwise the context may end before this field */
        avctx->gate = gate;
}
#else
#define open_gate NULL
#endif

static int count_picture(void *pictures, const AVFrame *frame)
{
    (void)frame;
    ++*(int *)pictures;
    return 0;
}

static int decode_packet(AVCodecContext *avctx, AVPacket *packet, AVFrame *frame, int *pictures)
{
    return stream_decode_packet(avctx, packet, frame, count_picture, pictures);
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

static int64_t process_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return ns_from_timespec(now);
}

/* Answers one line of the input. Advances *next. */
static int decode_more(const struct coded_stream *stream, size_t *next, size_t count,
                       AVCodecContext *avctx, AVFrame *frame)
{
    int ret = 0, pictures = 0;
    const int64_t start_ns = process_cpu_ns();
    for (; ret >= 0 && count && *next < stream->packet_count; count--)
        ret = decode_in_block(avctx, stream->packets[(*next)++], frame, &pictures);
    const int64_t cpu_ns = process_cpu_ns() - start_ns;
    if (ret >= 0)
        printf("%" PRId64 " %d\n", cpu_ns, pictures);
    fflush(stdout);
    return ret;
}

static int answer(const struct coded_stream *stream, AVCodecContext *avctx)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return AVERROR(ENOMEM);
    printf("%zu\n", stream->packet_count);
    fflush(stdout);
    int ret = 0;
    size_t next = 0;
    char line[32];
    while (ret >= 0 && fgets(line, sizeof(line), stdin))
        ret = decode_more(stream, &next, strtoull(line, NULL, 10), avctx, frame);
    av_frame_free(&frame);
    return ret;
}

int main(int argc, char **argv)
{
    struct coded_stream stream;
    AVCodecContext *avctx = NULL;
    if (argc != 2 || stream_load(&stream, argv[1], SIZE_MAX) < 0) {
        fprintf(stderr, "timed_decode: no clip can be read; name one\n");
        return EXIT_FAILURE;
    }
    int ret = stream_open_decoder(&avctx, &stream, open_gate, NULL);
    if (ret >= 0)
        ret = answer(&stream, avctx);
    avcodec_free_context(&avctx);
    stream_finish(&stream);
    if (ret < 0)
        fprintf(stderr, "timed_decode: %s: %s\n", argv[1], av_err2str(ret));
    return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
