/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timed_segments CLIP THREADS [refuse]: prints how many segments the clip's video has, and how many packets. A segment begins at a
 * key packet. Then it reads the index of a segment from each line of its input, and possibly a number of packets, and decodes that
 * segment, or so many of its packets, as fast as possible, to the last picture. For each line it prints the wall time and the
 * process CPU time that this took, the wall time until the first picture came out, all in ns, and the number of pictures. In this
 * way two such processes can take turns, and no codec thread works on in another one's turn.
 *
 * Built twice from this source. With DLEX_GATED and the patched FFmpeg, pictures can be given up as in the player, with
 * deadlines an hour away; or, with `refuse`, all that can be given up are, at their first row. Without DLEX_GATED, it is
 * linked to a pristine FFmpeg. Reading the clip is not measured.
 *
 * The speed of a program also depends on where the linker happens to place its loops: by moving the same code 16 bytes, it
 * changed by up to 3.6 %. LAYOUT moves all of FFmpeg's code by as many times 16 bytes.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coded_stream.h"
#include "ns.h"

#ifdef LAYOUT
#define TEXT(number) #number
#define SKIP(number) ".pushsection .text\n.skip 16 * " TEXT(number) "\n.popsection"
__asm__(SKIP(LAYOUT));
#endif

enum { SEGMENTS_MAX = 10000 };

struct settings {
    int threads;
    bool refuses; /* all that it can */
};

struct decoding {
    int pictures;
    int64_t first_ns; /* when the first one came out */
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return ns_from_timespec(now);
}

#ifdef DLEX_GATED
static const int64_t hour_ns = 3600 * NS_PER_S;
static int64_t deadline_ns; /* set before any thread decodes */

static int abandon(AVCodecContext *avctx, const AVFrame *picture)
{
    (void)avctx, (void)picture;
    return clock_ns(CLOCK_MONOTONIC) >= deadline_ns;
}

static void set_callback(AVCodecContext *avctx, bool refuses)
{
    deadline_ns = clock_ns(CLOCK_MONOTONIC) + (refuses ? 0 : hour_ns);
    if (avctx->codec->capabilities & AV_CODEC_CAP_ABANDON) /* otherwise the context may end before this field */
        avctx->abandon = abandon;
}
#else
static void set_callback(AVCodecContext *avctx, bool refuses)
{
    (void)avctx, (void)refuses;
}
#endif

/* The same in both programs. libdav1d chooses by itself how many frames it decodes at once. */
static void prepare(AVCodecContext *avctx, void *opaque)
{
    const struct settings *const settings = opaque;
    avctx->thread_count = settings->threads;
    avctx->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
    set_callback(avctx, settings->refuses);
}

static int note_picture(void *opaque, const AVFrame *frame)
{
    struct decoding *const decoding = opaque;
    (void)frame;
    if (!decoding->pictures++)
        decoding->first_ns = clock_ns(CLOCK_MONOTONIC);
    return 0;
}

static int decode_packets(const struct coded_stream *stream, size_t from, size_t until, AVCodecContext *avctx, AVFrame *frame,
                          struct decoding *decoding)
{
    int ret = 0;
    for (size_t i = from; i < until && ret >= 0; i++)
        ret = stream_decode_packet(avctx, stream->packets[i], frame, note_picture, decoding);
    if (ret >= 0)
        ret = stream_decode_packet(avctx, NULL, frame, note_picture, decoding); /* drains */
    avcodec_flush_buffers(avctx);
    return ret;
}

/* Answers one line of the input. */
static int decode_segment(const struct coded_stream *stream, size_t from, size_t until, AVCodecContext *avctx, AVFrame *frame)
{
    struct decoding decoding = {0};
    const int64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    const int ret = decode_packets(stream, from, until, avctx, frame, &decoding);
    const int64_t end_ns = clock_ns(CLOCK_MONOTONIC);
    if (ret >= 0)
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %d\n", end_ns - start_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns,
               decoding.pictures ? decoding.first_ns - start_ns : 0, decoding.pictures);
    fflush(stdout);
    return ret;
}

/* Writes where segments begin, and where the last one ends. Returns how many there are. */
static size_t find_segments(const struct coded_stream *stream, size_t begins[SEGMENTS_MAX + 1])
{
    size_t count = 0;
    for (size_t i = 0; i < stream->packet_count && count < SEGMENTS_MAX; i++)
        if (stream->packets[i]->flags & AV_PKT_FLAG_KEY)
            begins[count++] = i;
    begins[count] = stream->packet_count;
    return count;
}

/* Returns where to stop in a segment after at most so many packets; 0: all of them. */
static size_t end_of(const size_t *begins, size_t index, size_t most)
{
    const size_t packets = begins[index + 1] - begins[index];
    return begins[index] + (most && most < packets ? most : packets);
}

static int answer(const struct coded_stream *stream, AVCodecContext *avctx)
{
    static size_t begins[SEGMENTS_MAX + 1];
    const size_t count = find_segments(stream, begins);
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return AVERROR(ENOMEM);
    printf("%zu %zu\n", count, stream->packet_count);
    fflush(stdout);
    int ret = 0;
    char line[64];
    while (ret >= 0 && fgets(line, sizeof(line), stdin)) {
        char *rest;
        const size_t index = strtoull(line, &rest, 10), most = strtoull(rest, NULL, 10);
        ret = index < count ? decode_segment(stream, begins[index], end_of(begins, index, most), avctx, frame) : AVERROR(EINVAL);
    }
    av_frame_free(&frame);
    return ret;
}

int main(int argc, char **argv)
{
    struct coded_stream stream;
    AVCodecContext *avctx = NULL;
    struct settings settings = {
        .threads = argc > 2 ? atoi(argv[2]) : 0,
        .refuses = argc == 4 && !strcmp(argv[3], "refuse"),
    };
    if (argc != 3 + settings.refuses || settings.threads < 1 || stream_load(&stream, argv[1], SIZE_MAX) < 0) {
        fprintf(stderr, "timed_segments: no clip can be read; name one, and a number of threads\n");
        return EXIT_FAILURE;
    }
    int ret = stream_open_decoder(&avctx, &stream, prepare, &settings);
    if (ret >= 0)
        ret = answer(&stream, avctx);
    avcodec_free_context(&avctx);
    stream_finish(&stream);
    if (ret < 0)
        fprintf(stderr, "timed_segments: %s: %s\n", argv[1], av_err2str(ret));
    return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
