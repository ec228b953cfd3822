/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "playback.h"

#include "ahead_loop.h"
#include "log.h"
#include "ns.h"
#include "serial_loop.h"
#include "session_limits.h"
#include "session_record.h"
#include "session_seek.h"
#include "session.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { HEAD_START_MAX_NS = 300 * NS_PER_MS, HEAD_START_STEP_NS = 5 * NS_PER_MS };

/*
 * Nothing was shown, so the sound is the first to be played. A sink that runs dry in its first moments may lose sound: a null sink of
 * PulseAudio left out 170 ms.
 */
static void wait_for_head_start(struct session *session)
{
    const int64_t until_ns = dlex_now_ns() + HEAD_START_MAX_NS;
    while (session->audio && !session->clock.started && !audio_track_has_head_start(session->audio) &&
           !steering_has_request(&session->steering) && dlex_now_ns() < until_ns)
        steering_nap(&session->steering, HEAD_START_STEP_NS);
}

static void play_segment(struct session *session)
{
    if (session->pictures)
        ahead_loop(session);
    else if (session->stage.decoder)
        serial_loop(session);
    if (steering_has_request(&session->steering))
        presenter_note_request(&session->presenter);
    wait_for_head_start(session);
    media_clock_start(&session->clock); /* for a file with sound only, or when no picture came out */
    session->presenter.presented.pictured = true;
    const struct presenter *const presenter = &session->presenter;
    const int64_t last_ns = presenter->next_ns < presenter->part.end_ns ? presenter->next_ns : presenter->part.end_ns;
    if (presenter->next_ns != NS_UNKNOWN && session->stage.decoder)
        steering_wait_until(&session->steering, last_ns); /* the last picture stays for its duration */
    steering_wait_for_sound(&session->steering);
}

/* Call when playing has ended, whatever the reason. */
static void note_violations(const struct session *session)
{
    const struct loss_windows *const windows = &session->presenter.presented.windows;
    if (windows->violations_sliding > 0)
        log_note("%s: %" PRId64 " lost pictures violate --window=%d/%d", session->setup->path, windows->violations_sliding,
                 windows->window.x, windows->window.y);
}

static enum playback_end end_of(const struct session *session)
{
    if (*session->setup->signal_seen)
        return PLAYBACK_SIGNAL;
    return steering_has_quit(&session->steering) ? PLAYBACK_QUIT : PLAYBACK_END;
}

static enum playback_end play(struct session *session)
{
    int64_t position_ns = session->setup->options->start_ns;
    for (;;) {
        const int ret = session_start_at(session, position_ns);
        if (ret < 0) {
            log_error("%s: cannot go to %.3f s: %s", session->setup->path, ns_to_s(position_ns), av_err2str(ret));
            return PLAYBACK_UNPLAYABLE;
        }
        const struct placement *const placement = &session->setup->options->placement;
        if (!session->placement.presenting_ns)
            session->placement.presenting_ns = division_first_ns(placement->policy.runtime_ns);
        if (placement_join(placement, &session->placement, frame_duration_ns(clip_frame_duration(&session->clip))) < 0 ||
            placement_apply(placement, &session->placement) < 0)
            return PLAYBACK_NOT_PLACED;
        session_limits_begin(session);
        play_segment(session);
        if (!steering_take_seek(&session->steering, &position_ns))
            return end_of(session);
    }
}

/* Returns whether --start lies behind the last picture, and the sound from there on is shorter than that picture. */
static bool only_the_rest_was_heard(const struct session *session, int64_t heard_ns)
{
    const struct options *const options = session->setup->options;
    const int64_t picture_ns = frame_duration_ns(clip_frame_duration(&session->clip));
    const bool is_part_of_a_picture = options->length_ns > 0 && options->length_ns < picture_ns;
    if (!session->stage.decoder || options->start_ns <= 0 || is_part_of_a_picture)
        return false;
    return heard_ns - session->presenter.part.from_ns < picture_ns;
}

/*
 * Returns whether no picture was presented or given up, no sample was heard, and the user did not seek past everything.
 */
static bool nothing_was_played(const struct session *session)
{
    const struct totals *const totals = &session->presenter.presented.totals;
    int64_t heard_ns;
    const int heard = session->audio ? audio_sink_heard(audio_track_sink(session->audio), &heard_ns) : -EAGAIN;
    if (heard != -EAGAIN && (heard < 0 || !only_the_rest_was_heard(session, heard_ns)))
        return false;
    return session->stage.feed.segment == 1 && totals->shown + totals->aborted + totals->skipped + totals->late == 0;
}

/* The end of the file was reached. Decides whether the file was really played, and logs why not. */
static enum playback_end judge_end(const struct session *session)
{
    const struct options *const options = session->setup->options;
    const char *const path = session->setup->path;
    if (!session->stage.decoder && audio_track_is_lost(session->audio))
        return PLAYBACK_SOUND_LOST;
    if (!nothing_was_played(session))
        return session->feeder.error ? PLAYBACK_READING_LOST : session->stage.out_of_memory ? PLAYBACK_DECODING_LOST : PLAYBACK_END;
    if (session->feeder.error || session->stage.out_of_memory)
        return PLAYBACK_UNPLAYABLE;
    if (options->start_ns > 0) {
        log_error("%s: there is nothing to play from %.3f s on", path, ns_to_s(options->start_ns));
        return PLAYBACK_UNPLAYABLE;
    }
    if (session->stage.decoder && !session->audio && session->presenter.decode_errors)
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
    case PLAYBACK_DECODING_LOST: return "decoding lost";
    case PLAYBACK_READING_LOST: return "reading lost";
    case PLAYBACK_SOUND_LOST: return "sound lost";
    default: return "end";
    }
}

/*
 * When the X server goes away, Xlib calls exit() from inside any of its functions. The record so far is written even
 * then.
 */
static struct session *interrupted_by_exit;

static void save_on_exit(void)
{
    struct session *const session = interrupted_by_exit;
    if (!session)
        return;
    interrupted_by_exit = NULL;
    log_error("%s: playing was stopped: the display was lost", session->setup->path);
    session_write_record(session, "display lost");
}

static enum playback_end play_guarded(struct session *session)
{
    static bool registered;
    if (!registered)
        registered = atexit(save_on_exit) == 0;
    interrupted_by_exit = session;
    const enum playback_end end = play(session);
    interrupted_by_exit = NULL;
    return end;
}

struct playback_result playback_run(const struct playback_setup *setup)
{
    struct session whole = {0};
    struct session *const session = &whole;
    if (session_open(session, setup) < 0)
        return (struct playback_result){.end = session->no_device ? PLAYBACK_NO_DEVICE : PLAYBACK_UNPLAYABLE};
    if (setup->framemd5 && session->clip.video)
        framemd5_begin(setup->framemd5, session->clip.video);
    enum playback_end end = play_guarded(session);
    session_stop_reading(session);
    steering_finish(&session->steering);
    note_violations(session);
    if (end == PLAYBACK_END)
        end = judge_end(session);
    const bool began = end != PLAYBACK_UNPLAYABLE && end != PLAYBACK_NOT_PLACED;
    const bool played = began || session->presenter.presented.totals.shown > 0;
    const bool record_lost = played && session_write_record(session, end_name(end)) < 0;
    const bool rest_lost = session->feeder.error || session->stage.out_of_memory;
    session_close(session);
    return (struct playback_result){.end = end, .rest_lost = rest_lost, .record_lost = record_lost};
}
