/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "playback.h"

#include "log.h"
#include "presenter.h"
#include "session.h"
#include "steering.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <stdlib.h>

enum {
    NS_PER_S = 1000000000,
    NS_PER_MS = 1000000,
    PACKET_WAIT_NS = 50 * NS_PER_MS,
    /* So long without a packet before the first picture: the sound is ahead in the file, and must play to get on. */
    START_WITHOUT_PICTURE_NS = 500 * NS_PER_MS,
    /* So long without a presented picture, which waits and polls: keys are asked for. */
    POLL_STEP_NS = 100 * NS_PER_MS,
    /* Of a decoder that fails again and again when it is to give out what it holds. */
    DRAIN_ERRORS_MAX = 64,
};

struct playback {
    struct session session;
    struct steering steering;
    struct presenter presenter;
    int64_t starving_since_ns; /* 0: the queue gave a packet last time */
};

/*
 * Notices a jump of the time stamps (files put together, a broadcast's new time base) in decode order, where it is clear
 * which packets lie behind it. Only formats that have such jumps may go forward: in the others a picture just lasts.
 */
static void watch_time_stamps(struct session *session, const AVPacket *packet)
{
    const AVStream *const video = session->clip.video;
    const int64_t ts_ns = clip_pts_ns(video, packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts);
    if (ts_ns == AV_NOPTS_VALUE)
        return;
    const bool may_jump = session->clip.format->iformat->flags & AVFMT_TS_DISCONT;
    const int64_t step_ns = session->fed_ns != FIELD_EMPTY ? ts_ns - session->fed_ns : 0;
    if (step_ns < -TIME_STAMP_JUMP_NS || (may_jump && step_ns > TIME_STAMP_JUMP_NS))
        session->segment++;
    const int64_t own_ns = packet->duration > 0 ? clip_pts_ns(video, packet->duration) : 0;
    session->fed_ns = ts_ns + (own_ns > 0 ? own_ns : session->frame_duration_ns);
}

static struct frame_row *append_row(struct session *session, const AVPacket *packet)
{
    struct frame_row *row = frame_log_append(session->log);
    if (!row) {
        row = &session->spare_row;
        *row = (struct frame_row){.record = frame_record_empty()};
    }
    row->segment = session->segment;
    row->record.size_bytes = packet->size;
    row->record.pts_ns = clip_pts_ns(session->clip.video, packet->pts);
    return row;
}

/* When the picture is due that will be presented once this packet is decoded: its own PTS, or that of one held back. */
static int64_t due_pts_ns(const struct session *session, const struct frame_row *row)
{
    const int64_t own_ns = row->record.pts_ns;
    const int64_t next_ns = session->next_pts_ns;
    const bool behind_jump = row->segment != session->clock_segment; /* in no relation to the clock */
    if (own_ns == FIELD_EMPTY || behind_jump)
        return next_ns;
    return next_ns != FIELD_EMPTY && next_ns < own_ns ? next_ns : own_ns;
}

static struct policy_order decide(struct session *session, const struct frame_row *row)
{
    const int64_t due_ns = due_pts_ns(session, row);
    if (due_ns == FIELD_EMPTY)
        return (struct policy_order){.deadline_ns = NO_DEADLINE};
    const int64_t now_ns = dlex_now_ns();
    const struct policy_view view = {
        .now_ns = now_ns,
        .skew_ns = sync_skew_ns(&session->sync, due_ns, now_ns),
        .frame_duration_ns = session->frame_duration_ns,
        .sound_plays = session_sound_plays(session),
    };
    return policy_before_decode(&session->policy, &view);
}

/* Pre-roll of a seek: whether the picture is over when playing begins. */
static bool is_unwanted(const struct session *session, const AVPacket *packet)
{
    const AVStream *const video = session->clip.video;
    if (packet->pts == AV_NOPTS_VALUE || session->segment != session->clock_segment)
        return false;
    const int64_t duration_ns = packet->duration > 0 ? clip_pts_ns(video, packet->duration) : 0;
    return session_is_before_start(session, clip_pts_ns(video, packet->pts), duration_ns);
}

