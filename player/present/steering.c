/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steering.h"

#include "log.h"
#include "status.h"
#include "terminal.h"

#include <dlex/dlex.h>
#include <time.h>

enum {
    NS_PER_S = 1000000000,
    NS_PER_MS = 1000000,
    /* Longer waits are cut into these, so that keys and a clock that moves are noticed. */
    WAIT_STEP_NS = 20 * NS_PER_MS,
    STATUS_STEP_NS = 100 * NS_PER_MS,
    STATUS_SIZE = 200,
};

void steering_init(struct steering *steering, struct session *session)
{
    *steering = (struct steering){.session = session};
}

static struct audio_sink *sink_of(const struct session *session)
{
    return session->audio ? audio_track_sink(session->audio) : NULL;
}

static void run_clock(struct session *session, bool run)
{
    const int64_t now_ns = dlex_now_ns();
    if (run)
        sync_start(&session->sync, now_ns);
    else
        sync_stop(&session->sync, now_ns);
    if (session->audio)
        audio_sink_pause(sink_of(session), !run);
}

void steering_start_clock(struct steering *steering)
{
    struct session *const session = steering->session;
    if (session->started)
        return;
    session->started = true;
    run_clock(session, !session->paused);
}

void steering_observe_sound(struct steering *steering)
{
    struct session *const session = steering->session;
    if (!session->audio || !session->started || session->paused)
        return;
    if (audio_track_is_over(session->audio)) {
        const char *const why = audio_sink_error(sink_of(session));
        if (why && !steering->sound_lost)
            log_error("the sound is gone (%s); playing %s", why, session->decoder ? "goes on without it" : "ends here");
        steering->sound_lost = why != NULL;
        return;
    }
    const bool starved = session->queue && queue_is_full(session->queue);
    const int64_t clock_ns = sync_media_ns(&session->sync, dlex_now_ns());
    int64_t heard_ns;
    if (!audio_track_heard(session->audio, starved, clock_ns, &heard_ns))
        sync_observe(&session->sync, heard_ns, dlex_now_ns());
}

static int64_t position_ns(const struct session *session)
{
    const int64_t media_ns = sync_media_ns(&session->sync, dlex_now_ns());
    const int64_t position = media_ns - clip_start_ns(&session->clip);
    const int64_t duration = clip_duration_ns(&session->clip);
    if (position < 0)
        return 0;
    return duration && position > duration ? duration : position;
}

static void draw_status(const struct steering *steering)
{
    const struct session *const session = steering->session;
    const struct status status = {
        .has_audio = session->audio,
        .has_video = session->decoder,
        .paused = session->paused,
        .position_ns = position_ns(session),
        .duration_ns = clip_duration_ns(&session->clip),
        .skew_ns = session->last_skew_ns,
        .totals = session->totals,
    };
    char line[STATUS_SIZE];
    log_status(status_format(&status, line, sizeof line));
}

static void refresh_status(struct steering *steering)
{
    const int64_t now_ns = dlex_now_ns();
    if (now_ns - steering->status_ns < STATUS_STEP_NS)
        return;
    steering->status_ns = now_ns;
    draw_status(steering);
}

static void seek_by(struct steering *steering, int64_t seconds)
{
    if (!session_can_seek(steering->session)) {
        log_note("cannot seek in this file");
        return;
    }
    const int64_t duration_ns = clip_duration_ns(&steering->session->clip);
    const int64_t base_ns = steering->seek ? steering->seek_position_ns : position_ns(steering->session);
    int64_t target_ns = base_ns + seconds * NS_PER_S;
    if (duration_ns && target_ns > duration_ns)
        target_ns = duration_ns;
    steering->seek_position_ns = target_ns > 0 ? target_ns : 0;
    steering->seek = true;
}

static void toggle_pause(struct session *session)
{
    session->paused = !session->paused;
    if (session->started)
        run_clock(session, !session->paused);
}

