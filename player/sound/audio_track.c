/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "audio_track.h"

#include "down_mix.h"
#include "log.h"
#include "ns.h"

#include <errno.h>
#include <libavutil/channel_layout.h>
#include <libavutil/mem.h>
#include <libswresample/swresample.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SINK_CHANNELS = 2,
    LOWEST_RATE = 44100,
    USUAL_RATE = 48000,
    HIGHEST_RATE = 384000, /* of a sink */
    SILENCE_FRAMES = 4096,
    SILENCE_LIMIT_S = 600,    /* a longer gap is a jump of the file's time stamps, and the clock jumps with them */
    HOLE_NS = 20 * NS_PER_MS, /* a smaller gap may come from a rounded time stamp; the sink's clock follows it */
    HEAD_START_NS = 400 * NS_PER_MS, /* PulseAudio takes 200 ms when it starts */
    COUNTED_NS = 1500 * NS_PER_US, /* rounding of a time stamp that was counted on */
    CATCH_UP_NS = 500 * NS_PER_MS, /* sound that is late by less than this sets the clock back, and no sound is lost */
};

struct audio_track {
    const AVStream *stream;
    AVCodecContext *avctx;
    SwrContext *swr;
    AVFrame *frame;
    struct audio_sink *sink;
    struct audio_format format;
    AVChannelLayout in_layout; /* swr was configured for this layout and the rate and format below */
    int in_rate;
    int in_format;
    bool refused; /* a format of sound could not be played, and that was logged */

    int64_t counted_end_ns; /* where the last frame ends by its time stamp and stated duration; NS_UNKNOWN: there was none */
    int64_t miscounted_ns;  /* by how much the time stamps counted on since then are too high */

    int64_t expected_ns;    /* PTS of the sound that is written next */
    bool started;           /* expected_ns was reached; until then, sound before it is cut */
    bool runs_on;           /* main thread: the clock does not wait for the sound */
    _Atomic int64_t ran_to; /* the clock ran to here; taken by the sound thread. Relaxed: it publishes no other data */
    _Atomic bool is_ended;  /* set by the sound thread (release) after its last write, read by the main thread (acquire) */
    float *samples;         /* the converted block, sound thread only */
    int samples_room;       /* in frames */
};

static int create_sink(struct audio_track *track, const char *kind, char *why, size_t why_size)
{
    if (strcmp(kind, "auto"))
        return audio_sink_create(&track->sink, kind, &track->format, why, why_size);
    const int ret = audio_sink_create(&track->sink, "pulse", &track->format, why, why_size);
    if (!ret)
        return 0;
    log_note("no sound (%s); an ideal device gives the clock", why);
    return audio_sink_create(&track->sink, "null", &track->format, why, why_size);
}

/*
 * The format of the sound may change in the middle of a file, and that of its beginning need not be the best one: a container may
 * name the half rate of HE-AAC. So the sink is stereo from the start, and no lower rate costs it an audible frequency. Everything
 * is converted to that.
 */
static struct audio_format sink_format(const AVCodecParameters *parameters)
{
    const int rate = parameters->sample_rate < LOWEST_RATE ? USUAL_RATE : parameters->sample_rate;
    return (struct audio_format){.rate = rate < HIGHEST_RATE ? rate : HIGHEST_RATE, .channels = SINK_CHANNELS};
}

int audio_track_create(struct audio_track **out, const struct clip *clip, const char *sink_kind, char *why,
                       size_t why_size)
{
    struct audio_track *track = av_mallocz(sizeof *track);
    if (!track)
        return -ENOMEM;
    track->stream = clip->audio;
    int ret = clip_open_decoder(&track->avctx, clip->audio, NULL, NULL, why, why_size);
    if (ret < 0)
        goto fail;
    track->frame = av_frame_alloc();
    if (!track->frame) {
        ret = -ENOMEM;
        goto fail;
    }
    track->format = sink_format(clip->audio->codecpar);
    ret = create_sink(track, sink_kind, why, why_size);
    if (ret < 0)
        goto fail;
    audio_sink_pause(track->sink, true);
    *out = track;
    return 0;
fail:
    audio_track_destroy(&track);
    return ret;
}

void audio_track_destroy(struct audio_track **track)
{
    if (!*track)
        return;
    audio_sink_destroy(&(*track)->sink);
    swr_free(&(*track)->swr);
    av_channel_layout_uninit(&(*track)->in_layout);
    av_frame_free(&(*track)->frame);
    avcodec_free_context(&(*track)->avctx);
    av_freep(&(*track)->samples);
    av_freep(track);
}

struct audio_sink *audio_track_sink(struct audio_track *track)
{
    return track->sink;
}

void audio_track_restart(struct audio_track *track, int64_t start_ns)
{
    avcodec_flush_buffers(track->avctx);
    swr_free(&track->swr);
    audio_sink_flush(track->sink);
    track->expected_ns = start_ns;
    track->counted_end_ns = NS_UNKNOWN;
    track->miscounted_ns = 0;
    track->started = false;
    track->runs_on = false;
    atomic_store_explicit(&track->ran_to, INT64_MIN, memory_order_relaxed);
    atomic_store_explicit(&track->is_ended, false, memory_order_release);
}

