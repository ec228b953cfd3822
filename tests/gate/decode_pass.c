/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decode_pass.h"

#include <stdatomic.h>
#include <string.h>

#include <dlex/dlex.h>
#include <libavutil/imgutils.h>
#include <libavutil/murmur3.h>
#include <libavutil/pixdesc.h>

#include "interrupt.h"

/* av_log has no user pointer; the tests decode in one thread at a time. */
static atomic_long log_count;

static void count_messages(void *context, int level, const char *format, va_list args)
{
    (void)context, (void)format, (void)args;
    if (level <= AV_LOG_WARNING)
        log_count++;
}

static uint64_t draw(struct decode_pass *pass)
{
    /* xorshift64: the same seed gives the same deadlines on every machine. */
    pass->seed ^= pass->seed << 13;
    pass->seed ^= pass->seed >> 7;
    pass->seed ^= pass->seed << 17;
    return pass->seed;
}

static int run_interrupted(struct decode_pass *pass, AVCodecContext *avctx,
                           int (*run)(AVCodecContext *, void *), void *arg)
{
    const int64_t limit_ns = draw(pass) % (uint64_t)(pass->longest_run_ns + 1);
    const int ret = interrupt_after(limit_ns, run, avctx, arg);
    if (ret == AVERROR(ECANCELED))
        pass->interrupted_count++;
    return ret;
}

static int run_whole(struct decode_pass *pass, AVCodecContext *avctx,
                     int (*run)(AVCodecContext *, void *), void *arg)
{
    const int64_t start_ns = dlex_now_ns();
    const int ret = run(avctx, arg);
    pass->run_total_ns += dlex_now_ns() - start_ns;
    pass->run_count++;
    return ret;
}

static int gate(AVCodecContext *avctx, const AVFrame *picture,
                int (*run)(AVCodecContext *, void *), void *arg)
{
    struct decode_pass *pass = avctx->opaque;
    /* Only droppable pictures get here, and no picture gets here again after it was abandoned. */
    pass->stray_count += !(picture->flags & AV_FRAME_FLAG_DROPPABLE) ||
                         picture->flags & AV_FRAME_FLAG_ABANDONED;
    /* In a random pass one run in four is not interrupted, and a few runs are refused. */
    if (pass->policy == GATE_RANDOM && draw(pass) % 4)
        return run_interrupted(pass, avctx, run, arg);
    if (pass->policy == GATE_REFUSE || (pass->policy == GATE_RANDOM && draw(pass) % 4 == 0)) {
        pass->refused_count++;
        return AVERROR(ECANCELED);
    }
    return run_whole(pass, avctx, run, arg);
}

static void hash_samples(const AVFrame *frame, struct AVMurMur3 *hash)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    for (int plane = 0; plane < av_pix_fmt_count_planes(frame->format); plane++) {
        const int width = av_image_get_linesize(frame->format, frame->width, plane);
        const int shift = plane == 1 || plane == 2 ? format->log2_chroma_h : 0;
        const int height = AV_CEIL_RSHIFT(frame->height, shift);
        for (int y = 0; y < height; y++)
            av_murmur3_update(hash, frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane],
                              width);
    }
}

static int add_fingerprint(void *opaque, const AVFrame *frame)
{
    struct decode_pass *pass = opaque;
    struct fingerprint *pictures =
        av_realloc_array(pass->pictures, pass->picture_count + 1, sizeof(*pictures));
    struct AVMurMur3 *hash = av_murmur3_alloc();
    if (pictures)
        pass->pictures = pictures;
    if (!pictures || !hash) {
        av_free(hash);
        return AVERROR(ENOMEM);
    }
    struct fingerprint *print = &pictures[pass->picture_count++];
    *print = (struct fingerprint){
        .pts = frame->pts,
        .packet = (int64_t)(intptr_t)frame->opaque,
        .type = frame->pict_type,
        .droppable = frame->flags & AV_FRAME_FLAG_DROPPABLE,
        .abandoned = frame->flags & AV_FRAME_FLAG_ABANDONED,
        .damaged = frame->decode_error_flags || frame->flags & AV_FRAME_FLAG_CORRUPT,
    };
    /* The contents of an abandoned picture are undefined, so nothing may depend on them. */
    if (!print->abandoned) {
        av_murmur3_init(hash);
        hash_samples(frame, hash);
        av_murmur3_final(hash, print->hash);
    }
    av_free(hash);
    return 0;
}

static int decode_packet(struct decode_pass *pass, AVCodecContext *avctx, AVPacket *packet,
                         AVFrame *frame)
{
    const int ret = stream_decode_packet(avctx, packet, frame, add_fingerprint, pass);
    if (ret != AVERROR_INVALIDDATA)
        return ret;
    pass->rejected_count++; /* a damaged packet does not end the stream */
    return 0;
}

/*
 * Decodes as a player does: the packet has a deadline, and is protected except in the gate. If the
 * deadline passes before the protected section begins, the packet is decoded anyway; otherwise a
 * reference would be lost.
 */
static int decode_packet_in_block(struct decode_pass *pass, AVCodecContext *avctx,
                                  AVPacket *packet, AVFrame *frame)
{
    volatile int ret = 0; /* these survive the jump */
    volatile bool decoded = false;
    dlex_try_within_rel(draw(pass) % (uint64_t)(2 * pass->longest_run_ns + 1)) {
        dlex_try_within_disable();
        ret = decode_packet(pass, avctx, packet, frame);
        decoded = true;
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        pass->late_count++;
    } dlex_end
    return decoded ? ret : decode_packet(pass, avctx, packet, frame);
}

static int decode_packets(struct decode_pass *pass, const struct coded_stream *stream,
                          AVCodecContext *avctx, AVFrame *frame)
{
    for (size_t i = 0; i < stream->packet_count; i++) {
        AVPacket *packet = stream->packets[i];
        packet->opaque = (void *)(intptr_t)i;
        const int ret = pass->policy == GATE_RANDOM
                            ? decode_packet_in_block(pass, avctx, packet, frame)
                            : decode_packet(pass, avctx, packet, frame);
        if (ret < 0)
            return ret;
    }
    return decode_packet(pass, avctx, NULL, frame);
}

static void prepare(AVCodecContext *avctx, void *opaque)
{
    struct decode_pass *pass = opaque;
    avctx->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
    avctx->opaque = pass;
    avctx->gate = pass->policy == GATE_NONE ? NULL : gate;
}

int pass_decode(struct decode_pass *pass, const struct coded_stream *stream)
{
    log_count = 0;
    av_log_set_callback(count_messages);
    AVCodecContext *avctx = NULL;
    AVFrame *frame = av_frame_alloc();
    int ret = frame ? stream_open_decoder(&avctx, stream, prepare, pass) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = decode_packets(pass, stream, avctx, frame);
    avcodec_free_context(&avctx);
    av_frame_free(&frame);
    av_log_set_callback(av_log_default_callback);
    pass->log_count = log_count;
    return ret;
}

void pass_finish(struct decode_pass *pass)
{
    av_freep(&pass->pictures);
    pass->picture_count = 0;
}
