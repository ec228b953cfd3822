/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "playback.h"

#include "log.h"
#include "ns.h"
#include "session.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <stdlib.h>

enum {
    PACKET_WAIT_NS = 50 * NS_PER_MS,
    /* After this long without a packet before the first picture, the sound starts. In the file the sound is ahead, and
     * it must play before the feeder can read on. */
    START_WITHOUT_PICTURE_NS = 500 * NS_PER_MS,
    /* Presenting a picture polls the keys. After this long without a presented picture, the keys are polled here. */
    POLL_STEP_NS = 100 * NS_PER_MS,
    /* Draining ends after this many errors, because a decoder may fail again and again when it is drained. */
    DRAIN_ERRORS_MAX = 64,
};

struct playback {
    struct session session;
    int64_t starving_since_ns; /* 0: the queue gave a packet last time */
};

static void decode_packet(struct session *session, AVPacket *packet)
{
    media_clock_observe_sound(&session->clock);
    const struct stage_clock clock = {session->clock.sync, media_clock_sound_plays(&session->clock)};
    struct job_note note;
    if (stage_decode(&session->stage, packet, &clock, &note))
        presenter_note_job(&session->presenter, &note);
}

static void show_pictures(struct session *session)
{
    while (!steering_has_request(&session->steering) && stage_take(&session->stage, &session->picture)) {
        presenter_show(&session->presenter, &session->picture);
        av_frame_unref(session->picture.frame);
    }
}

static void decode_next(struct playback *playback, AVPacket *packet)
{
    struct steering *const steering = &playback->session.steering;
    decode_packet(&playback->session, packet);
    av_packet_free(&packet);
    playback->starving_since_ns = 0;
    show_pictures(&playback->session);
    if (dlex_now_ns() - steering->polled_ns > POLL_STEP_NS)
        steering_poll(steering);
}

/* Decodes and shows everything that the decoder still holds. */
static void drain(struct session *session)
{
    int ret = 0;
    int errors = 0;
    while (ret != AVERROR_EOF && errors < DRAIN_ERRORS_MAX && !steering_has_request(&session->steering)) {
        ret = stage_drain(&session->stage);
        if (ret < 0 && ret != AVERROR_EOF)
            errors++;
        show_pictures(session);
    }
}

static void wait_for_packet(struct playback *playback)
{
    struct session *const session = &playback->session;
    const int64_t now_ns = dlex_now_ns();
    if (!playback->starving_since_ns)
        playback->starving_since_ns = now_ns;
    else if (session->audio && now_ns - playback->starving_since_ns > START_WITHOUT_PICTURE_NS)
        media_clock_start(&session->clock);
    steering_poll(&session->steering);
}

/* Plays the pictures from the present place to the end of the file, or until a request of the user or a signal. */
static void play_pictures(struct playback *playback)
{
    struct session *const session = &playback->session;
    while (!steering_has_request(&session->steering)) {
        AVPacket *packet;
        switch (queue_pop(session->queue, &packet, PACKET_WAIT_NS)) {
        case QUEUE_PACKET:
            decode_next(playback, packet);
            break;
        case QUEUE_EMPTY:
            wait_for_packet(playback);
            break;
        case QUEUE_DRAINED:
            drain(session);
            return;
        }
    }
}

static void play_segment(struct playback *playback)
{
    struct session *const session = &playback->session;
    if (session->stage.decoder)
        play_pictures(playback);
    media_clock_start(&session->clock); /* for a file with sound only, or when no picture came out */
    session->presenter.presented.pictured = true;
    const struct presenter *const presenter = &session->presenter;
    const int64_t last_ns = presenter->next_ns < presenter->part.end_ns ? presenter->next_ns : presenter->part.end_ns;
    if (presenter->next_ns != NS_UNKNOWN && session->stage.decoder)
        steering_wait_until(&session->steering, last_ns); /* the last picture stays for its duration */
    steering_wait_for_sound(&session->steering);
}

static enum playback_end end_of(const struct session *session)
{
    if (*session->setup->signal_seen)
        return PLAYBACK_SIGNAL;
    return steering_has_quit(&session->steering) ? PLAYBACK_QUIT : PLAYBACK_END;
}

static enum playback_end play(struct playback *playback)
{
    struct session *const session = &playback->session;
    int64_t position_ns = session->setup->options->start_ns;
    for (;;) {
        const int ret = session_start_at(session, position_ns);
        if (ret < 0) {
            log_error("%s: cannot go to %.3f s: %s", session->setup->path, ns_to_s(position_ns), av_err2str(ret));
            return PLAYBACK_UNPLAYABLE;
        }
        if (placement_apply(&session->setup->options->placement, &session->placement) < 0)
            return PLAYBACK_NOT_PLACED;
        playback->starving_since_ns = 0;
        play_segment(playback);
        if (!steering_take_seek(&session->steering, &position_ns))
            return end_of(session);
    }
}

/*
 * Returns whether no picture was presented or given up, no sample was heard, and the user did not seek past everything.
 */
static bool nothing_was_played(const struct session *session)
{
    const struct totals *const totals = &session->presenter.presented.totals;
    int64_t heard_ns;
    if (session->audio && audio_sink_heard(audio_track_sink(session->audio), &heard_ns) != -EAGAIN)
        return false;
    return session->stage.feed.segment == 1 && totals->shown + totals->aborted + totals->skipped + totals->late == 0;
}

/* The end of the file was reached. Decides whether the file was really played, and logs why not. */
static enum playback_end judge_end(const struct playback *playback)
{
    const struct session *const session = &playback->session;
    const struct options *const options = session->setup->options;
    const char *const path = session->setup->path;
    if (!session->stage.decoder && audio_track_is_lost(session->audio))
        return PLAYBACK_SOUND_LOST;
    if (!nothing_was_played(session))
        return PLAYBACK_END;
    if (options->start_ns > 0) {
        log_error("%s: there is nothing to play from %.3f s on", path, ns_to_s(options->start_ns));
        return PLAYBACK_UNPLAYABLE;
    }
    if (session->stage.decoder && !session->audio && session->presenter.decode_errors)
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
 * When the X server goes away, Xlib calls exit() from inside any of its functions. The record so far is written even
 * then.
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
    if (setup->framemd5 && session->clip.video)
        framemd5_begin(setup->framemd5, session->clip.video);
    enum playback_end end = play_guarded(&playback);
    feeder_stop(&session->feeder);
    steering_finish(&session->steering);
    if (end == PLAYBACK_END)
        end = judge_end(&playback);
    const bool began = end != PLAYBACK_UNPLAYABLE && end != PLAYBACK_NOT_PLACED;
    const bool played = began || session->presenter.presented.totals.shown > 0;
    const bool record_lost = played && session_write_record(session, end_name(end)) < 0;
    session_close(session);
    return (struct playback_result){.end = end, .record_lost = record_lost};
}