/* Channels have no names here: the mix says what becomes of each. */
static int open_swr(struct audio_track *track)
{
    const AVFrame *const frame = track->frame;
    const AVChannelLayout in = {.order = AV_CHANNEL_ORDER_UNSPEC, .nb_channels = frame->ch_layout.nb_channels};
    const AVChannelLayout out = AV_CHANNEL_LAYOUT_STEREO;
    if (in.nb_channels < 1 || in.nb_channels > DOWN_MIX_CHANNELS_MAX)
        return AVERROR(ENOTSUP);
    const int ret = swr_alloc_set_opts2(&track->swr, &out, AV_SAMPLE_FMT_FLT, track->format.rate, &in, frame->format,
                                        frame->sample_rate, 0, NULL);
    if (ret < 0)
        return ret;
    struct down_mix mix;
    down_mix_make(&mix, &frame->ch_layout);
    const int set = swr_set_matrix(track->swr, mix.level[LEFT], DOWN_MIX_CHANNELS_MAX);
    return set < 0 ? set : swr_init(track->swr);
}

static int configure_swr(struct audio_track *track)
{
    const AVFrame *const frame = track->frame;
    int ret = av_channel_layout_copy(&track->in_layout, &frame->ch_layout);
    if (ret < 0)
        return ret;
    track->in_rate = frame->sample_rate;
    track->in_format = frame->format;
    ret = open_swr(track);
    if (ret >= 0)
        return 0;
    swr_free(&track->swr);
    if (!track->refused)
        log_error("sound of %d channels at %d Hz cannot be played; it is silent", frame->ch_layout.nb_channels,
                  frame->sample_rate);
    track->refused = true;
    return ret;
}

static int reserve_samples(struct audio_track *track, int frames)
{
    if (frames <= track->samples_room)
        return 0;
    const int ret = av_reallocp_array(&track->samples, (size_t)frames * SINK_CHANNELS, sizeof(float));
    track->samples_room = ret < 0 ? 0 : frames;
    return ret;
}

/*
 * Converts the samples (NULL: those that swr still holds) to the sink's format. Returns how many frames are in
 * track->samples, or an error.
 */
static int convert(struct audio_track *track, const uint8_t **samples, int count)
{
    const int room = swr_get_out_samples(track->swr, count);
    if (room < 0 || reserve_samples(track, room) < 0)
        return AVERROR(ENOMEM);
    uint8_t *out = (uint8_t *)track->samples;
    return swr_convert(track->swr, &out, room, samples, count);
}

static int write_block(struct audio_track *track, const float *samples, int frames)
{
    const int ret = audio_sink_write(track->sink, samples, frames, track->expected_ns);
    track->expected_ns += av_rescale(frames, NS_PER_S, track->format.rate);
    return ret;
}

static int write_silence_until(struct audio_track *track, int64_t to_ns)
{
    static const float silence[SINK_CHANNELS * SILENCE_FRAMES];
    int64_t left = av_rescale(to_ns - track->expected_ns, track->format.rate, NS_PER_S);
    while (left > 0) {
        const int frames = left < SILENCE_FRAMES ? (int)left : SILENCE_FRAMES;
        const int ret = write_block(track, silence, frames);
        if (ret < 0)
            return ret;
        left -= frames;
    }
    return 0;
}

/* If the clock ran on without sound, the sound goes on at the clock's time, not where the sound ended. */
static void catch_up(struct audio_track *track)
{
    const int64_t ran_to_ns = atomic_exchange_explicit(&track->ran_to, INT64_MIN, memory_order_relaxed);
    if (ran_to_ns == INT64_MIN || ran_to_ns - track->expected_ns < CATCH_UP_NS)
        return;
    track->expected_ns = ran_to_ns;
    track->started = false;
}

/* Returns how many of the frames from pts_ns on lie before the place where the sound is to begin. */
static int frames_to_cut(const struct audio_track *track, int64_t pts_ns, int frames)
{
    if (track->started || pts_ns == AV_NOPTS_VALUE || pts_ns >= track->expected_ns)
        return 0;
    const int64_t before = av_rescale(track->expected_ns - pts_ns, track->format.rate, NS_PER_S);
    return before < frames ? (int)before : frames;
}

static int write_converted(struct audio_track *track, int64_t pts_ns, int frames)
{
    catch_up(track);
    const int cut = frames_to_cut(track, pts_ns, frames);
    if (cut == frames)
        return 0;
    if (pts_ns != AV_NOPTS_VALUE) {
        pts_ns += av_rescale(cut, NS_PER_S, track->format.rate);
        const int64_t gap_ns = pts_ns - track->expected_ns;
        if (gap_ns > (track->started ? HOLE_NS : 0) && gap_ns <= SILENCE_LIMIT_S * NS_PER_S) {
            const int ret = write_silence_until(track, pts_ns);
            if (ret < 0)
                return ret;
        }
        track->expected_ns = pts_ns;
    }
    track->started = true;
    return write_block(track, track->samples + (size_t)cut * SINK_CHANNELS, frames - cut);
}

