/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_read.h"

#include "nal_units.h"
#include "ns.h"
#include "stream_choice.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/sha.h>
#include <stdio.h>
#include <unistd.h>

enum {
    DEFAULT_FRAME_NS = 40 * NS_PER_MS,
    FIRST_PACKETS_MAX = 64, /* of the video, of which the first key packet names its encoder */
    FIRST_READ_MAX = 4096,  /* of both streams: the video may have none, beside hours of sound */
};
/* 36 years. Sums and differences of a few such times do not overflow. */
#define PTS_MAX_NS (INT64_MAX / 8)

static const AVRational nanosecond = {1, NS_PER_S};

static void discard_other_streams(struct clip *clip)
{
    for (unsigned i = 0; i < clip->format->nb_streams; i++) {
        AVStream *const stream = clip->format->streams[i];
        if (stream != clip->video && stream != clip->audio)
            stream->discard = AVDISCARD_ALL;
    }
}

/* FFmpeg's callback: returns whether to break off reading. */
static int is_broken_off(void *opaque)
{
    const struct clip *const clip = opaque;
    return (clip->stop && *clip->stop) || atomic_load_explicit(&clip->broken_off, memory_order_relaxed);
}

/* Tries once to open the input. On failure clip->format is NULL or freed. */
static int open_input(struct clip *clip, const char *url)
{
    clip->format = avformat_alloc_context();
    if (!clip->format)
        return AVERROR(ENOMEM);
    clip->format->interrupt_callback = (AVIOInterruptCB){.callback = is_broken_off, .opaque = clip};
    return avformat_open_input(&clip->format, url, NULL, NULL);
}

static int open_path(struct clip *clip, const char *path)
{
    char *const url = access(path, F_OK) ? av_strdup(path) : av_asprintf("file:%s", path);
    int ret = url ? 0 : AVERROR(ENOMEM);
    if (url) {
        /* Opening a named pipe without a writer blocks, and any signal ends that system call. */
        do {
            ret = open_input(clip, url);
        } while (ret == AVERROR(EINTR) && !is_broken_off(clip));
    }
    av_free(url);
    return ret;
}

static void explain(char *why, size_t why_size, const char *what, int error)
{
    char other[AV_ERROR_MAX_STRING_SIZE] = "";
    const char *cause = other;
    if (error == AVERROR(EINTR) || error == AVERROR_EXIT)
        cause = "reading was interrupted";
    else if (error == AVERROR_INVALIDDATA)
        cause = "FFmpeg does not recognise it as a media file, or it is damaged";
    else
        av_strerror(error, other, sizeof other);
    snprintf(why, why_size, "%s: %s", what, cause);
}

static int open_streams(struct clip *clip, struct stated_sizes *stated, const char *path, char *why, size_t why_size)
{
    int ret = open_path(clip, path);
    if (ret >= 0)
        ret = stated_sizes_note(stated, clip->format);
    if (ret < 0) {
        explain(why, why_size, "cannot open it", ret);
        return ret;
    }
    ret = avformat_find_stream_info(clip->format, NULL);
    if (ret >= 0 && is_broken_off(clip))
        ret = AVERROR_EXIT; /* some streams may not have been found yet */
    if (ret < 0)
        explain(why, why_size, "cannot find its streams", ret);
    return ret;
}

static struct bytes bytes_of(const uint8_t *data, int size)
{
    return (struct bytes){data, data ? data + size : data};
}

/* Reads to the first key packet of the video. If reading fails, it fails again for those who read on. */
static int read_first_packets(struct clip *clip, struct nal_state *state)
{
    int count = 0;
    int read = 0;
    bool is_key = false;
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? 0 : AVERROR(ENOMEM);
    while (ret >= 0 && !state->x264_build && !is_key && count < FIRST_PACKETS_MAX &&
           read++ < FIRST_READ_MAX && clip_read_frame(clip, packet) >= 0) {
        if (packet->stream_index == clip->video->index) {
            nal_look_at_packet(state, bytes_of(packet->data, packet->size));
            is_key = packet->flags & AV_PKT_FLAG_KEY;
            count++;
        }
        ret = clip_put_back(clip, packet);
    }
    av_packet_free(&packet);
    return ret;
}

static int find_x264_build(struct clip *clip)
{
    const AVCodecParameters *const coded = clip->video ? clip->video->codecpar : NULL;
    if (!coded || coded->codec_id != AV_CODEC_ID_H264)
        return 0;
    struct nal_state state = {.codec = AV_CODEC_ID_H264};
    nal_configure(&state, bytes_of(coded->extradata, coded->extradata_size));
    const int ret = read_first_packets(clip, &state);
    clip->x264_build = state.x264_build;
    return ret;
}

