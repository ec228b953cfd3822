/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decoder.h"

#include "av1_packet.h"
#include "clip.h"
#include "job_ledger.h"
#include "loop_filter.h"
#include "ns.h"
#include "thread_role.h"
#include "withheld.h"

#include <dlex/dlex.h>
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>

/*
 * The most pictures that one packet or one step of draining can release. The rest stays in libavcodec until the next.
 */
enum { PICTURES_MAX = 32 };

struct decoder {
    AVCodecContext *avctx;
    struct decoder_settings settings;
    struct codec_threads threads;
    AVFrame *picture[PICTURES_MAX];
    int pictures;
    int taken;
    int64_t last_number;     /* the job of the last picture that was taken and that has one */
    struct av1_sequence av1; /* of AV1, whose decoder gives up nothing: droppable pictures are withheld from it */
    struct withheld withheld;
    struct decode_pause pause;

    /*
     * The decode that is running. The gate and the handlers find their data here, because local variables would not
     * survive the jump.
     */
    struct decode_job job;
    struct job_ledger ledger;
    int result;
    bool begun;
    bool is_withheld; /* its picture */
    int64_t last_begun_ns; /* the CPU time of decoding when the last job began; 0: there was none */
    int64_t last_ended_ns; /* and when it ended */
};

/*
 * Runs the slices on their own interruptible island in the protected section. Nothing but `run` may be interrupted. A fired
 * trigger ends them like a deadline.
 */
