/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_read.h"

#include "ns.h"

#include <libavutil/avstring.h>
#include <time.h>

enum {
    SOUND_PACKET_NS = 20 * NS_PER_MS,
    VVC_REORDER = 72, /* VVenC decodes a key picture 36 pictures before it is shown */
    DAMAGED_MAX = 10, /* tries in a row: some demuxers never leave a damaged place */
    CUT_OFF_MAX = 1000, /* packets in a row behind the end of a file that is cut off: 20 s of sound without a picture */
};
/* A year. */
#define FAR_US (365 * 86400 * INT64_C(1000000))

static const AVRational nanosecond = {1, NS_PER_S};

/* Other formats have no such header, and FFmpeg looks at their last packets, whose stamps may be damaged. */
static int64_t end_in_header_ns(const struct clip *clip)
{
    const bool is_known = clip->format->duration_estimation_method == AVFMT_DURATION_FROM_STREAM && clip_duration_ns(clip) > 0;
    return is_known ? clip_start_ns(clip) + clip_duration_ns(clip) : NS_UNKNOWN;
}

static struct stamped_facts facts_of(const struct clip *clip, const AVStream *stream, struct frame_duration duration)
{
    return (struct stamped_facts){
        .is_there = stream,
        .reorder = stream && stream->codecpar->codec_id == AV_CODEC_ID_VVC ? VVC_REORDER : 0,
        .may_jump = clip->format->iformat->flags & AVFMT_TS_DISCONT,
        .end_ns = end_in_header_ns(clip),
        .duration = duration,
    };
}

/* Stamps that count from 1970, or from another year, leave no room in int64_t ns for sums. */
static int64_t origin_of(const AVFormatContext *format)
{
    const int64_t start_us = format->start_time;
    if (start_us == AV_NOPTS_VALUE || (start_us < FAR_US && start_us > -FAR_US))
        return 0;
    return start_us / AV_TIME_BASE * AV_TIME_BASE; /* whole seconds, because the time bases of two streams hardly have more in common */
}

int clip_begin(struct clip *clip)
{
    clip->origin_us = origin_of(clip->format);
    const struct stamped_facts facts[READ_STREAMS] = {
        [READ_VIDEO] = facts_of(clip, clip->video, clip_frame_duration(clip)),
        [READ_SOUND] = facts_of(clip, clip->audio, frame_duration_of(SOUND_PACKET_NS)),
    };
    time_stamps_init(&clip->stamps, facts, clip_start_ns(clip));
    clip->waiting = av_fifo_alloc2(TIME_STAMPS_WINDOW, sizeof(AVPacket *), 0);
    return clip->waiting ? 0 : AVERROR(ENOMEM);
}

int clip_put_back(struct clip *clip, AVPacket *packet)
{
    if (!clip->read)
        clip->read = av_fifo_alloc2(1, sizeof packet, AV_FIFO_FLAG_AUTO_GROW);
    if (clip->read)
        av_fifo_auto_grow_limit(clip->read, SIZE_MAX);
    AVPacket *kept = clip->read ? av_packet_alloc() : NULL;
    if (kept)
        av_packet_move_ref(kept, packet);
    else
        av_packet_unref(packet);
    if (kept && av_fifo_write(clip->read, &kept, 1) >= 0)
        return 0;
    av_packet_free(&kept);
    return AVERROR(ENOMEM);
}

void clip_forget_read(struct clip *clip)
{
    AVPacket *packet;
    while (clip->read && av_fifo_read(clip->read, &packet, 1) >= 0)
        av_packet_free(&packet);
}

static void drop_waiting(struct clip *clip)
{
    AVPacket *packet;
    while (clip->waiting && av_fifo_read(clip->waiting, &packet, 1) >= 0)
        av_packet_free(&packet);
}

void clip_forget_all(struct clip *clip)
{
    clip_forget_read(clip);
    drop_waiting(clip);
    av_fifo_freep2(&clip->read);
    av_fifo_freep2(&clip->waiting);
}

void clip_begin_at(struct clip *clip, int64_t film_ns)
{
    drop_waiting(clip);
    time_stamps_seek(&clip->stamps, film_ns);
    clip->ended = 0;
}

int64_t clip_origin(const struct clip *clip, const AVStream *stream)
{
    return av_rescale_q(clip->origin_us, AV_TIME_BASE_Q, stream->time_base);
}

int64_t clip_file_ns(const struct clip *clip, const AVStream *stream, int64_t stamp)
{
    int64_t since;
    if (stamp == AV_NOPTS_VALUE || __builtin_sub_overflow(stamp, clip_origin(clip, stream), &since))
        return NS_UNKNOWN;
    return clip_pts_ns(stream, since);
}

/* Puts the packet, whose reference it takes, to those that wait. *packet is blank afterwards. */
static int wait_for_judgement(struct clip *clip, AVPacket *packet)
{
    const AVStream *const stream = clip->format->streams[packet->stream_index];
    const struct stamp stamp = {
        .stream = stream == clip->video ? READ_VIDEO : READ_SOUND,
        .dts_ns = clip_file_ns(clip, stream, packet->dts),
        .pts_ns = clip_file_ns(clip, stream, packet->pts),
        .duration_ns = packet->duration > 0 ? av_rescale_q(packet->duration, stream->time_base, nanosecond) : 0,
        .is_cut = packet->flags & AV_PKT_FLAG_DISCARD,
    };
    AVPacket *kept = av_packet_alloc();
    if (!kept)
        return AVERROR(ENOMEM);
    av_packet_move_ref(kept, packet);
    if (av_fifo_write(clip->waiting, &kept, 1) < 0) {
        av_packet_free(&kept);
        return AVERROR(ENOMEM);
    }
    time_stamps_put(&clip->stamps, &stamp);
    return 0;
}

