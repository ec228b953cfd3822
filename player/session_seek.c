/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session_seek.h"

#include "log.h"
#include "ns.h"

/*
 * When a seek lands between key frames, it is repeated: first this much earlier, then twice that, and so on. The second
 * constant is the limit.
 */
static const int64_t SEEK_BACK_NS = 3 * NS_PER_S;
static const int64_t SEEK_BACK_MAX_NS = 60 * NS_PER_S;

static int seek_not_after(AVFormatContext *format, int64_t target_ns)
{
    const int64_t target_us = target_ns / NS_PER_US;
    const int ret = avformat_seek_file(format, -1, INT64_MIN, target_us, target_us, 0);
    return ret < 0 ? av_seek_frame(format, -1, target_us, AVSEEK_FLAG_BACKWARD) : ret;
}

/* Reads on and returns whether a key frame comes that is not later than the target. The file's position moves. */
static bool key_frame_comes(struct session *session, int64_t target_ns)
{
    AVPacket *packet = av_packet_alloc();
    bool found = false;
    bool passed = !packet;
    while (!found && !passed && av_read_frame(session->clip.format, packet) >= 0) {
        if (packet->stream_index == session->clip.video->index) {
            const int64_t pts_ns = clip_pts_ns(session->clip.video, packet->pts);
            passed = pts_ns != AV_NOPTS_VALUE && pts_ns > target_ns;
            found = !passed && (packet->flags & AV_PKT_FLAG_KEY);
        }
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return found;
}

/*
 * Seeks to a place not later than the target, so that the pictures up to the target can be decoded and not shown.
 * Transport streams and similar formats have no index, and a seek lands between key frames. The function then seeks
 * earlier and earlier, until a key frame lies before the target.
 */
static int seek_file(struct session *session, int64_t target_ns)
{
    AVFormatContext *const format = session->clip.format;
    if (!session->stage.decoder || !(format->iformat->flags & AVFMT_TS_DISCONT))
        return seek_not_after(format, target_ns);
    const int64_t start_ns = clip_start_ns(&session->clip);
    for (int64_t back_ns = 0;; back_ns = back_ns ? 2 * back_ns : SEEK_BACK_NS) {
        const int64_t place_ns = target_ns - back_ns > start_ns ? target_ns - back_ns : start_ns;
        const int ret = seek_not_after(format, place_ns);
        if (ret < 0 || place_ns == start_ns || back_ns > SEEK_BACK_MAX_NS)
            return ret;
        if (key_frame_comes(session, target_ns))
            return seek_not_after(format, place_ns);
    }
}

static void rewind_parts(struct session *session, const struct part *part, int64_t target_ns)
{
    const bool is_first = session->stage.feed.segment == 0;
    if (session->audio) {
        audio_sink_pause(audio_track_sink(session->audio), true);
        audio_track_restart(session->audio, target_ns);
    }
    if (session->pictures)
        picture_queue_clear(session->pictures);
    session->starving_since_ns = 0;
    const bool stayed = is_first && !clip_can_seek(&session->clip);
    media_clock_restart(&session->clock, target_ns, session->setup->options->untimed);
    stage_restart(&session->stage, part, stayed ? clip_start_ns(&session->clip) : target_ns);
    presenter_restart(&session->presenter, part);
}

/* Moves the file. If that fails in the middle of playing, sets *target_ns to the present place. */
static int go_to(struct session *session, int64_t *target_ns)
{
    const bool is_first = session->stage.feed.segment == 0;
    if (is_first && !clip_can_seek(&session->clip))
        return 0; /* the pictures before the target are decoded and not shown */
    const int ret = seek_file(session, *target_ns);
    if (ret >= 0 || is_first)
        return ret;
    log_note("cannot seek in this file: %s; playing goes on from the same position", av_err2str(ret));
    *target_ns = media_clock_now_ns(&session->clock);
    seek_file(session, *target_ns); /* if this fails too, the packets read ahead are lost */
    return 0;
}

static int start_reading(struct session *session)
{
    if (session->audio) {
        const int ret = sound_thread_start(&session->sound_thread);
        if (ret < 0)
            return ret;
    }
    return feeder_start(&session->feeder);
}

void session_stop_reading(struct session *session)
{
    feeder_stop(&session->feeder);
    sound_thread_stop(&session->sound_thread);
    if (session->queue)
        queue_reset(session->queue);
    if (session->sound_queue)
        queue_reset(session->sound_queue);
}

int session_start_at(struct session *session, int64_t position_ns)
{
    session_stop_reading(session);
    int64_t target_ns = clip_start_ns(&session->clip) + position_ns;
    const bool from_the_top = position_ns <= 0 && session->stage.feed.segment == 0;
    if (!from_the_top) {
        const int ret = go_to(session, &target_ns);
        if (ret < 0)
            return ret;
    }
    if (session->setup->options->length_ns && session->feeder.end_ns == INT64_MAX)
        session->feeder.end_ns = target_ns + session->setup->options->length_ns;
    const struct part part = {
        /* From the start nothing is cut: a picture may lie a little before the start that the container gives. */
        .from_ns = position_ns <= 0 ? INT64_MIN : target_ns,
        .end_ns = session->feeder.end_ns,
        .frame_duration = clip_frame_duration(&session->clip),
    };
    rewind_parts(session, &part, target_ns);
    return start_reading(session);
}
