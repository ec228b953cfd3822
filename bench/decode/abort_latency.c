/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "abort_latency.h"

#include <stdbool.h>
#include <stdlib.h>

#include <dlex/dlex.h>

#include "raw_timer.h"

/* The decode of one packet. */
struct attempt {
    int64_t deadline_ns;
    bool taken_in_gate;
    struct abort_latency *latency;
};

static int add_sample(struct samples *samples, int64_t ns)
{
    if (samples->count == samples->capacity) {
        const size_t capacity = samples->capacity ? 2 * samples->capacity : 1024;
        double *grown = realloc(samples->ns, capacity * sizeof(*grown));
        if (!grown)
            return AVERROR(ENOMEM);
        samples->ns = grown;
        samples->capacity = capacity;
    }
    samples->ns[samples->count++] = ns;
    return 0;
}

/*
 * If the deadline passed before the gate opened, its violation waited for the protected section
 * that ended there.
 */
static void note_violation(struct attempt *attempt, int64_t opened_ns)
{
    struct abort_latency *latency = attempt->latency;
    const bool waited = opened_ns >= attempt->deadline_ns;
    attempt->taken_in_gate = true;
    add_sample(waited ? &latency->waited_ns : &latency->gate_ns, dlex_expired_ns());
}

static int gate(AVCodecContext *avctx, const AVFrame *picture,
                int (*run)(AVCodecContext *, void *), void *arg)
{
    (void)picture;
    struct attempt *attempt = avctx->opaque;
    volatile int ret = AVERROR(ECANCELED); /* survives the jump */
    const int64_t opened_ns = dlex_now_ns();
    dlex_try_within_abs_shielded(attempt->deadline_ns) {
        ret = run(avctx, arg);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        ret = AVERROR(ECANCELED);
        note_violation(attempt, opened_ns); /* the handler is in the protected section again */
    } dlex_end
    return ret;
}

static int decode_by_deadline(AVCodecContext *avctx, const AVPacket *packet, AVFrame *frame)
{
    struct attempt attempt = {.latency = avctx->opaque};
    volatile int ret = 0; /* these survive the jump */
    volatile bool decoded = false;
    avctx->opaque = &attempt;
    attempt.deadline_ns = dlex_now_ns() + attempt.latency->deadline_base_ns;
    dlex_try_within_abs(attempt.deadline_ns) {
        dlex_try_within_disable();
        ret = stream_decode_packet(avctx, packet, frame, NULL, NULL);
        decoded = true;
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        if (!decoded)
            ret = stream_decode_packet(avctx, packet, frame, NULL, NULL);
        else if (!attempt.taken_in_gate)
            add_sample(&attempt.latency->waited_ns, dlex_expired_ns());
    } dlex_end
    avctx->opaque = attempt.latency;
    return ret;
}

static int decode_pass(struct abort_latency *latency, const struct coded_stream *stream,
                       AVCodecContext *avctx, AVFrame *frame, const struct raw_timer *timer)
{
    for (size_t i = 0; i < stream->packet_count; i++) {
        const int ret = decode_by_deadline(avctx, stream->packets[i], frame);
        if (ret < 0)
            return ret;
        dlex_idle(); /* no leftover expiry of libdlex in the raw measurement */
        const int64_t raw_ns = raw_timer_latency_ns(timer, latency->deadline_base_ns);
        if (raw_ns < 0)
            return raw_ns;
        const int added = add_sample(&latency->raw_ns, raw_ns);
        if (added < 0 || latency->gate_ns.count >= (size_t)latency->wanted_aborts)
            return added;
    }
    return 0;
}

static void open_gate(AVCodecContext *avctx, void *latency)
{
    avctx->opaque = latency;
    if (avctx->codec->capabilities & AV_CODEC_CAP_GATE) /* otherwise the context may end before this field */
        avctx->gate = gate;
}

int latency_measure(struct abort_latency *latency, const struct coded_stream *stream)
{
    struct raw_timer timer;
    int ret = raw_timer_init(&timer, CLOCK_MONOTONIC);
    if (ret < 0)
        return ret;
    AVCodecContext *avctx = NULL;
    AVFrame *frame = av_frame_alloc();
    ret = frame ? stream_open_decoder(&avctx, stream, open_gate, latency) : AVERROR(ENOMEM);
    while (ret >= 0 && latency->passes < latency->most_passes &&
           latency->gate_ns.count < (size_t)latency->wanted_aborts) {
        ret = decode_pass(latency, stream, avctx, frame, &timer);
        avcodec_flush_buffers(avctx);
        latency->passes++;
    }
    avcodec_free_context(&avctx);
    av_frame_free(&frame);
    raw_timer_finish(&timer);
    return ret;
}

void latency_finish(struct abort_latency *latency)
{
    free(latency->gate_ns.ns);
    free(latency->waited_ns.ns);
    free(latency->raw_ns.ns);
    latency->gate_ns = latency->waited_ns = latency->raw_ns = (struct samples){0};
}
