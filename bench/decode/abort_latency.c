/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "abort_latency.h"

#include <stdlib.h>
#include <time.h>

#include <dlex/dlex.h>

#include "ns.h"
#include "raw_timer.h"

/* After this many times as long a thread rests as long. */
enum { REST_PART = 10 };

/* The decode of one packet; by poll, its address travels through libavcodec with the packet and the picture. */
struct attempt {
    int64_t deadline_ns;
    int64_t asked_ns; /* poll: when the last question came; 0: none came */
    bool taken;       /* the violation, inside a droppable picture */
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
    attempt->taken = true;
    add_sample(waited ? &latency->waited_ns : &latency->inside_ns, dlex_expired_ns());
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

static void add_answer(struct abort_latency *latency, struct samples *samples, int64_t ns)
{
    pthread_mutex_lock(&latency->lock);
    add_sample(samples, ns);
    pthread_mutex_unlock(&latency->lock);
}

/* Called before each row of a droppable picture, in the thread that decodes it. */
static int abandon(AVCodecContext *avctx, const AVFrame *picture)
{
    (void)avctx;
    const int64_t now_ns = dlex_now_ns();
    struct attempt *const attempt = picture->opaque;
    struct abort_latency *const latency = attempt->latency;
    const int64_t asked_ns = attempt->asked_ns;
    attempt->asked_ns = now_ns;
    if (now_ns < attempt->deadline_ns) {
        if (asked_ns)
            add_answer(latency, &latency->row_ns, now_ns - asked_ns);
        return 0;
    }
    if (!attempt->taken)
        add_answer(latency, asked_ns ? &latency->inside_ns : &latency->waited_ns, now_ns - attempt->deadline_ns);
    attempt->taken = true;
    return 1;
}

static int decode_asking(AVCodecContext *avctx, AVPacket *packet, AVFrame *frame, struct attempt *attempt)
{
    packet->opaque = attempt;
    return stream_decode_packet(avctx, packet, frame, NULL, NULL);
}

static int decode_by_deadline(AVCodecContext *avctx, AVPacket *packet, AVFrame *frame, struct attempt *attempt)
{
    volatile int ret = 0; /* these survive the jump */
    volatile bool decoded = false;
    avctx->opaque = attempt;
    dlex_try_within_abs(attempt->deadline_ns) {
        dlex_try_within_disable();
        ret = stream_decode_packet(avctx, packet, frame, NULL, NULL);
        decoded = true;
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        if (!decoded)
            ret = stream_decode_packet(avctx, packet, frame, NULL, NULL);
        else if (!attempt->taken)
            add_sample(&attempt->latency->waited_ns, dlex_expired_ns());
    } dlex_end
    return ret;
}

static bool has_enough(struct abort_latency *latency)
{
    pthread_mutex_lock(&latency->lock);
    const bool is_enough = latency->inside_ns.count >= (size_t)latency->wanted_aborts;
    pthread_mutex_unlock(&latency->lock);
    return is_enough;
}

static void rest(int64_t since_ns)
{
    const int64_t ns = (dlex_now_ns() - since_ns) / REST_PART;
    nanosleep(&(struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S}, NULL);
}

/* attempts: one for each packet, for as long as a codec thread may ask about its picture. */
static int decode_pass(struct abort_latency *latency, const struct coded_stream *stream, struct attempt *attempts,
                       AVCodecContext *avctx, AVFrame *frame, const struct raw_timer *timer)
{
    for (size_t i = 0; i < stream->packet_count; i++) {
        const int64_t start_ns = dlex_now_ns();
        attempts[i] = (struct attempt){.latency = latency, .deadline_ns = start_ns + latency->deadline_base_ns};
        int (*const decode)(AVCodecContext *, AVPacket *, AVFrame *, struct attempt *) =
            latency->way == ABORT_BY_JUMP ? decode_by_deadline : decode_asking;
        const int ret = decode(avctx, stream->packets[i], frame, &attempts[i]);
        if (ret < 0)
            return ret;
        dlex_idle(); /* no leftover expiry of libdlex in the raw measurement */
        const int64_t raw_ns = raw_timer_latency_ns(timer, latency->deadline_base_ns);
        if (raw_ns < 0)
            return raw_ns;
        const int added = add_sample(&latency->raw_ns, raw_ns);
        if (added < 0 || has_enough(latency))
            return added;
        if (latency->rests)
            rest(start_ns);
    }
    return 0;
}

/* Without the capability the context may end before the field. */
static void open_gate(AVCodecContext *avctx, void *opaque)
{
    const struct abort_latency *const latency = opaque;
    const int capabilities = avctx->codec->capabilities;
    avctx->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
    avctx->thread_count = latency->threads;
    avctx->thread_type = FF_THREAD_FRAME;
    if (latency->way == ABORT_BY_JUMP && capabilities & AV_CODEC_CAP_GATE)
        avctx->gate = gate;
    if (latency->way == ABORT_BY_POLL && capabilities & AV_CODEC_CAP_ABANDON)
        avctx->abandon = abandon;
}

int latency_measure(struct abort_latency *latency, const struct coded_stream *stream)
{
    struct raw_timer timer;
    int ret = raw_timer_init(&timer, CLOCK_MONOTONIC);
    if (ret < 0)
        return ret;
    AVCodecContext *avctx = NULL;
    AVFrame *frame = av_frame_alloc();
    struct attempt *attempts = calloc(stream->packet_count + 1, sizeof(*attempts));
    pthread_mutex_init(&latency->lock, NULL);
    ret = frame && attempts ? stream_open_decoder(&avctx, stream, open_gate, latency) : AVERROR(ENOMEM);
    while (ret >= 0 && latency->passes < latency->most_passes && !has_enough(latency)) {
        ret = decode_pass(latency, stream, attempts, avctx, frame, &timer);
        avcodec_flush_buffers(avctx);
        latency->passes++;
    }
    avcodec_free_context(&avctx); /* no thread asks any more */
    pthread_mutex_destroy(&latency->lock);
    free(attempts);
    av_frame_free(&frame);
    raw_timer_finish(&timer);
    return ret;
}

void latency_finish(struct abort_latency *latency)
{
    free(latency->inside_ns.ns);
    free(latency->waited_ns.ns);
    free(latency->raw_ns.ns);
    free(latency->row_ns.ns);
    latency->inside_ns = latency->waited_ns = latency->raw_ns = latency->row_ns = (struct samples){0};
}
