/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ideal.h"

#include "clip_seek.h"
#include "ns.h"
#include "picture_stamps.h"

#include <libavutil/mem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Further ahead than this, a seek is cheaper than decoding all pictures in between. */
static const int64_t far_ns = 20 * NS_PER_S;

struct ideal {
    struct clip clip;
    AVCodecContext *avctx;
    AVPacket *packet;
    AVFrame *picture;
    int64_t pts_ns; /* of the picture; AV_NOPTS_VALUE: there is no picture */
    int64_t next_ns; /* the place of a picture without time stamp, as in the player */
    struct picture_stamps stamps;
    const struct frame_record *rows; /* which packets are degraded; see ideal_degrade */
    int64_t row_count;
};

enum approach { FROM_HERE, FROM_KEY_PICTURE, FROM_START, APPROACHES };

static void prepare(AVCodecContext *avctx, void *opaque)
{
    const struct ideal *const ideal = opaque;
    clip_assume_x264(avctx, ideal->clip.x264_build);
}

static int open_parts(struct ideal *ideal, const char *path, int stream_index, char *why,
                      size_t why_size)
{
    int ret = clip_open(&ideal->clip, path, NULL, why, why_size);
    if (ret < 0)
        return ret;
    if (!ideal->clip.video || ideal->clip.video->index != stream_index) {
        snprintf(why, why_size, "its stream %d is not the video that would be played",
                 stream_index);
        return AVERROR_STREAM_NOT_FOUND;
    }
    ret = clip_open_decoder(&ideal->avctx, ideal->clip.video, prepare, ideal, why, why_size);
    if (ret < 0)
        return ret;
    ideal->packet = av_packet_alloc();
    ideal->picture = av_frame_alloc();
    ideal->pts_ns = AV_NOPTS_VALUE;
    ideal->next_ns = clip_start_ns(&ideal->clip);
    return ideal->packet && ideal->picture ? 0 : AVERROR(ENOMEM);
}

int ideal_open(struct ideal **out, const char *path, int stream_index, char *why, size_t why_size)
{
    snprintf(why, why_size, "out of memory");
    struct ideal *ideal = av_mallocz(sizeof *ideal);
    if (!ideal)
        return AVERROR(ENOMEM);
    const int ret = open_parts(ideal, path, stream_index, why, why_size);
    if (ret < 0)
        ideal_close(&ideal);
    *out = ideal;
    return ret;
}

void ideal_close(struct ideal **ideal)
{
    if (!*ideal)
        return;
    av_frame_free(&(*ideal)->picture);
    av_packet_free(&(*ideal)->packet);
    avcodec_free_context(&(*ideal)->avctx);
    clip_close(&(*ideal)->clip);
    av_freep(ideal);
}

static int compare_to_row(const void *pts_ns, const void *row)
{
    const int64_t a = *(const int64_t *)pts_ns;
    const int64_t b = ((const struct frame_record *)row)->pts_ns;
    return (a > b) - (a < b);
}

/* A discarded packet of a cut film may have the time stamp of another one. */
static bool has_degraded_row(const struct ideal *ideal, const struct frame_record *row, int64_t pts_ns)
{
    const struct frame_record *const end = ideal->rows + ideal->row_count;
    while (row > ideal->rows && row[-1].pts_ns == pts_ns)
        row--;
    while (row < end && row->pts_ns == pts_ns && row->degraded != DEGRADED_ITSELF)
        row++;
    return row < end && row->pts_ns == pts_ns;
}

/* The player does the same with each packet (loop_filter.h). It never degrades the picture of a discarded one. */
static void degrade_as_played(struct ideal *ideal)
{
    const int64_t pts_ns = clip_pts_ns(ideal->clip.video, ideal->packet->pts);
    const struct frame_record *const row =
        bsearch(&pts_ns, ideal->rows, (size_t)ideal->row_count, sizeof *ideal->rows, compare_to_row);
    const bool discarded = ideal->packet->flags & AV_PKT_FLAG_DISCARD;
    if (row)
        ideal->avctx->skip_loop_filter =
            !discarded && has_degraded_row(ideal, row, pts_ns) ? AVDISCARD_ALL : AVDISCARD_DEFAULT;
}

