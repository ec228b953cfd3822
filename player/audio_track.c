/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "audio_track.h"

#include "log.h"

#include <errno.h>
#include <libavutil/channel_layout.h>
#include <libavutil/mem.h>
#include <libswresample/swresample.h>
#include <stdatomic.h>
#include <string.h>

enum {
    NS_PER_S = 1000000000,
    SILENCE_FRAMES = 4096,
    SILENCE_LIMIT_S = 10, /* a longer wait for the first sound is left to the clock */
};

struct audio_track {
    const AVStream *stream;
    AVCodecContext *avctx;
    SwrContext *swr;
    AVFrame *frame;
    struct audio_sink *sink;
    struct audio_format format;
    int64_t start_ns;      /* sound before this is cut */
    bool started;          /* something was written since restart */
    _Atomic bool is_ended; /* set by the feeder (release) after its last write, read by the main thread (acquire) */
    float *samples;        /* the converted block, feeder only */
    int samples_room;      /* in frames */
};

static int create_sink(struct audio_track *track, const char *kind, char *why, size_t why_size)
{
    if (strcmp(kind, "auto"))
        return audio_sink_create(&track->sink, kind, &track->format, why, why_size);
    const int ret = audio_sink_create(&track->sink, "pulse", &track->format, why, why_size);
    if (!ret)
        return 0;
    log_note("no sound (%s); the clock is an ideal device's", why);
    return audio_sink_create(&track->sink, "null", &track->format, why, why_size);
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
    const AVCodecParameters *const parameters = clip->audio->codecpar;
    track->format = (struct audio_format){
        .rate = parameters->sample_rate > 0 ? parameters->sample_rate : 48000,
        .channels = parameters->ch_layout.nb_channels == 1 ? 1 : 2,
    };
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
    track->start_ns = start_ns;
    track->started = false;
    atomic_store_explicit(&track->is_ended, false, memory_order_release);
}

static int configure_swr(struct audio_track *track)
{
    AVChannelLayout out_layout;
    av_channel_layout_default(&out_layout, track->format.channels);
    AVChannelLayout in_layout = {0};
    int ret = av_channel_layout_copy(&in_layout, &track->frame->ch_layout);
    if (in_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&in_layout, in_layout.nb_channels);
    if (ret >= 0)
        ret = swr_alloc_set_opts2(&track->swr, &out_layout, AV_SAMPLE_FMT_FLT, track->format.rate, &in_layout,
                                  track->frame->format, track->frame->sample_rate, 0, NULL);
    av_channel_layout_uninit(&in_layout);
    return ret < 0 ? ret : swr_init(track->swr);
}

static int reserve_samples(struct audio_track *track, int frames)
{
    if (frames <= track->samples_room)
        return 0;
    const int ret = av_reallocp_array(&track->samples, (size_t)frames * track->format.channels, sizeof(float));
    track->samples_room = ret < 0 ? 0 : frames;
    return ret;
}

/* The frame as the sink wants it: how many frames stand in track->samples, or a negative code. */
static int convert(struct audio_track *track)
{
    if (track->swr == NULL) {
        const int ret = configure_swr(track);
        if (ret < 0)
            return ret;
    }
    const int room = swr_get_out_samples(track->swr, track->frame->nb_samples);
    if (room < 0 || reserve_samples(track, room) < 0)
        return AVERROR(ENOMEM);
    uint8_t *out = (uint8_t *)track->samples;
    return swr_convert(track->swr, &out, room, (const uint8_t **)track->frame->extended_data,
                       track->frame->nb_samples);
}

static int write_silence(struct audio_track *track, int64_t from_ns, int64_t to_ns)
{
    static const float silence[2 * SILENCE_FRAMES];
    int64_t left = av_rescale(to_ns - from_ns, track->format.rate, NS_PER_S);
    int64_t pts_ns = from_ns;
    while (left > 0) {
        const int frames = left < SILENCE_FRAMES ? (int)left : SILENCE_FRAMES;
        const int ret = audio_sink_write(track->sink, silence, frames, pts_ns);
        if (ret < 0)
            return ret;
        pts_ns = AUDIO_PTS_UNKNOWN;
        left -= frames;
    }
    return 0;
}

/* Sound that begins after the start of the clip gets silence before it, so that the clock runs from the start. */
static int fill_gap_at_start(struct audio_track *track, int64_t pts_ns)
{
    const int64_t gap_ns = pts_ns - track->start_ns;
    if (gap_ns <= 0 || gap_ns > (int64_t)SILENCE_LIMIT_S * NS_PER_S)
        return 0;
    return write_silence(track, track->start_ns, pts_ns);
}

static int write_converted(struct audio_track *track, int frames)
{
    int64_t pts_ns = clip_pts_ns(track->stream, track->frame->best_effort_timestamp);
    int cut = 0;
    if (pts_ns != AV_NOPTS_VALUE && pts_ns < track->start_ns) {
        const int64_t before = av_rescale(track->start_ns - pts_ns, track->format.rate, NS_PER_S);
        cut = before < frames ? (int)before : frames;
        pts_ns += av_rescale(cut, NS_PER_S, track->format.rate);
    }
    if (cut == frames)
        return 0;
    if (!track->started && pts_ns != AV_NOPTS_VALUE) {
        const int ret = fill_gap_at_start(track, pts_ns);
        if (ret < 0)
            return ret;
    }
    track->started = true;
    return audio_sink_write(track->sink, track->samples + (size_t)cut * track->format.channels, frames - cut,
                            pts_ns == AV_NOPTS_VALUE ? AUDIO_PTS_UNKNOWN : pts_ns);
}

int audio_track_feed(struct audio_track *track, const AVPacket *packet)
{
    avcodec_send_packet(track->avctx, packet); /* damage shows as silence, and the next packet may be whole */
    while (avcodec_receive_frame(track->avctx, track->frame) >= 0) {
        const int frames = convert(track);
        const int ret = frames > 0 ? write_converted(track, frames) : 0;
        av_frame_unref(track->frame);
        if (ret < 0)
            return ret;
    }
    return 0;
}

void audio_track_end(struct audio_track *track)
{
    atomic_store_explicit(&track->is_ended, true, memory_order_release);
}

bool audio_track_is_over(struct audio_track *track)
{
    if (audio_sink_error(track->sink))
        return true;
    return atomic_load_explicit(&track->is_ended, memory_order_acquire) && audio_sink_drained(track->sink);
}
