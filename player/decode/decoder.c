/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decoder.h"

#include "av1_rest.h"
#include "clip.h"
#include "ns.h"
#include "thread_cpu.h"

#include <dlex/dlex.h>
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>

/*
 * The most pictures that one packet or one step of draining can release. The rest stays in libavcodec until the next.
 */
enum { PICTURES_MAX = 32 };

struct decoder {
    AVCodecContext *avctx;
    AVFrame *picture[PICTURES_MAX];
    int pictures;
    int taken;
    struct av1_sequence av1; /* of AV1, whose decoder gives up nothing: droppable pictures are withheld from it */

    /*
     * The decode that is running. The gate and the handlers find their data here, because local variables would not
     * survive the jump.
     */
    struct decode_job job;
    struct dlex_trigger *stop; /* NULL: nobody stops a decode */
    struct gate_verdict gate;
    int result;
    int64_t fired_ns;
    bool begun;
};

static void note_expiry(struct decoder *decoder)
{
    if (decoder->fired_ns == NS_UNKNOWN)
        decoder->fired_ns = dlex_now_ns();
}

/*
 * Runs the slices on their own interruptible island in the protected section. Nothing but `run` may be interrupted. A fired
 * trigger ends them like a deadline.
 */
static int run_until_deadline(struct decoder *decoder, int (*run)(AVCodecContext *, void *), void *arg)
{
    /* Volatile, so that it survives the jump. It says whether the slices finished just before the expiry. */
    volatile int result = AVERROR(ECANCELED);
    dlex_try_within_abs_shielded(decoder->job.order.deadline_ns)
    {
        if (decoder->stop)
            dlex_trigger_bind(decoder->stop);
        result = run(decoder->avctx, arg);
    }
    dlex_handle
        dlex_when(dlex_deadline_violation) /* also when the trigger was fired */
        {
            note_expiry(decoder);
        }
    dlex_end
    return result;
}

/* A job's number travels through libavcodec in the pointer `opaque`. It is NULL if libavcodec lost it. */
static int64_t number_of(const AVFrame *picture)
{
    return (int64_t)(intptr_t)picture->opaque - 1;
}

/* Called by libavcodec round the slices of a droppable picture; see patches/README.md for the contract. */
static int gate(AVCodecContext *avctx, const AVFrame *picture, int (*run)(AVCodecContext *, void *), void *arg)
{
    struct decoder *const decoder = avctx->opaque;
    decoder->gate.number = number_of(picture);
    if (decoder->job.order.give_up || decoder->job.order.refuse) {
        decoder->gate.verdict = VERDICT_SKIPPED;
        return AVERROR(ECANCELED);
    }
    if (decoder->job.order.deadline_ns == NO_DEADLINE && !decoder->stop)
        return run(avctx, arg);
    const int result = run_until_deadline(decoder, run, arg);
    if (result == AVERROR(ECANCELED))
        decoder->gate.verdict = VERDICT_ABORTED;
    return result;
}

/*
 * Returns whether the deadline has passed or the trigger was fired. A cooperative block looks once, and the jump stays in
 * this function: it must not leave libavcodec.
 */
static bool is_hopeless(struct decoder *decoder)
{
    volatile bool hopeless = false; /* it survives the jump */
    dlex_try_within_abs_cooperative(decoder->job.order.deadline_ns)
    {
        if (decoder->stop)
            dlex_trigger_bind(decoder->stop);
        dlex_checkpoint();
    }
    dlex_handle
        dlex_when(dlex_deadline_violation) /* also when the trigger was fired */
        {
            hopeless = true;
        }
    dlex_end
    return hopeless;
}

/* Returns whether a droppable picture is to be given up now, and notes the verdict. */
static bool is_given_up(struct decoder *decoder, int64_t number)
{
    decoder->gate.number = number;
    if (decoder->job.order.give_up || decoder->job.order.refuse) {
        decoder->gate.verdict = VERDICT_SKIPPED;
        return true;
    }
    if (decoder->job.order.deadline_ns == NO_DEADLINE && !decoder->stop)
        return false;
    if (!is_hopeless(decoder))
        return false;
    note_expiry(decoder);
    decoder->gate.verdict = VERDICT_ABORTED;
    return true;
}

/* Called by libavcodec before each row of a droppable picture, where it has no gate; see patches/README.md. */
static int abandon(AVCodecContext *avctx, const AVFrame *picture)
{
    return is_given_up(avctx->opaque, number_of(picture));
}