static int run_until_deadline(struct decoder *decoder, int (*run)(AVCodecContext *, void *), void *arg)
{
    struct decode_stop *const stop = decoder->ledger.stop;
    /* Volatile, so that it survives the jump. It says whether the slices finished just before the expiry. */
    volatile int result = AVERROR(ECANCELED);
    dlex_try_within_abs_shielded(decoder->job.order.deadline_ns)
    {
        if (stop)
            dlex_trigger_bind(&stop->trigger);
        result = run(decoder->avctx, arg);
    }
    dlex_handle
        dlex_when(dlex_deadline_violation) /* also when the trigger was fired */
        {
            ledger_note_end(&decoder->ledger, VERDICT_NONE);
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
    if (ledger_refuses(&decoder->ledger, number_of(picture)))
        return AVERROR(ECANCELED);
    if (decoder->job.order.deadline_ns == NO_DEADLINE && !decoder->ledger.stop)
        return run(avctx, arg);
    const int result = run_until_deadline(decoder, run, arg);
    if (result == AVERROR(ECANCELED))
        ledger_note_end(&decoder->ledger, VERDICT_ABORTED);
    return result;
}

/* Called by libavcodec before each row of a droppable picture, in the thread that decodes it; see patches/README.md. */
static int abandon(AVCodecContext *avctx, const AVFrame *picture)
{
    struct decoder *const decoder = avctx->opaque;
    return ledger_gives_up(&decoder->ledger, number_of(picture));
}

/*
 * Called by libavcodec when rows are finished. Within an island of the gate a jump could leave what blocks, so it is a
 * protected section.
 */
static void finish_row(AVCodecContext *avctx, const AVFrame *picture, int offset[AV_NUM_DATA_POINTERS], int y, int type, int height)
{
    (void)picture, (void)offset, (void)y, (void)type, (void)height;
    const struct decode_pause *const pause = &((struct decoder *)avctx->opaque)->pause;
    if (!pause->at_row)
        return;
    dlex_try_within_disable();
    pause->at_row(pause->opaque);
    dlex_try_within_enable();
}

/* Called by libavcodec when it begins with a picture, in the thread that decodes it if that is one of several. */
static int get_buffer(AVCodecContext *avctx, AVFrame *picture, int flags)
{
    struct decoder *const decoder = avctx->opaque;
    if (avctx->active_thread_type & FF_THREAD_FRAME)
        ledger_begin_picture(&decoder->ledger, number_of(picture));
    return avcodec_default_get_buffer2(avctx, picture, flags);
}

/* H.264 does it too, and does not declare it. */
static bool reports_rows(const AVCodec *codec)
{
    return codec->capabilities & AV_CODEC_CAP_DRAW_HORIZ_BAND || codec->id == AV_CODEC_ID_H264;
}

/* When they are decoded, and of first fields too. */
static void ask_for_rows(AVCodecContext *avctx)
{
    avctx->draw_horiz_band = finish_row;
    avctx->slice_flags |= SLICE_FLAG_CODED_ORDER | SLICE_FLAG_ALLOW_FIELD;
}

static void prepare(AVCodecContext *avctx, void *opaque)
{
    struct decoder *const decoder = opaque;
    const int capabilities = avctx->codec->capabilities;
    avctx->opaque = decoder;
    clip_assume_x264(avctx, decoder->settings.x264_build);
    /* A libavcodec without the patches has the same version, and a context that ends before these fields. */
    if (capabilities & AV_CODEC_CAP_ABANDON)
        avctx->abandon = abandon;
    if (decoder->settings.may_jump && capabilities & AV_CODEC_CAP_GATE)
        avctx->gate = gate;
    else if (decoder->settings.threads == 1 && reports_rows(avctx->codec)) /* they would keep the gate shut */
        ask_for_rows(avctx);
    codec_threads_ask(avctx, decoder->settings.threads);
    if (decoder->settings.threads > 1)
        avctx->get_buffer2 = get_buffer;
}

static struct decoder *decoder_create(const struct decoder_settings *settings)
{
    struct decoder *decoder = av_mallocz(sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->settings = *settings;
    decoder->last_number = JOB_UNKNOWN;
    ledger_init(&decoder->ledger);
    for (int i = 0; i < PICTURES_MAX; i++) {
        decoder->picture[i] = av_frame_alloc();
        if (!decoder->picture[i])
            decoder_close(&decoder); /* clears the pointer */
        if (!decoder)
            return NULL;
    }
    return decoder;
}

/* Opens the decoder of libavcodec, and gives the threads that it starts their role. */
static int open_codec(struct decoder *decoder, const AVStream *stream, char *why, size_t why_size)
{
    struct helper_watch watch;
    helper_watch_begin(&watch, "codec");
    const int ret = clip_open_decoder(&decoder->avctx, stream, prepare, decoder, why, why_size);
    helper_watch_end(&watch, &decoder->threads.helpers, ROLE_DECODE);
    if (ret < 0)
        return ret;
    codec_threads_describe(&decoder->threads, decoder->avctx, decoder->settings.threads);
    decoder->ledger.overlaps = codec_threads_overlap(&decoder->threads);
    return 0;
}

int decoder_open(struct decoder **out, const AVStream *stream, const struct decoder_settings *settings, char *why,
                 size_t why_size)
{
    struct decoder *decoder = decoder_create(settings);
    if (!decoder) {
        snprintf(why, why_size, "out of memory");
        return AVERROR(ENOMEM);
    }
    const int ret = open_codec(decoder, stream, why, why_size);
    if (ret < 0) {
        decoder_close(&decoder);
        return ret;
    }
    const AVCodecParameters *const coded = stream->codecpar;
    if (decoder_withholds(decoder) && coded->extradata)
        av1_configure(&decoder->av1, (struct bytes){coded->extradata, coded->extradata + coded->extradata_size});
    *out = decoder;
    return 0;
}

void decoder_close(struct decoder **decoder)
{
    if (!*decoder)
        return;
    for (int i = 0; i < PICTURES_MAX; i++)
        av_frame_free(&(*decoder)->picture[i]);
    helper_threads_release(&(*decoder)->threads.helpers);
    avcodec_free_context(&(*decoder)->avctx);
    ledger_finish(&(*decoder)->ledger);
    av_freep(decoder);
}

void decoder_stop_by(struct decoder *decoder, struct decode_stop *stop)
{
    decoder->ledger.stop = stop;
}

void decoder_pause_by(struct decoder *decoder, struct decode_pause pause)
{
    decoder->pause = pause;
}

bool decoder_has_gate(const struct decoder *decoder)
{
    return decoder->avctx->codec->capabilities & AV_CODEC_CAP_ABANDON;
}

bool decoder_withholds(const struct decoder *decoder)
{
    return decoder->avctx->codec_id == AV_CODEC_ID_AV1;
}

bool decoder_can_degrade(const struct decoder *decoder)
{
    return loop_filter_is_separate(decoder->avctx);
}

const struct codec_threads *decoder_threads(const struct decoder *decoder)
{
    return &decoder->threads;
}

int decoder_delay(const struct decoder *decoder)
{
    return decoder->avctx->has_b_frames + decoder->threads.beside;
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

static void decode_without(struct decoder *decoder, const struct av1_shown *shown)
{
    AVPacket *rest;
    const int ret = av1_rest_of(decoder->job.packet, shown, &rest);
    decoder->result = ret;
    if (rest)
        decode_packet(decoder, rest);
    av_packet_free(&rest);
    decoder->is_withheld = ret >= 0;
    if (decoder->is_withheld && !(decoder->job.packet->flags & AV_PKT_FLAG_DISCARD)) /* libavcodec gives out no such picture */
        withheld_add(&decoder->withheld, decoder->job.packet, decoder->job.number);
}

static void decode_or_withhold(struct decoder *decoder)
{
    const AVPacket *const packet = decoder->job.packet;
    const struct av1_shown shown = av1_look_at_packet(&decoder->av1, packet);
    if (shown.droppable)
        ledger_mark_droppable(&decoder->ledger);
    if (shown.droppable && ledger_gives_up(&decoder->ledger, decoder->job.number))
        decode_without(decoder, &shown);
    else
        decode_packet(decoder, packet);
}

static void decode(struct decoder *decoder)
{
    decoder->begun = true;
    if (decoder->job.packet && decoder_withholds(decoder))
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
            ledger_note_end(&decoder->ledger, VERDICT_NONE);
            if (!decoder->begun)
                decode(decoder);
        }
    dlex_end
}

/* Droppable pictures are polled. For others, the deadline reaches the program only now. */
static void decode_and_look(struct decoder *decoder)
{
    decode(decoder);
    if (!decoder->ledger.overlaps && decoder->job.packet && dlex_now_ns() >= decoder->job.order.deadline_ns)
        ledger_note_end(&decoder->ledger, VERDICT_NONE);
}

static void forget_pictures(struct decoder *decoder)
{
    for (int i = 0; i < decoder->pictures; i++)
        av_frame_unref(decoder->picture[i]);
    decoder->pictures = decoder->taken = 0;
}

static void begin(struct decoder *decoder, const struct decode_job *job, int64_t start_ns)
{
    forget_pictures(decoder);
    decoder->job = *job;
    decoder->is_withheld = false;
    if (!job->packet)
        return;
    job->packet->opaque = (void *)(intptr_t)(job->number + 1);
    loop_filter_leave_out(decoder->avctx, job->order.degrade);
    ledger_begin(&decoder->ledger, job, start_ns);
}

/* What is known only of jobs that are not pending. */
static void complete(struct decoder *decoder, struct decode_outcome *outcome)
{
    outcome->end_ns = outcome->start_ns + outcome->wall_ns;
    outcome->cpu_ns = outcome->received_ns;
    outcome->fired_ns = ledger_fired_ns(&decoder->ledger);
    outcome->gate = ledger_verdict(&decoder->ledger);
}

int decoder_run(struct decoder *decoder, const struct decode_job *job, struct decode_outcome *outcome)
{
    const int64_t start_ns = dlex_now_ns();
    const int64_t begun_ns = codec_threads_cpu_ns(&decoder->threads);
    begin(decoder, job, start_ns);
    if (job->order.deadline_ns != NO_DEADLINE && decoder->settings.may_jump)
        decode_within_deadline(decoder);
    else
        decode_and_look(decoder);
    const int64_t ended_ns = codec_threads_cpu_ns(&decoder->threads);
    *outcome = (struct decode_outcome){
        .number = job->number,
        .start_ns = start_ns,
        .deadline_ns = job->order.deadline_ns,
        .error = decoder->result,
        .received_ns = ended_ns - begun_ns,
        .wall_ns = dlex_now_ns() - start_ns,
        .since_last_ns = decoder->last_begun_ns ? begun_ns - decoder->last_begun_ns : NS_UNKNOWN,
        .between_ns = decoder->last_begun_ns ? begun_ns - decoder->last_ended_ns : 0,
        .is_pending = decoder->ledger.overlaps,
        .is_withheld = decoder->is_withheld,
        .end_ns = NS_UNKNOWN,
        .cpu_ns = NS_UNKNOWN,
        .fired_ns = NS_UNKNOWN,
        .gate = {.number = JOB_UNKNOWN, .verdict = VERDICT_NONE},
    };
    decoder->last_begun_ns = begun_ns;
    decoder->last_ended_ns = ended_ns;
    if (!outcome->is_pending)
        complete(decoder, outcome);
    return decoder->result;
}

/*
 * Returns whether a withheld picture comes next: before the next one that was decoded, or when none before it can follow. With
 * one thread libdav1d has given out all earlier pictures by then. (It would hold one back only of spatial layers, and pictures
 * of those are never withheld.)
 */
static bool withheld_is_next(const struct decoder *decoder)
{
    if (withheld_is_full(&decoder->withheld))
        return true;
    if (decoder->taken < decoder->pictures)
        return withheld_comes_before(&decoder->withheld, number_of(decoder->picture[decoder->taken]));
    const bool is_empty = !decoder->ledger.overlaps || decoder->result == AVERROR_EOF;
    return withheld_comes_before(&decoder->withheld, is_empty ? INT64_MAX : decoder->last_number);
}

/* Moves the next picture that was decoded, and marks it as other decoders than libdav1d do. */
static int64_t take_decoded(struct decoder *decoder, AVFrame *frame)
{
    av_frame_move_ref(frame, decoder->picture[decoder->taken++]);
    const int64_t number = number_of(frame);
    if (ledger_is_droppable(&decoder->ledger, number))
        frame->flags |= AV_FRAME_FLAG_DROPPABLE;
    if (number != JOB_UNKNOWN)
        decoder->last_number = number;
    return number;
}

bool decoder_take(struct decoder *decoder, AVFrame *frame, struct taken_picture *picture)
{
    *picture = (struct taken_picture){.number = JOB_UNKNOWN};
    if (withheld_is_next(decoder))
        picture->number = withheld_take(&decoder->withheld, frame);
    else if (decoder->taken < decoder->pictures)
        picture->number = take_decoded(decoder, frame);
    else
        return false;
    if (decoder->ledger.overlaps)
        picture->decode = ledger_picture(&decoder->ledger, picture->number);
    return true;
}

void decoder_flush(struct decoder *decoder)
{
    forget_pictures(decoder);
    withheld_clear(&decoder->withheld);
    avcodec_flush_buffers(decoder->avctx);
    ledger_forget(&decoder->ledger);
}