static void decode_packet(struct playback *playback, AVPacket *packet)
{
    struct session *const session = &playback->session;
    watch_time_stamps(session, packet);
    const bool unwanted = is_unwanted(session, packet);
    session->key_fed = session->key_fed || (packet->flags & AV_PKT_FLAG_KEY);
    if (unwanted && !session->key_fed)
        return; /* a seek landed between key frames: there is nothing that it could be decoded from */
    struct frame_row *const row = append_row(session, packet);
    packet->opaque = row;
    struct policy_order order = {.give_up = true, .deadline_ns = NO_DEADLINE};
    row->unwanted = unwanted;
    if (!unwanted) {
        steering_observe_sound(&playback->steering);
        order = decide(session, row);
    }
    row->give_up = order.give_up;
    const int ret = decoder_feed(session->decoder, packet, &order, row);
    if (ret < 0 && ret != AVERROR_EOF)
        playback->presenter.decode_errors++;
}

static void decode_next(struct playback *playback, AVPacket *packet)
{
    decode_packet(playback, packet);
    av_packet_free(&packet);
    playback->starving_since_ns = 0;
    presenter_show_all(&playback->presenter);
    if (dlex_now_ns() - playback->steering.polled_ns > POLL_STEP_NS)
        steering_poll(&playback->steering);
}

/* Everything that the decoder still holds. */
static void drain(struct playback *playback)
{
    const struct policy_order order = {.deadline_ns = NO_DEADLINE};
    int ret = 0;
    int errors = 0;
    while (ret != AVERROR_EOF && errors < DRAIN_ERRORS_MAX && !steering_is_asked(&playback->steering)) {
        ret = decoder_feed(playback->session.decoder, NULL, &order, NULL);
        if (ret < 0 && ret != AVERROR_EOF)
            errors++;
        presenter_show_all(&playback->presenter);
    }
}

static void wait_for_packet(struct playback *playback)
{
    const int64_t now_ns = dlex_now_ns();
    if (!playback->starving_since_ns)
        playback->starving_since_ns = now_ns;
    else if (playback->session.audio && now_ns - playback->starving_since_ns > START_WITHOUT_PICTURE_NS)
        steering_start_clock(&playback->steering);
    steering_poll(&playback->steering);
}

/* From the present place to the end of the file, or until the user or a signal asks for something else. */
static void play_pictures(struct playback *playback)
{
    while (!steering_is_asked(&playback->steering)) {
        AVPacket *packet;
        switch (queue_pop(playback->session.queue, &packet, PACKET_WAIT_NS)) {
        case QUEUE_PACKET:
            decode_next(playback, packet);
            break;
        case QUEUE_EMPTY:
            wait_for_packet(playback);
            break;
        case QUEUE_DRAINED:
            drain(playback);
            return;
        }
    }
}

static void play_segment(struct playback *playback)
{
    struct session *const session = &playback->session;
    if (session->decoder)
        play_pictures(playback);
    steering_start_clock(&playback->steering); /* nothing but sound, or no picture came out */
    session->pictured = true;
    const int64_t last_ns = session->next_pts_ns < session->end_ns ? session->next_pts_ns : session->end_ns;
    if (session->next_pts_ns != FIELD_EMPTY && session->decoder)
        steering_wait_until(&playback->steering, last_ns); /* the last picture stays for its time */
    steering_wait_for_sound(&playback->steering);
}

