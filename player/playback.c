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
    int64_t jobs;                   /* packets decoded so far */
    int64_t starving_since_ns;      /* 0: the queue gave a packet last time */
};

static struct decode_order decide(struct session *session, const struct packet_facts *packet)
{
    const int64_t due_ns = show_pace_next_ns(&session->presenter.pace, packet->segment, packet->pts_ns);
    if (due_ns == NS_UNKNOWN)
        return (struct decode_order){.deadline_ns = NO_DEADLINE};
    const int64_t now_ns = dlex_now_ns();
    const struct decode_view view = {
        .now_ns = now_ns,
        .skew_ns = sync_skew_ns(&session->clock.sync, due_ns, now_ns),
        .frame_duration_ns = session->pace.part.frame_duration_ns,
        .sound_plays = media_clock_sound_plays(&session->clock),
    };
    return decode_policy_decide(&session->policy, &view);
}

static struct packet_times times_of(const struct session *session, const AVPacket *packet)
{
    const AVStream *const video = session->clip.video;
    return (struct packet_times){
        .dts_ns = clip_pts_ns(video, packet->dts),
        .pts_ns = clip_pts_ns(video, packet->pts),
        .duration_ns = packet->duration > 0 ? clip_pts_ns(video, packet->duration) : 0,
        .key = packet->flags & AV_PKT_FLAG_KEY,
    };
}

static struct decode_order order_of(struct session *session, const struct packet_facts *packet)
{
    if (packet->unwanted)
        return (struct decode_order){.give_up = true, .deadline_ns = NO_DEADLINE};
    media_clock_observe_sound(&session->clock);
    return decide(session, packet);
}

static void decode_packet(struct playback *playback, AVPacket *packet)
{
    struct session *const session = &playback->session;
    const struct packet_times times = times_of(session, packet);
    const struct packet_place place = feed_pace_packet(&session->pace, &times);
    if (place.undecodable)
        return; /* a seek landed between key frames */
    struct packet_facts facts = {
        .segment = place.segment,
        .pts_ns = times.pts_ns,
        .size_bytes = packet->size,
        .unwanted = place.unwanted,
    };
    const struct decode_job job = {
        .packet = packet,
        .number = playback->jobs++,
        .order = order_of(session, &facts),
    };
    facts.given_up = job.order.give_up;
    facts.is_starting = decode_policy_is_starting(&session->policy);
    struct decode_outcome outcome;
    decoder_run(session->decoder, &job, &outcome);
    presenter_note_job(&session->presenter, &facts, &outcome);
}

static void show_pictures(struct session *session)
{
    while (!steering_has_request(&session->steering) && decoder_take(session->decoder, &session->picture)) {
        presenter_show(&session->presenter, &session->picture);
        av_frame_unref(session->picture.frame);
    }
}

static void decode_next(struct playback *playback, AVPacket *packet)
{
    struct steering *const steering = &playback->session.steering;
    decode_packet(playback, packet);
    av_packet_free(&packet);
    playback->starving_since_ns = 0;
    show_pictures(&playback->session);
    if (dlex_now_ns() - steering->polled_ns > POLL_STEP_NS)
        steering_poll(steering);
}

/* Decodes and shows everything that the decoder still holds. */
static void drain(struct session *session)
{
    const struct decode_job job = {.order = {.deadline_ns = NO_DEADLINE}};
    struct decode_outcome outcome = {0};
    int errors = 0;
    while (outcome.error != AVERROR_EOF && errors < DRAIN_ERRORS_MAX && !steering_has_request(&session->steering)) {
        decoder_run(session->decoder, &job, &outcome);
        if (outcome.error < 0 && outcome.error != AVERROR_EOF)
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
    if (session->decoder)
        play_pictures(playback);
    media_clock_start(&session->clock); /* for a file with sound only, or when no picture came out */
    session->presenter.presented.pictured = true;
    const struct show_pace *const pace = &session->presenter.pace;
    const int64_t last_ns = pace->next_ns < pace->part.end_ns ? pace->next_ns : pace->part.end_ns;
    if (pace->next_ns != NS_UNKNOWN && session->decoder)
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
    return session->pace.segment == 1 && totals->shown + totals->aborted + totals->skipped + totals->late == 0;
}

/* The end of the file was reached. Decides whether the file was really played, and logs why not. */
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
        log_error("%s: there is nothing to play from %.3f s on", path, ns_to_s(options->start_ns));
        return PLAYBACK_UNPLAYABLE;
    }
    if (session->decoder && !session->audio && session->presenter.decode_errors)
        log_error("%s: no picture could be decoded; the file is damaged", path);
    else
        log_error("%s: it contains nothing that can be played; it is truncated or damaged", path);
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
    log_error("%s: playing was stopped: the display was lost", playback->session.setup->path);
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
