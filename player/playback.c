/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "playback.h"

#include "log.h"
#include "presenter.h"
#include "session.h"
#include "steering.h"

#include <dlex/dlex.h>
#include <stdlib.h>

enum {
    NS_PER_MS = 1000000,
    PACKET_WAIT_NS = 50 * NS_PER_MS,
    /* So long without a packet before the first picture: the sound is ahead in the file, and must play to get on. */
    START_WITHOUT_PICTURE_NS = 500 * NS_PER_MS,
};

struct playback {
    struct session session;
    struct steering steering;
    struct presenter presenter;
    int64_t starving_since_ns; /* 0: the queue gave a packet last time */
};

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
    if (own_ns == FIELD_EMPTY)
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
        .sound_plays = session->audio && !audio_track_is_over(session->audio),
    };
    return policy_before_decode(&session->policy, &view);
}

static void decode_packet(struct playback *playback, AVPacket *packet)
{
    struct session *const session = &playback->session;
    struct frame_row *const row = append_row(session, packet);
    packet->opaque = row;
    struct policy_order order = {.give_up = true, .deadline_ns = NO_DEADLINE};
    row->unwanted = row->record.pts_ns != FIELD_EMPTY && row->record.pts_ns < session->from_ns;
    if (!row->unwanted) {
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
}

/* Everything that the decoder still holds. */
static void drain(struct playback *playback)
{
    const struct policy_order order = {.deadline_ns = NO_DEADLINE};
    int ret = 0;
    while (ret >= 0 && !steering_is_asked(&playback->steering)) {
        ret = decoder_feed(playback->session.decoder, NULL, &order, NULL);
        presenter_show_all(&playback->presenter);
    }
}

static void wait_for_packet(struct playback *playback)
{
    const int64_t now_ns = dlex_now_ns();
    if (!playback->starving_since_ns)
        playback->starving_since_ns = now_ns;
    else if (now_ns - playback->starving_since_ns > START_WITHOUT_PICTURE_NS)
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
    if (session->next_pts_ns != FIELD_EMPTY && session->decoder)
        steering_wait_until(&playback->steering, session->next_pts_ns); /* the last picture stays for its time */
    steering_wait_for_sound(&playback->steering);
}

static enum playback_end play(struct playback *playback)
{
    struct session *const session = &playback->session;
    int64_t position_ns = session->setup->options->start_ns;
    for (;;) {
        const int ret = session_start_at(session, position_ns);
        if (ret < 0) {
            log_error("%s: cannot go to %.3f s: %s", session->setup->path, (double)position_ns / 1e9, av_err2str(ret));
            return PLAYBACK_UNPLAYABLE;
        }
        steering_begin_segment(&playback->steering);
        playback->starving_since_ns = 0;
        play_segment(playback);
        if (!steering_takes_seek(&playback->steering, &position_ns))
            return steering_end(&playback->steering);
    }
}

static bool nothing_came_out(const struct playback *playback)
{
    return playback->session.decoder && !playback->session.audio && playback->presenter.pictures == 0 &&
           playback->presenter.decode_errors > 0;
}

static const char *end_name(enum playback_end end)
{
    return end == PLAYBACK_QUIT ? "quit" : end == PLAYBACK_SIGNAL ? "signal" : "end";
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

enum playback_end playback_run(const struct playback_setup *setup)
{
    struct playback playback = {0};
    struct session *const session = &playback.session;
    if (session_open(session, setup) < 0)
        return session->no_screen ? PLAYBACK_NO_SCREEN : PLAYBACK_UNPLAYABLE;
    steering_init(&playback.steering, session);
    presenter_init(&playback.presenter, session, &playback.steering);
    if (setup->framemd5 && session->clip.video)
        framemd5_begin(setup->framemd5, session->clip.video);
    enum playback_end end = play_guarded(&playback);
    feeder_stop(&session->feeder);
    steering_finish(&playback.steering);
    if (end == PLAYBACK_END && nothing_came_out(&playback)) {
        log_error("%s: no picture could be decoded; the file is damaged", setup->path);
        end = PLAYBACK_UNPLAYABLE;
    }
    if (end != PLAYBACK_UNPLAYABLE && session_write_record(session, end_name(end)) < 0)
        end = PLAYBACK_NO_RECORD;
    session_close(session);
    return end;
}