/* As in the player, a read error ends the file and a damaged packet is skipped. */
static int feed(struct ideal *ideal)
{
    AVPacket *const packet = ideal->packet;
    int ret;
    do {
        av_packet_unref(packet);
        ret = clip_read(&ideal->clip, packet);
    } while (ret >= 0 && packet->stream_index != ideal->clip.video->index);
    if (ret >= 0 && ideal->row_count)
        degrade_as_played(ideal);
    if (ret >= 0)
        picture_stamps_add(&ideal->stamps, ideal->clip.video, packet);
    const int sent = avcodec_send_packet(ideal->avctx, ret < 0 ? NULL : packet);
    return sent == AVERROR(ENOMEM) || (ret < 0 && sent < 0) ? sent : 0;
}

static void place_picture(struct ideal *ideal)
{
    const AVStream *const stream = ideal->clip.video;
    const AVFrame *const picture = ideal->picture;
    const int64_t own_ns = picture_stamps_take(&ideal->stamps, stream, picture, ideal->avctx->has_b_frames);
    ideal->pts_ns = own_ns != AV_NOPTS_VALUE ? own_ns : ideal->next_ns;
    const int64_t duration_ns = picture->duration > 0 ? clip_pts_ns(stream, picture->duration) : 0;
    ideal->next_ns =
        ideal->pts_ns + (duration_ns > 0 ? duration_ns : frame_duration_ns(clip_frame_duration(&ideal->clip)));
}

/* Decodes the next picture in presentation order. Returns 0, AVERROR_EOF or a negative AVERROR. */
static int advance(struct ideal *ideal)
{
    ideal->pts_ns = AV_NOPTS_VALUE;
    for (;;) {
        int ret = avcodec_receive_frame(ideal->avctx, ideal->picture);
        if (!ret) {
            place_picture(ideal);
            return 0;
        }
        if (ret == AVERROR_EOF || ret == AVERROR(ENOMEM))
            return ret;
        ret = feed(ideal);
        if (ret < 0)
            return ret;
    }
}

static int restart(struct ideal *ideal, int64_t from_ns)
{
    const int ret = clip_seek(&ideal->clip, from_ns);
    avcodec_flush_buffers(ideal->avctx);
    picture_stamps_clear(&ideal->stamps);
    ideal->pts_ns = AV_NOPTS_VALUE;
    ideal->next_ns = from_ns;
    return ret;
}

int ideal_degrade(struct ideal *ideal, const struct frame_record *rows, int64_t count)
{
    ideal->rows = rows;
    ideal->row_count = count;
    ideal->avctx->skip_loop_filter = AVDISCARD_DEFAULT;
    return restart(ideal, clip_start_ns(&ideal->clip));
}

static int take_approach(struct ideal *ideal, enum approach approach, int64_t pts_ns)
{
    const int64_t start_ns = clip_start_ns(&ideal->clip);
    const int64_t here_ns = ideal->pts_ns;
    const bool near = here_ns == AV_NOPTS_VALUE ? pts_ns < start_ns + far_ns
                                                : pts_ns > here_ns && pts_ns < here_ns + far_ns;
    switch (approach) {
    case FROM_HERE: return near ? 0 : AVERROR(EAGAIN);
    case FROM_KEY_PICTURE: return clip_can_seek(&ideal->clip) ? restart(ideal, pts_ns) : AVERROR(EAGAIN);
    default: return restart(ideal, start_ns);
    }
}

/*
 * The last approach checks every picture: where time stamps jump back, a later picture may match.
 */
static int search(struct ideal *ideal, enum approach approach, int64_t pts_ns)
{
    int ret;
    do
        ret = advance(ideal);
    while (!ret && ideal->pts_ns != pts_ns && (ideal->pts_ns < pts_ns || approach == FROM_START));
    return ret ? ret : ideal->pts_ns == pts_ns ? 0 : AVERROR(ENOENT);
}

int ideal_find(struct ideal *ideal, int64_t pts_ns, const AVFrame **out)
{
    *out = ideal->picture;
    if (ideal->pts_ns == pts_ns)
        return 0;
    for (enum approach approach = FROM_HERE; approach < APPROACHES; approach++) {
        int ret = take_approach(ideal, approach, pts_ns);
        if (ret >= 0)
            ret = search(ideal, approach, pts_ns);
        if (!ret || ret == AVERROR(ENOMEM))
            return ret;
    }
    return AVERROR(ENOENT);
}