static enum playback_end play(struct playback *playback)
{
    struct session *const session = &playback->session;
    int64_t position_ns = session->setup->options->start_ns;
    for (;;) {
        const int ret = session_start_at(session, position_ns);
        if (ret < 0) {
            log_error("%s: cannot go to %.3f s: %s", session->setup->path, (double)position_ns / NS_PER_S, av_err2str(ret));
            return PLAYBACK_UNPLAYABLE;
        }
        if (placement_apply(&session->setup->options->placement, &session->placement) < 0)
            return PLAYBACK_NOT_PLACED;
        playback->starving_since_ns = 0;
        play_segment(playback);
        if (!steering_take_seek(&playback->steering, &position_ns))
            return steering_end(&playback->steering);
    }
}

/* No picture was presented or given up, no sample was heard, and nobody went past it all by a seek. */
static bool nothing_was_played(const struct session *session)
{
    const struct totals *const totals = &session->totals;
    int64_t heard_ns;
    if (session->audio && audio_sink_heard(audio_track_sink(session->audio), &heard_ns) != -EAGAIN)
        return false;
    return session->segment == 1 && totals->shown + totals->aborted + totals->skipped + totals->late == 0;
}

/* The end of the file was reached: whether that was playing it. */
static enum playback_end judge_end(const struct playback *playback)
{
    const struct session *const session = &playback->session;
    const struct options *const options = session->setup->options;
    const char *const path = session->setup->path;
    if (!session->decoder && audio_track_is_lost(session->audio))
        return PLAYBACK_SOUND_LOST;
    if (!nothing_was_played(session))
        return PLAYBACK_END;
    if (options->start_ns > 0) {
        log_error("%s: there is nothing to play from %.3f s on", path, (double)options->start_ns / NS_PER_S);
        return PLAYBACK_UNPLAYABLE;
    }
    if (session->decoder && !session->audio && playback->presenter.decode_errors)
        log_error("%s: no picture could be decoded; the file is damaged", path);
    else
        log_error("%s: there is nothing in it that could be played; it is cut off or damaged", path);
    return PLAYBACK_UNPLAYABLE;
}

static const char *end_name(enum playback_end end)
{
    switch (end) {
    case PLAYBACK_QUIT: return "quit";
    case PLAYBACK_SIGNAL: return "signal";
    case PLAYBACK_SOUND_LOST: return "sound lost";
    default: return "end";
    }
}

/*
 * Xlib ends the program by exit() when the X server goes away, from inside any of its functions. What was recorded so far
 * is written all the same.
 */
static struct playback *interrupted_by_exit;

static void save_on_exit(void)
{
    struct playback *const playback = interrupted_by_exit;
    if (!playback)
        return;
    interrupted_by_exit = NULL;
    log_error("%s: playing was broken off: the display is gone", playback->session.setup->path);
    session_write_record(&playback->session, "display lost");
}

static enum playback_end play_guarded(struct playback *playback)
{
    static bool registered;
    if (!registered)
        registered = atexit(save_on_exit) == 0;
    interrupted_by_exit = playback;
    const enum playback_end end = play(playback);
    interrupted_by_exit = NULL;
    return end;
}

struct playback_result playback_run(const struct playback_setup *setup)
{
    struct playback playback = {0};
    struct session *const session = &playback.session;
    if (session_open(session, setup) < 0)
        return (struct playback_result){.end = session->no_device ? PLAYBACK_NO_DEVICE : PLAYBACK_UNPLAYABLE};
    steering_init(&playback.steering, session);
    presenter_init(&playback.presenter, session, &playback.steering);
    if (setup->framemd5 && session->clip.video)
        framemd5_begin(setup->framemd5, session->clip.video);
    enum playback_end end = play_guarded(&playback);
    feeder_stop(&session->feeder);
    steering_finish(&playback.steering);
    if (end == PLAYBACK_END)
        end = judge_end(&playback);
    const bool began = end != PLAYBACK_UNPLAYABLE && end != PLAYBACK_NOT_PLACED;
    const bool played = began || session->totals.shown > 0;
    const bool record_lost = played && session_write_record(session, end_name(end)) < 0;
    session_close(session);
    return (struct playback_result){.end = end, .record_lost = record_lost};
}