static bool is_broken_off(const AVFormatContext *format)
{
    const AVIOInterruptCB *const interrupt = &format->interrupt_callback;
    return interrupt->callback && interrupt->callback(interrupt->opaque);
}

static bool is_at_end(AVIOContext *pb)
{
    const int64_t size = pb->seekable & AVIO_SEEKABLE_NORMAL ? avio_size(pb) : -1;
    return avio_feof(pb) || (size >= 0 && avio_tell(pb) >= size);
}

/*
 * Returns AVERROR_EOF at the end of the file. Some demuxers report it by another error; that of GXF does. Others report AVERROR_EOF
 * when the device fails. A packet for which there is no memory may have been read up to the end of the file.
 */
static int reading_error(const struct clip *clip, int error)
{
    AVIOContext *const pb = clip->format->pb;
    if (pb && pb->error < 0 && pb->error != AVERROR_EOF)
        return pb->error;
    return error != AVERROR(ENOMEM) && pb && is_at_end(pb) ? AVERROR_EOF : error;
}

/*
 * Returns how often the demuxer may be asked again for a packet behind what it did not find or understand. In MP4, each packet has its own
 * place: where the file is cut off, the sound may lie behind the end, and pictures of the same time before it.
 */
static int tries_after(const struct clip *clip, int error)
{
    if (error == AVERROR_EOF)
        return av_strstart(clip->format->iformat->name, "mov,", NULL) ? CUT_OFF_MAX : 0;
    const bool may_go_on = error != AVERROR_EXIT && error != AVERROR(ENOMEM) && error != AVERROR(EIO);
    return may_go_on ? DAMAGED_MAX : 0;
}

int clip_read_frame(struct clip *clip, AVPacket *packet)
{
    for (int damaged = 0;;) {
        int ret = av_read_frame(clip->format, packet);
        if (ret >= 0)
            return 0;
        if (is_broken_off(clip->format))
            return AVERROR_EXIT;
        if (ret == AVERROR(EAGAIN)) { /* some demuxers return it for what they have skipped */
            nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
            continue;
        }
        ret = reading_error(clip, ret);
        if (++damaged >= tries_after(clip, ret))
            return ret;
    }
}

/* As clip_read_frame, but packets that were put back come first. */
static int read_file(struct clip *clip, AVPacket *packet)
{
    AVPacket *read;
    if (!clip->read || av_fifo_read(clip->read, &read, 1) < 0)
        return clip_read_frame(clip, packet);
    av_packet_move_ref(packet, read);
    av_packet_free(&read);
    return 0;
}

static int read_on(struct clip *clip, AVPacket *packet)
{
    const int ret = read_file(clip, packet);
    if (ret < 0)
        return ret;
    const AVStream *const stream = clip->format->streams[packet->stream_index];
    const int kept = stream == clip->video || stream == clip->audio ? wait_for_judgement(clip, packet) : 0;
    av_packet_unref(packet);
    return kept;
}

/* Returns a stamp of film time in the stream's time base. A stamp that was only moved is not rounded once more than needed. */
static int64_t film_stamp(const struct clip *clip, const AVStream *stream, int64_t stamp, int64_t film_ns, int64_t offset_ns)
{
    if (film_ns == NS_UNKNOWN)
        return AV_NOPTS_VALUE;
    if (stamp != AV_NOPTS_VALUE && clip_file_ns(clip, stream, stamp) - offset_ns == film_ns)
        return stamp - clip_origin(clip, stream) - av_rescale_q(offset_ns, nanosecond, stream->time_base);
    return av_rescale_q(film_ns, nanosecond, stream->time_base);
}

static void give_film_time(const struct clip *clip, AVPacket *packet, const struct checked_stamp *checked)
{
    const AVStream *const stream = clip->format->streams[packet->stream_index];
    packet->dts = film_stamp(clip, stream, packet->dts, checked->film.dts_ns, checked->offset_ns);
    packet->pts = film_stamp(clip, stream, packet->pts, checked->film.pts_ns, checked->offset_ns);
    if (!checked->film.duration_ns)
        packet->duration = 0;
}

int clip_read(struct clip *clip, AVPacket *packet)
{
    struct checked_stamp checked;
    while (!time_stamps_take(&clip->stamps, clip->ended, &checked)) {
        if (clip->ended)
            return clip->ended;
        const int ret = read_on(clip, packet);
        if (ret == AVERROR_EXIT || ret == AVERROR(EAGAIN) || ret == AVERROR(ENOMEM))
            return ret;
        clip->ended = ret;
    }
    AVPacket *kept;
    av_fifo_read(clip->waiting, &kept, 1);
    give_film_time(clip, kept, &checked);
    av_packet_move_ref(packet, kept);
    av_packet_free(&kept);
    return 0;
}