/* Writes what the resampler still holds. It follows on from the sound before it. */
static int write_tail(struct audio_track *track)
{
    if (!track->swr)
        return 0;
    const int frames = convert(track, NULL, 0);
    swr_free(&track->swr);
    return frames > 0 && track->started ? write_block(track, track->samples, frames) : 0;
}

static bool fits_swr(const struct audio_track *track)
{
    const AVFrame *const frame = track->frame;
    return track->swr && frame->sample_rate == track->in_rate && frame->format == track->in_format &&
           av_channel_layout_compare(&frame->ch_layout, &track->in_layout) == 0;
}

/*
 * Returns the PTS of the frame, or AV_NOPTS_VALUE. Where packets of AAC have no time stamps of their own, FFmpeg counts them on by the rate that
 * the stream had at first. When the rate has changed since, each step is wrong, and would be a hole in the sound. Stated durations
 * that do not come from that rate are believed.
 */
static int64_t frame_pts_ns(struct audio_track *track)
{
    const AVFrame *const frame = track->frame;
    const int first_rate = track->stream->codecpar->sample_rate;
    const int64_t pts_ns = clip_pts_ns(track->stream, frame->best_effort_timestamp);
    if (pts_ns == AV_NOPTS_VALUE || frame->sample_rate <= 0)
        return pts_ns;
    if (track->counted_end_ns == NS_UNKNOWN || llabs(pts_ns - track->counted_end_ns) > COUNTED_NS)
        track->miscounted_ns = 0;
    const int64_t right_ns = pts_ns - track->miscounted_ns;
    const int64_t stated_ns = clip_pts_ns(track->stream, frame->duration);
    track->counted_end_ns = pts_ns + stated_ns;
    if (frame->sample_rate != first_rate && first_rate > 0 &&
        llabs(stated_ns - av_rescale(frame->nb_samples, NS_PER_S, first_rate)) <= COUNTED_NS)
        track->miscounted_ns += stated_ns - av_rescale(frame->nb_samples, NS_PER_S, frame->sample_rate);
    return right_ns;
}

static int write_frame(struct audio_track *track)
{
    if (!fits_swr(track)) {
        const int ret = write_tail(track);
        if (ret < 0)
            return ret;
        if (configure_swr(track) < 0)
            return 0; /* this sound cannot be played; the next may be playable */
    }
    int64_t pts_ns = frame_pts_ns(track);
    if (pts_ns != AV_NOPTS_VALUE)
        pts_ns -= swr_get_delay(track->swr, NS_PER_S);
    const int frames = convert(track, (const uint8_t **)track->frame->extended_data, track->frame->nb_samples);
    return frames > 0 ? write_converted(track, pts_ns, frames) : 0;
}

int audio_track_feed(struct audio_track *track, const AVPacket *packet)
{
    avcodec_send_packet(track->avctx, packet); /* an error is ignored: damage becomes silence; the next packet may be whole */
    while (avcodec_receive_frame(track->avctx, track->frame) >= 0) {
        const int ret = write_frame(track);
        av_frame_unref(track->frame);
        if (ret < 0)
            return ret;
    }
    return packet ? 0 : write_tail(track);
}

void audio_track_end(struct audio_track *track)
{
    atomic_store_explicit(&track->is_ended, true, memory_order_release);
}

bool audio_track_has_head_start(struct audio_track *track)
{
    return atomic_load_explicit(&track->is_ended, memory_order_acquire) || audio_sink_error(track->sink) ||
           audio_sink_buffered_ns(track->sink) >= HEAD_START_NS;
}

bool audio_track_is_over(struct audio_track *track)
{
    if (audio_sink_error(track->sink))
        return true;
    return atomic_load_explicit(&track->is_ended, memory_order_acquire) && audio_sink_drained(track->sink);
}

bool audio_track_is_lost(struct audio_track *track)
{
    return audio_sink_error(track->sink) != NULL;
}

int audio_track_heard(struct audio_track *track, const struct audio_surroundings *around, int64_t *pts_ns)
{
    const bool dry = audio_sink_drained(track->sink);
    const int ret = audio_sink_heard(track->sink, pts_ns);
    if (ret == -EAGAIN && audio_sink_begins(track->sink, pts_ns) == 0)
        return 0;
    if (audio_sink_answers_late(track->sink) || (ret == -EAGAIN && around->has_packets && !track->runs_on))
        return -EINPROGRESS;
    /*
     * Keep runs_on until there is sound again: `starved` ends whenever a taken picture lets the feeder work a moment.
     */
    track->runs_on = dry && (track->runs_on || around->starved || ret == -EAGAIN);
    if (!track->runs_on)
        return ret;
    atomic_store_explicit(&track->ran_to, around->clock_ns, memory_order_relaxed);
    return -EAGAIN;
}