static void prepare(AVCodecContext *avctx, void *opaque)
{
    avctx->opaque = opaque;
    avctx->gate = gate;
    avctx->abandon = abandon;
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
    if (stream->codecpar->codec_id == AV_CODEC_ID_AV1)
        av1_configure(&decoder->av1, (struct bytes){stream->codecpar->extradata,
                                                    stream->codecpar->extradata + stream->codecpar->extradata_size});
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

void decoder_stop_by(struct decoder *decoder, struct dlex_trigger *stop)
{
    decoder->stop = stop;
}

bool decoder_has_gate(const struct decoder *decoder)
{
    return decoder->avctx->codec->capabilities & AV_CODEC_CAP_ABANDON;
}

int decoder_delay(const struct decoder *decoder)
{
    return decoder->avctx->has_b_frames;
}

const char *decoder_description(const struct decoder *decoder, char *buffer, size_t size)
{
    const char *const profile = avcodec_profile_name(decoder->avctx->codec_id, decoder->avctx->profile);
    snprintf(buffer, size, "%s%s%s%s", avcodec_get_name(decoder->avctx->codec_id), profile ? " (" : "",
             profile ? profile : "", profile ? ")" : "");
    return buffer;
}

/* Sends one packet through libavcodec and collects the pictures that it releases. */
static void decode_packet(struct decoder *decoder, const AVPacket *packet)
{
    int ret = avcodec_send_packet(decoder->avctx, packet);
    if (ret == AVERROR_EOF && !packet)
        ret = 0; /* draining already */
    /* An error concerns one picture only. Go on receiving: pictures left inside would keep out the next packet. */
    int errors = 0;
    int received = 0;
    /* Draining releases one picture at a time, so that a queue of pictures can stay in its limit. */
    const int most = packet ? PICTURES_MAX : 1;
    while (decoder->pictures + errors < most) {
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

/* Stands for a withheld picture. With one thread, libdav1d has given out all pictures before it. */
static void add_placeholder(struct decoder *decoder)
{
    if (decoder->pictures == PICTURES_MAX)
        return; /* only a broken stream releases so many */
    AVFrame *const picture = decoder->picture[decoder->pictures++];
    const AVPacket *const packet = decoder->job.packet;
    picture->pts = picture->best_effort_timestamp = packet->pts;
    picture->duration = packet->duration;
    picture->opaque = packet->opaque;
    picture->flags |= AV_FRAME_FLAG_DROPPABLE | AV_FRAME_FLAG_ABANDONED;
}

static void decode_without(struct decoder *decoder, const struct av1_shown *shown)
{
    AVPacket *rest;
    const int ret = av1_rest_of(decoder->job.packet, shown, &rest);
    decoder->result = ret;
    if (rest)
        decode_packet(decoder, rest);
    av_packet_free(&rest);
    if (ret >= 0)
        add_placeholder(decoder);
}

/* Marks a droppable picture that was decoded, as other decoders do. */
static void mark_droppable(struct decoder *decoder)
{
    for (int i = 0; i < decoder->pictures; i++)
        if (number_of(decoder->picture[i]) == decoder->job.number)
            decoder->picture[i]->flags |= AV_FRAME_FLAG_DROPPABLE;
}

static void decode_or_withhold(struct decoder *decoder)
{
    const AVPacket *const packet = decoder->job.packet;
    const struct av1_shown shown =
        av1_look_at_unit(&decoder->av1, (struct bytes){packet->data, packet->data + packet->size});
    if (shown.droppable && is_given_up(decoder, decoder->job.number)) {
        decode_without(decoder, &shown);
    } else {
        decode_packet(decoder, packet);
        if (shown.droppable)
            mark_droppable(decoder);
    }
}

static void decode(struct decoder *decoder)
{
    decoder->begun = true;
    if (decoder->job.packet && decoder->avctx->codec_id == AV_CODEC_ID_AV1)
        decode_or_withhold(decoder);
    else
        decode_packet(decoder, decoder->job.packet);
}

/*
 * The block opens only now, and its deadline may have passed already. Its body is then not entered at all. But every
 * packet must go through libavcodec, so the handler decodes it instead, and the gate refuses a droppable picture.
 */
static void decode_within_deadline(struct decoder *decoder)
{
    decoder->begun = false;
    dlex_try_within_abs(decoder->job.order.deadline_ns)
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

static void forget_pictures(struct decoder *decoder)
{
    for (int i = 0; i < decoder->pictures; i++)
        av_frame_unref(decoder->picture[i]);
    decoder->pictures = decoder->taken = 0;
}

static void begin(struct decoder *decoder, const struct decode_job *job)
{
    forget_pictures(decoder);
    decoder->job = *job;
    if (job->packet)
        job->packet->opaque = (void *)(intptr_t)(job->number + 1);
    decoder->gate = (struct gate_verdict){.number = JOB_UNKNOWN, .verdict = VERDICT_NONE};
    decoder->fired_ns = NS_UNKNOWN;
}

int decoder_run(struct decoder *decoder, const struct decode_job *job, struct decode_outcome *outcome)
{
    begin(decoder, job);
    const int64_t start_ns = dlex_now_ns();
    const int64_t start_cpu_ns = thread_cpu_ns();
    if (job->order.deadline_ns == NO_DEADLINE)
        decode(decoder);
    else
        decode_within_deadline(decoder);
    const int64_t cpu_ns = thread_cpu_ns() - start_cpu_ns;
    *outcome = (struct decode_outcome){
        .number = job->number,
        .start_ns = start_ns,
        .end_ns = dlex_now_ns(),
        .cpu_ns = cpu_ns,
        .deadline_ns = job->order.deadline_ns,
        .fired_ns = decoder->fired_ns,
        .gate = decoder->gate,
        .error = decoder->result,
    };
    return decoder->result;
}

bool decoder_take(struct decoder *decoder, AVFrame *frame, int64_t *number)
{
    if (decoder->taken == decoder->pictures)
        return false;
    av_frame_move_ref(frame, decoder->picture[decoder->taken++]);
    *number = number_of(frame);
    return true;
}

void decoder_flush(struct decoder *decoder)
{
    forget_pictures(decoder);
    avcodec_flush_buffers(decoder->avctx);
}
