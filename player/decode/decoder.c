/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decoder.h"

#include <dlex/dlex.h>
#include <libavutil/pixdesc.h>
#include <time.h>

enum {
    /* What one packet or one step of draining can release; the rest stays in libavcodec until the next step. */
    PICTURES_MAX = 32,
    NS_PER_S = 1000000000,
};

struct decoder {
    AVCodecContext *avctx;
    AVFrame *picture[PICTURES_MAX];
    int pictures;
    int taken;

    /*
     * The decode that is running. The gate and the handlers find their data here and not in local variables, which would
     * not survive the jump.
     */
    struct policy_order order;
    const AVPacket *packet;
    int result;
    int64_t fired_ns;
    bool begun;
};

static int64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void note_expiry(struct decoder *decoder)
{
    if (decoder->fired_ns == FIELD_EMPTY)
        decoder->fired_ns = dlex_now_ns();
}

/* Runs the slices on an island of their own in the protected section. Nothing but `run` may be interrupted. */
static int run_until_deadline(struct decoder *decoder, int (*run)(AVCodecContext *, void *), void *arg)
{
    /* Survives the jump because it is volatile: whether the slices came to their end just before the expiry. */
    volatile int result = AVERROR(ECANCELED);
    dlex_try_within_abs_shielded(decoder->order.deadline_ns)
    {
        result = run(decoder->avctx, arg);
    }
    dlex_handle
        dlex_when(dlex_deadline_violation)
        {
            note_expiry(decoder);
        }
    dlex_end
    return result;
}

/* Called by libavcodec round the slices of a droppable picture; see patches/README.md for the contract. */
static int gate(AVCodecContext *avctx, const AVFrame *picture, int (*run)(AVCodecContext *, void *), void *arg)
{
    struct decoder *const decoder = avctx->opaque;
    struct frame_row *const row = picture->opaque;
    if (row)
        row->record.droppable = 1;
    if (decoder->order.give_up) {
        if (row)
            row->record.verdict = VERDICT_SKIPPED;
        return AVERROR(ECANCELED);
    }
    if (decoder->order.deadline_ns == NO_DEADLINE)
        return run(avctx, arg);
    const int result = run_until_deadline(decoder, run, arg);
    if (result == AVERROR(ECANCELED) && row)
        row->record.verdict = VERDICT_ABORTED;
    return result;
}

static void prepare(AVCodecContext *avctx, void *opaque)
{
    avctx->opaque = opaque;
    avctx->gate = gate;
}

int decoder_open(struct decoder **out, const AVStream *stream, char *why, size_t why_size)
{
    struct decoder *decoder = av_mallocz(sizeof *decoder);
    if (!decoder)
        goto no_memory;
    for (int i = 0; i < PICTURES_MAX; i++) {
        decoder->picture[i] = av_frame_alloc();
        if (!decoder->picture[i])
            goto no_memory;
    }
    const int ret = clip_open_decoder(&decoder->avctx, stream, prepare, decoder, why, why_size);
    if (ret < 0) {
        decoder_close(&decoder);
        return ret;
    }
    *out = decoder;
    return 0;
no_memory:
    decoder_close(&decoder);
    snprintf(why, why_size, "out of memory");
    return AVERROR(ENOMEM);
}

void decoder_close(struct decoder **decoder)
{
    if (!*decoder)
        return;
    for (int i = 0; i < PICTURES_MAX; i++)
        av_frame_free(&(*decoder)->picture[i]);
    avcodec_free_context(&(*decoder)->avctx);
    av_freep(decoder);
}

bool decoder_has_gate(const struct decoder *decoder)
{
    return decoder->avctx->codec->capabilities & AV_CODEC_CAP_GATE;
}

const char *decoder_description(const struct decoder *decoder, char *buffer, size_t size)
{
    const char *const profile = avcodec_profile_name(decoder->avctx->codec_id, decoder->avctx->profile);
    snprintf(buffer, size, "%s%s%s%s", avcodec_get_name(decoder->avctx->codec_id), profile ? " (" : "",
             profile ? profile : "", profile ? ")" : "");
    return buffer;
}

/* One packet's whole way through libavcodec; pictures it releases are collected. */
static void decode(struct decoder *decoder)
{
    decoder->begun = true;
    int ret = avcodec_send_packet(decoder->avctx, decoder->packet);
    if (ret == AVERROR_EOF && !decoder->packet)
        ret = 0; /* draining already */
    /* An error is one picture's; what stays inside after it would keep out the next packet. */
    int errors = 0;
    int received = 0;
    while (decoder->pictures + errors < PICTURES_MAX) {
        received = avcodec_receive_frame(decoder->avctx, decoder->picture[decoder->pictures]);
        if (received == AVERROR(EAGAIN) || received == AVERROR_EOF)
            break;
        if (received >= 0) {
            decoder->pictures++;
        } else {
            errors++;
            ret = received;
        }
    }
    decoder->result = ret >= 0 && received == AVERROR_EOF ? received : ret;
}

/*
 * The block opens only now and its deadline may have passed already: its body is then not entered at all. Every packet
 * must go through libavcodec all the same, so the handler makes up for it, and the gate refuses what is droppable.
 */
static void decode_within_deadline(struct decoder *decoder)
{
    decoder->begun = false;
    dlex_try_within_abs(decoder->order.deadline_ns)
    {
        dlex_try_within_disable();
        decode(decoder);
        dlex_try_within_enable();
    }
    dlex_handle
        dlex_when(dlex_deadline_violation)
        {
            note_expiry(decoder);
            if (!decoder->begun)
                decode(decoder);
        }
    dlex_end
}

static void record_decode(const struct decoder *decoder, struct frame_record *record, int64_t start_ns,
                          int64_t start_cpu_ns)
{
    record->decode_start_ns = start_ns;
    record->decode_cpu_ns = thread_cpu_ns() - start_cpu_ns;
    record->decode_end_ns = dlex_now_ns();
    if (record->droppable == FIELD_EMPTY)
        record->droppable = 0;
    if (decoder->order.deadline_ns != NO_DEADLINE)
        record->deadline_ns = decoder->order.deadline_ns;
    record->fired_ns = decoder->fired_ns;
}

static void forget_pictures(struct decoder *decoder)
{
    for (int i = 0; i < decoder->pictures; i++)
        av_frame_unref(decoder->picture[i]);
    decoder->pictures = decoder->taken = 0;
}

int decoder_feed(struct decoder *decoder, const AVPacket *packet, const struct policy_order *order,
                 struct frame_row *row)
{
    forget_pictures(decoder);
    decoder->order = *order;
    decoder->packet = packet;
    decoder->fired_ns = FIELD_EMPTY;
    const int64_t start_ns = dlex_now_ns();
    const int64_t start_cpu_ns = thread_cpu_ns();
    if (order->deadline_ns == NO_DEADLINE)
        decode(decoder);
    else
        decode_within_deadline(decoder);
    if (row)
        record_decode(decoder, &row->record, start_ns, start_cpu_ns);
    return decoder->result;
}

const AVFrame *decoder_take(struct decoder *decoder, struct frame_row **row)
{
    if (decoder->taken == decoder->pictures)
        return NULL;
    const AVFrame *const picture = decoder->picture[decoder->taken++];
    *row = picture->opaque;
    return picture;
}

void decoder_flush(struct decoder *decoder)
{
    forget_pictures(decoder);
    avcodec_flush_buffers(decoder->avctx);
}