int clip_open(struct clip *clip, const char *path, const volatile sig_atomic_t *stop, char *why, size_t why_size)
{
    struct stated_sizes stated = {0};
    *clip = (struct clip){.stop = stop};
    int ret = open_streams(clip, &stated, path, why, why_size);
    if (ret < 0)
        goto fail;
    clip->video = stream_choose(clip->format, AVMEDIA_TYPE_VIDEO, NULL);
    clip->audio = stream_choose(clip->format, AVMEDIA_TYPE_AUDIO, clip->video);
    if (!clip->video && !clip->audio) {
        snprintf(why, why_size, "it has neither video nor sound");
        ret = AVERROR_STREAM_NOT_FOUND;
        goto fail;
    }
    if (clip->video)
        clip->shape = clip_shape_of(clip->format, clip->video, &stated);
    stated_sizes_forget(&stated);
    discard_other_streams(clip);
    ret = find_x264_build(clip);
    if (ret >= 0)
        ret = clip_begin(clip);
    if (ret >= 0)
        return 0;
    explain(why, why_size, "cannot read it", ret);
fail:
    stated_sizes_forget(&stated);
    clip_close(clip);
    return ret;
}

void clip_close(struct clip *clip)
{
    clip_forget_all(clip);
    avformat_close_input(&clip->format);
    *clip = (struct clip){0};
}

void clip_break_off(struct clip *clip, bool on)
{
    const bool was_on = atomic_exchange_explicit(&clip->broken_off, on, memory_order_relaxed);
    if (on || !was_on || !clip->format->pb)
        return;
    clip->format->pb->error = 0; /* otherwise the next read would report the error of the broken one */
    clip->format->pb->eof_reached = 0;
}

int clip_open_decoder(AVCodecContext **out, const AVStream *stream, void (*prepare)(AVCodecContext *, void *),
                      void *opaque, char *why, size_t why_size)
{
    const char *const name = avcodec_get_name(stream->codecpar->codec_id);
    const AVCodec *const codec = avcodec_find_decoder(stream->codecpar->codec_id);
    if (!codec) {
        snprintf(why, why_size, "this build has no decoder for %s", name);
        return AVERROR_DECODER_NOT_FOUND;
    }
    AVCodecContext *avctx = avcodec_alloc_context3(codec);
    if (!avctx)
        return AVERROR(ENOMEM);
    int ret = avcodec_parameters_to_context(avctx, stream->codecpar);
    if (ret < 0)
        goto fail;
    avctx->pkt_timebase = stream->time_base;
    avctx->thread_count = 1;
    avctx->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
    avctx->flags |= AV_CODEC_FLAG_UNALIGNED; /* otherwise up to 31 hidden samples at the left would be shown */
    if (prepare)
        prepare(avctx, opaque);
    ret = avcodec_open2(avctx, codec, NULL);
    if (ret < 0)
        goto fail;
    *out = avctx;
    return 0;
fail:
    snprintf(why, why_size, "cannot start the %s decoder: %s", name, av_err2str(ret));
    avcodec_free_context(&avctx);
    return ret;
}

void clip_assume_x264(AVCodecContext *avctx, int build)
{
    if (avctx->codec_id == AV_CODEC_ID_H264 && build > 0)
        av_opt_set_int(avctx->priv_data, "x264_build", build, 0);
}

int64_t clip_pts_ns(const AVStream *stream, int64_t pts)
{
    const int64_t pts_ns = pts == AV_NOPTS_VALUE ? AV_NOPTS_VALUE : av_rescale_q(pts, stream->time_base, nanosecond);
    return pts_ns >= -PTS_MAX_NS && pts_ns <= PTS_MAX_NS ? pts_ns : AV_NOPTS_VALUE;
}

struct frame_duration clip_frame_duration(const struct clip *clip)
{
    const AVRational rate = clip->video ? av_guess_frame_rate(clip->format, clip->video, NULL) : (AVRational){0, 1};
    if (rate.num <= 0 || rate.den <= 0)
        return frame_duration_of(DEFAULT_FRAME_NS);
    return frame_duration_of(av_rescale(NS_PER_S, rate.den, rate.num));
}

int64_t clip_start_ns(const struct clip *clip)
{
    const int64_t start = clip->format->start_time;
    return start == AV_NOPTS_VALUE ? 0 : av_rescale(start - clip->origin_us, NS_PER_S, AV_TIME_BASE);
}

int64_t clip_duration_ns(const struct clip *clip)
{
    const int64_t duration = clip->format->duration;
    return duration <= 0 ? 0 : av_rescale(duration, NS_PER_S, AV_TIME_BASE);
}

bool clip_can_seek(const struct clip *clip)
{
    const AVFormatContext *const format = clip->format;
    if ((format->ctx_flags & AVFMTCTX_UNSEEKABLE) || (format->iformat->flags & AVFMT_NOTIMESTAMPS))
        return false;
    return !format->pb || (format->pb->seekable & AVIO_SEEKABLE_NORMAL);
}

static int hash_stream(FILE *in, struct AVSHA *sha)
{
    static uint8_t buffer[1 << 16];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, in)) > 0)
        av_sha_update(sha, buffer, got);
    return ferror(in) ? -errno : 0;
}

int clip_sha256(const char *path, char hex[65])
{
    int ret = -ENOMEM;
    struct AVSHA *sha = av_sha_alloc();
    FILE *const in = fopen(path, "rb");
    if (!in) {
        ret = -errno;
        goto out;
    }
    if (!sha || av_sha_init(sha, 256) < 0)
        goto out;
    ret = hash_stream(in, sha);
    uint8_t digest[32];
    av_sha_final(sha, digest);
    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
out:
    if (in)
        fclose(in);
    av_free(sha);
    return ret;
}