static void obey(struct steering *steering, enum input input)
{
    switch (input) {
    case INPUT_NONE: break;
    case INPUT_QUIT: steering->quit = true; break;
    case INPUT_PAUSE: toggle_pause(steering->session); break;
    case INPUT_SEEK_BACK_10: seek_by(steering, -10); break;
    case INPUT_SEEK_FORWARD_10: seek_by(steering, 10); break;
    case INPUT_SEEK_BACK_60: seek_by(steering, -60); break;
    case INPUT_SEEK_FORWARD_60: seek_by(steering, 60); break;
    }
}

static enum input next_input(const struct steering *steering)
{
    struct video_sink *const screen = *steering->session->setup->screen;
    const enum input input = screen ? video_sink_poll(screen) : INPUT_NONE;
    return input != INPUT_NONE ? input : terminal_poll();
}

/* Sleeps at most one step. An early return, by a signal or a leftover expiry, is harmless: every caller looks again. */
static void nap(int64_t wait_ns)
{
    const int64_t step_ns = wait_ns < WAIT_STEP_NS ? wait_ns : WAIT_STEP_NS;
    const struct timespec step = {.tv_nsec = step_ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
}

static bool pause_holds(const struct steering *steering)
{
    const struct session *const session = steering->session;
    return session->paused && session->pictured && !steering_is_asked(steering);
}

void steering_poll(struct steering *steering)
{
    do {
        enum input input;
        while ((input = next_input(steering)) != INPUT_NONE)
            obey(steering, input);
        steering_observe_sound(steering);
        refresh_status(steering);
        if (pause_holds(steering))
            nap(WAIT_STEP_NS);
    } while (pause_holds(steering));
    steering->polled_ns = dlex_now_ns();
}

/* The pictures' time stamps jumped, and the sound ended before it could lead the clock after them. */
static void follow_jump_without_sound(struct session *session, int64_t pts_ns, int64_t now_ns)
{
    const int64_t skew_ns = sync_skew_ns(&session->sync, pts_ns, now_ns);
    const bool is_far = skew_ns > TIME_STAMP_JUMP_NS || skew_ns < -TIME_STAMP_JUMP_NS;
    if (session->jumped && is_far && !session_sound_plays(session))
        sync_observe(&session->sync, pts_ns, now_ns);
}

void steering_wait_until(struct steering *steering, int64_t pts_ns)
{
    struct session *const session = steering->session;
    for (;;) {
        steering_poll(steering);
        const int64_t now_ns = dlex_now_ns();
        follow_jump_without_sound(session, pts_ns, now_ns);
        const int64_t wait_ns = sync_wait_ns(&session->sync, pts_ns, now_ns);
        if (wait_ns <= 0 || steering_is_asked(steering))
            return;
        nap(wait_ns);
    }
}

void steering_wait_for_sound(struct steering *steering)
{
    struct session *const session = steering->session;
    while (session->audio && !audio_track_is_over(session->audio) && !steering_is_asked(steering)) {
        steering_poll(steering);
        nap(WAIT_STEP_NS);
    }
    steering_observe_sound(steering); /* tells it if the sound was lost */
}

bool steering_is_asked(const struct steering *steering)
{
    return steering->quit || steering->seek || *steering->session->setup->signal_seen;
}

bool steering_take_seek(struct steering *steering, int64_t *position_ns)
{
    if (!steering->seek || steering->quit || *steering->session->setup->signal_seen)
        return false;
    *position_ns = steering->seek_position_ns;
    steering->seek = false;
    return true;
}

enum playback_end steering_end(const struct steering *steering)
{
    if (*steering->session->setup->signal_seen)
        return PLAYBACK_SIGNAL;
    return steering->quit ? PLAYBACK_QUIT : PLAYBACK_END;
}

void steering_finish(struct steering *steering)
{
    draw_status(steering);
    log_status_ends();
}
