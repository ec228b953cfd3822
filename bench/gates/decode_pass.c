/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decode_pass.h"

#include <stdio.h>
#include <string.h>

#include <dlex/dlex.h>
#include <libavutil/mem.h>

#include "av1_packet.h"
#include "interrupt.h"
#include "made_streams.h"

enum { ERRORS_MAX = 64 }; /* of one packet; more are a decoder that makes no progress */

static atomic_long log_count;

static void count_messages(void *context, int level, const char *format, va_list args)
{
    (void)context, (void)format, (void)args;
    if (level <= AV_LOG_WARNING)
        log_count++;
}

static uint64_t draw(struct decode_pass *pass)
{
    /* xorshift64: the same seed gives the same choices on every machine. */
    pass->seed ^= pass->seed << 13;
    pass->seed ^= pass->seed >> 7;
    pass->seed ^= pass->seed << 17;
    return pass->seed;
}

/* The packet's index travels through libavcodec in the pointer `opaque`, one higher, so that NULL is a lost one. */
static int64_t packet_of(const AVFrame *picture)
{
    return (int64_t)(intptr_t)picture->opaque - 1;
}

/* Returns the record of the picture, or NULL, and counts a stray call, if the decoder must not ask about the picture. */
static struct packet_record *record_of(struct decode_pass *pass, const AVFrame *picture)
{
    const int64_t packet = packet_of(picture);
    if (packet >= 0 && picture->flags & AV_FRAME_FLAG_DROPPABLE)
        return &pass->records[packet];
    pass->stray_count++;
    return NULL;
}

static int run_interrupted(struct decode_pass *pass, AVCodecContext *avctx,
                           int (*run)(AVCodecContext *, void *), void *arg)
{
    return interrupt_after((int64_t)(draw(pass) % (uint64_t)(pass->longest_run_ns + 1)), run, avctx, arg);
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

/* In a random pass one run in four is not interrupted, and a few runs are refused. */
static int gate(AVCodecContext *avctx, const AVFrame *picture,
                int (*run)(AVCodecContext *, void *), void *arg)
{
    struct decode_pass *const pass = avctx->opaque;
    struct packet_record *const record = record_of(pass, picture);
    if (!record)
        return run(avctx, arg);
    /* No picture gets here again after it was abandoned. */
    pass->stray_count += record->given_up;
    const bool is_random = pass->policy == PASS_RANDOM;
    int ret = AVERROR(ECANCELED);
    if (is_random && draw(pass) % 4) {
        record->asks++;
        ret = run_interrupted(pass, avctx, run, arg);
    } else if (pass->policy == PASS_OPEN || (is_random && draw(pass) % 4)) {
        record->asks++;
        ret = run_whole(pass, avctx, run, arg);
    }
    if (ret == AVERROR(ECANCELED))
        record->given_up = true;
    return ret;
}

static int abandon(AVCodecContext *avctx, const AVFrame *picture)
{
    struct decode_pass *const pass = avctx->opaque;
    struct packet_record *const record = record_of(pass, picture);
    if (!record)
        return 0;
    /* Other threads may ask while one is being stopped. */
    pass->stray_count += record->given_up && pass->mode.threads == 1;
    const int asked = record->asks++;
    if (record->limit < 0 || asked < record->limit)
        return 0;
    record->given_up = true;
    return 1;
}

/* Chooses when each picture is given up: one in four not at all, the others at any of the questions of an open pass. */
static void choose_limits(struct decode_pass *pass)
{
    for (size_t i = 0; i < pass->packet_count; i++) {
        struct packet_record *const record = &pass->records[i];
        record->limit = pass->policy == PASS_REFUSE ? 0 : -1;
        if (pass->policy == PASS_RANDOM && pass->mode.way == WAY_POLL && draw(pass) % 4)
            record->limit = (int)(draw(pass) % (uint64_t)(pass->open[i].asks + 1));
    }
}

static int add_fingerprint(struct decode_pass *pass, const AVFrame *frame)
{
    struct fingerprint *pictures =
        av_realloc_array(pass->pictures, pass->picture_count + 1, sizeof(*pictures));
    if (!pictures)
        return AVERROR(ENOMEM);
    pass->pictures = pictures;
    struct fingerprint *print = &pictures[pass->picture_count++];
    *print = (struct fingerprint){
        .pts = frame->pts,
        .packet = packet_of(frame),
        .type = frame->pict_type,
        .width = frame->width,
        .height = frame->height,
        .droppable = frame->flags & AV_FRAME_FLAG_DROPPABLE,
        .abandoned = frame->flags & AV_FRAME_FLAG_ABANDONED,
        .damaged = frame->decode_error_flags || frame->flags & AV_FRAME_FLAG_CORRUPT,
        .captions = captions_number(frame),
    };
    /* The contents of an abandoned picture are undefined, so nothing may depend on them. */
    return print->abandoned ? 0 : picture_hash(frame, &print->hash);
}

/* Takes what the decoder has ready. A damaged packet does not end the stream: other pictures may come after its error. */
static int take_pictures(struct decode_pass *pass, AVCodecContext *avctx, AVFrame *frame)
{
    for (int errors = 0; errors < ERRORS_MAX;) {
        int ret = avcodec_receive_frame(avctx, frame);
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return 0;
        if (ret < 0) {
            pass->rejected_count++;
            errors++;
            continue;
        }
        ret = add_fingerprint(pass, frame);
        av_frame_unref(frame);
        if (ret < 0)
            return ret;
    }
    return AVERROR_BUG;
}

static int decode_packet(struct decode_pass *pass, AVCodecContext *avctx, const AVPacket *packet,
                         AVFrame *frame)
{
    const int ret = avcodec_send_packet(avctx, packet);
    if (ret < 0 && ret != AVERROR_INVALIDDATA)
        return ret;
    pass->rejected_count += ret < 0;
    return take_pictures(pass, avctx, frame);
}

/*
 * Decodes as a player does: the packet has a deadline, and is protected except in the gate. If the
 * deadline passes before the protected section begins, the packet is decoded anyway; otherwise a
 * reference would be lost.
 */
static int decode_packet_in_block(struct decode_pass *pass, AVCodecContext *avctx,
                                  const AVPacket *packet, AVFrame *frame)
{
    volatile int ret = 0; /* these survive the jump */
    volatile bool decoded = false;
    dlex_try_within_rel((int64_t)(draw(pass) % (uint64_t)(2 * pass->longest_run_ns + 1))) {
        dlex_try_within_disable();
        ret = decode_packet(pass, avctx, packet, frame);
        decoded = true;
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        /* Only what follows the block sees it. */
    } dlex_end
    return decoded ? ret : decode_packet(pass, avctx, packet, frame);
}

/* Sends what is left of a temporal unit without its shown frame. */
static int decode_without(struct decode_pass *pass, AVCodecContext *avctx, const AVPacket *packet,
                          const struct av1_shown *shown, AVFrame *frame)
{
    AVPacket *rest;
    int ret = av1_rest_of(packet, shown, &rest);
    if (ret >= 0 && rest)
        ret = decode_packet(pass, avctx, rest, frame);
    av_packet_free(&rest);
    return ret;
}

static int decode_or_withhold(struct decode_pass *pass, AVCodecContext *avctx, struct av1_sequence *sequence,
                              size_t index, const AVPacket *packet, AVFrame *frame)
{
    const struct av1_shown shown = av1_look_at_packet(sequence, packet);
    struct packet_record *const record = &pass->records[index];
    record->asks = shown.droppable;
    record->given_up = shown.droppable &&
        (pass->policy == PASS_REFUSE || (pass->policy == PASS_RANDOM && draw(pass) % 2));
    return record->given_up ? decode_without(pass, avctx, packet, &shown, frame)
                            : decode_packet(pass, avctx, packet, frame);
}

static int decode_packets(struct decode_pass *pass, const struct coded_stream *stream,
                          AVCodecContext *avctx, AVFrame *frame)
{
    struct av1_sequence sequence = {0};
    if (pass->mode.way == WAY_WITHHOLD)
        av1_configure(&sequence, (struct bytes){stream->parameters->extradata,
                                                stream->parameters->extradata + stream->parameters->extradata_size});
    for (size_t i = 0; i < stream->packet_count; i++) {
        if (i == pass->seek.after && pass->seek.to > i) {
            avcodec_flush_buffers(avctx);
            i = pass->seek.to;
        }
        AVPacket *packet = stream->packets[i];
        packet->opaque = (void *)(intptr_t)(i + 1);
        int ret;
        if (pass->mode.way == WAY_WITHHOLD)
            ret = decode_or_withhold(pass, avctx, &sequence, i, packet, frame);
        else if (pass->mode.way == WAY_JUMP && pass->policy == PASS_RANDOM)
            ret = decode_packet_in_block(pass, avctx, packet, frame);
        else
            ret = decode_packet(pass, avctx, packet, frame);
        if (ret < 0)
            return ret;
    }
    return decode_packet(pass, avctx, NULL, frame);
}

static int get_filled_buffer(AVCodecContext *avctx, AVFrame *frame, int flags)
{
    const struct decode_pass *const pass = avctx->opaque;
    const int ret = avcodec_default_get_buffer2(avctx, frame, flags);
    for (int i = 0; ret >= 0 && i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, pass->fill, frame->buf[i]->size);
    return ret;
}

static void prepare(AVCodecContext *avctx, void *opaque)
{
    struct decode_pass *const pass = opaque;
    avctx->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
    /* An abandoned picture is not held against its MD5 sum (HEVC), and what it lacks is no error. */
    avctx->err_recognition |= AV_EF_CRCCHECK | (pass->is_strict ? AV_EF_EXPLODE : 0);
    avctx->opaque = pass;
    avctx->get_buffer2 = get_filled_buffer;
    avctx->thread_count = pass->mode.threads;
    avctx->thread_type = pass->mode.thread_type;
    if (pass->policy == PASS_PLAIN)
        return;
    /* A decoder of a libavcodec without the patches has neither capability, and perhaps a smaller context. */
    const int capabilities = avctx->codec->capabilities;
    if (pass->mode.way == WAY_JUMP && capabilities & AV_CODEC_CAP_GATE)
        avctx->gate = gate;
    if (pass->mode.way == WAY_POLL && capabilities & AV_CODEC_CAP_ABANDON)
        avctx->abandon = abandon;
}

bool mode_is_possible(const struct coded_stream *stream, struct decode_mode mode)
{
    const AVCodec *const codec = avcodec_find_decoder(stream->parameters->codec_id);
    if (!codec)
        return false;
    const int thread_capability = mode.thread_type == FF_THREAD_FRAME ? AV_CODEC_CAP_FRAME_THREADS
                                                                      : AV_CODEC_CAP_SLICE_THREADS;
    const bool has_threads = mode.threads == 1 || codec->capabilities & thread_capability;
    switch (mode.way) {
    case WAY_JUMP: return mode.threads == 1 && codec->capabilities & AV_CODEC_CAP_GATE;
    case WAY_POLL: return has_threads && codec->capabilities & AV_CODEC_CAP_ABANDON;
    case WAY_WITHHOLD: return stream->parameters->codec_id == AV_CODEC_ID_AV1 && mode.thread_type == FF_THREAD_FRAME;
    }
    return false;
}

const char *mode_name(struct decode_mode mode, char *buffer, size_t size)
{
    static const char *const ways[] = {[WAY_JUMP] = "jump", [WAY_POLL] = "poll", [WAY_WITHHOLD] = "withheld"};
    if (mode.threads == 1)
        snprintf(buffer, size, "%s, 1 thread", ways[mode.way]);
    else
        snprintf(buffer, size, "%s, %d %s threads", ways[mode.way], mode.threads,
                 mode.thread_type == FF_THREAD_FRAME ? "frame" : "slice");
    return buffer;
}

int pass_decode(struct decode_pass *pass, const struct coded_stream *stream)
{
    log_count = 0;
    av_log_set_callback(count_messages);
    AVCodecContext *avctx = NULL;
    AVFrame *frame = av_frame_alloc();
    pass->records = av_calloc(stream->packet_count, sizeof(*pass->records));
    pass->packet_count = stream->packet_count;
    int ret = frame && pass->records ? 0 : AVERROR(ENOMEM);
    if (ret >= 0) {
        choose_limits(pass);
        ret = stream_open_decoder(&avctx, stream, prepare, pass);
    }
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
    av_freep(&pass->records);
    pass->picture_count = 0;
}

size_t pass_count_droppable(const struct decode_pass *pass)
{
    size_t count = 0;
    for (size_t i = 0; i < pass->picture_count; i++)
        count += pass->pictures[i].droppable;
    return count;
}

size_t pass_count_abandoned(const struct decode_pass *pass)
{
    size_t count = 0;
    for (size_t i = 0; i < pass->picture_count; i++)
        count += pass->pictures[i].abandoned;
    return count;
}

bool pass_misplaces_captions(const struct decode_pass *pass)
{
    for (size_t i = 0; i < pass->picture_count; i++)
        if (pass->pictures[i].captions >= 0 && pass->pictures[i].captions != pass->pictures[i].packet)
            return true;
    return false;
}

struct given_up_count pass_count_given_up(const struct decode_pass *pass)
{
    struct given_up_count count = {0};
    for (size_t i = 0; i < pass->packet_count; i++) {
        const struct packet_record *const record = &pass->records[i];
        if (!record->given_up)
            continue;
        /* The first question comes before the first block; a gate is opened and then interrupted. */
        if (record->asks > (pass->mode.way != WAY_JUMP))
            count.interrupted++;
        else
            count.refused++;
    }
    return count;
}
