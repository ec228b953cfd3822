/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "media_clock.h"

#include "log.h"
#include "ns.h"
#include "pace.h"

#include <dlex/dlex.h>
#include <errno.h>

enum { STOP_NS = 1000 * NS_PER_MS };

/* A null sink of PulseAudio that was idle needs 2 s, headphones that were asleep about as long. */
static const int64_t SINK_NOTE_NS = 4 * NS_PER_S;

/* A sink that has never played may be suspended for good. One that stops later is waited for: its user stopped it. */
static const int64_t SINK_LIMIT_NS = 10 * NS_PER_S;

/* The sound is followed although it is far away, when no picture was near the clock for so long. */
static const int64_t APART_MAX_NS = 10 * NS_PER_S;

static struct audio_sink *sink_of(const struct media_clock *clock)
{
    return clock->audio ? audio_track_sink(clock->audio) : NULL;
}

struct stage_clock media_clock_for_decoding(const struct media_clock *clock)
{
    return (struct stage_clock){
        .sync = clock->sync,
        .segment = clock->segment,
        .sound_plays = media_clock_sound_plays(clock),
        .presenting_ns = clock->presenting_ns,
        .presenting_cpu_ns = clock->presenting_cpu_ns,
        .presenting_all_cpu_ns = clock->presenting_all_cpu_ns,
        .late = clock->late,
        .limits = clock->limits,
    };
}

/* Call after each change of sync. */
static void publish(const struct media_clock *clock)
{
    if (!clock->pictures)
        return;
    const struct stage_clock now = media_clock_for_decoding(clock);
    picture_queue_set_clock(clock->pictures, &now);
}

void media_clock_set_limits(struct media_clock *clock, const struct cpu_limits *limits)
{
    clock->limits = *limits;
    publish(clock);
}

void media_clock_restart(struct media_clock *clock, int64_t pts_ns, bool untimed)
{
    sync_init(&clock->sync, pts_ns, untimed);
    clock->started = clock->jumped = clock->apart.on = clock->waiting.on = false;
    publish(clock);
}

static void run(struct media_clock *clock, bool on)
{
    const int64_t now_ns = dlex_now_ns();
    clock->observed_ns = now_ns;
    if (clock->audio)
        audio_sink_pause(sink_of(clock), !on);
    if (!on)
        sync_stop(&clock->sync, now_ns);
    else if (clock->audio)
        media_clock_observe_sound(clock); /* it starts the clock, unless the sink answers late */
    else
        sync_start(&clock->sync, now_ns);
    publish(clock);
}

void media_clock_start(struct media_clock *clock)
{
    if (clock->started)
        return;
    clock->started = true;
    run(clock, !clock->paused);
}

void media_clock_start_with(struct media_clock *clock, int64_t pts_ns)
{
    if (!clock->started && !clock->audio)
        sync_init(&clock->sync, pts_ns, clock->sync.untimed);
    media_clock_start(clock);
}

void media_clock_toggle_pause(struct media_clock *clock)
{
    const int64_t now_ns = dlex_now_ns();
    if (clock->paused)
        clock->paused_ns += now_ns - clock->paused_since_ns;
    clock->paused_since_ns = now_ns;
    clock->paused = !clock->paused;
    clock->waiting.on = false;
    if (clock->started)
        run(clock, !clock->paused);
}

int64_t media_clock_paused_ns(const struct media_clock *clock)
{
    return clock->paused_ns + (clock->paused ? dlex_now_ns() - clock->paused_since_ns : 0);
}

static void note_sound_lost(struct media_clock *clock)
{
    const char *const why = audio_sink_error(sink_of(clock));
    if (why && !clock->sound_lost)
        log_error("the sound was lost (%s); playing %s", why, clock->queue ? "goes on without it" : "ends here");
    clock->sound_lost = why != NULL;
}

void media_clock_forget(struct media_clock *clock, int64_t time_ns)
{
    if (!clock->pictures || !clock->sync.running || media_clock_sound_plays(clock))
        return;
    const int64_t now_ns = dlex_now_ns();
    sync_observe(&clock->sync, sync_media_ns(&clock->sync, now_ns) - time_ns, now_ns);
    publish(clock);
}

/* Returns whether the program was stopped. Without sound there is nothing to catch up with then. */
static bool forget_stop(struct media_clock *clock)
{
    const int64_t now_ns = dlex_now_ns();
    const int64_t away_ns = now_ns - clock->observed_ns;
    clock->observed_ns = now_ns;
    if (away_ns > STOP_NS)
        media_clock_forget(clock, away_ns);
    return away_ns > STOP_NS;
}

/* Different time stamps: one of both has jumped. */
static bool is_far(int64_t skew_ns)
{
    return skew_ns > TIME_STAMP_JUMP_NS || skew_ns < -TIME_STAMP_JUMP_NS;
}

static void follow_sound(struct media_clock *clock, int64_t heard_ns, bool was_stopped)
{
    const int64_t now_ns = dlex_now_ns();
    if (clock->queue && !was_stopped && is_far(heard_ns - sync_media_ns(&clock->sync, now_ns))) {
        if (!clock->apart.on)
            clock->apart.since_ns = now_ns;
        clock->apart.on = true;
        clock->apart.heard_ns = heard_ns;
        clock->apart.at_ns = now_ns;
        if (now_ns - clock->apart.since_ns <= APART_MAX_NS)
            return;
    }
    clock->apart.on = false;
    sync_observe(&clock->sync, heard_ns, now_ns);
}

/* The sink has sound and does not play it. The pictures would be ahead of it if the clock ran. */
static void wait_for_sink(struct media_clock *clock, bool was_stopped)
{
    const int64_t now_ns = dlex_now_ns();
    sync_stop(&clock->sync, now_ns);
    if (!clock->waiting.on || was_stopped)
        clock->waiting.since_ns = now_ns;
    clock->waiting.on = true;
    const int64_t waited_ns = now_ns - clock->waiting.since_ns;
    if (waited_ns > SINK_LIMIT_NS && !clock->sink_played)
        audio_sink_give_up(sink_of(clock), "the sound output did not begin to play in 10 s");
    if (waited_ns <= SINK_NOTE_NS || clock->waiting.noted)
        return;
    log_note("the sound output does not play yet; the pictures wait for it");
    clock->waiting.noted = true;
}

/* Returns whether no sound comes soon, although the sound has not ended. */
static bool is_starved(const struct media_clock *clock)
{
    if (!clock->queue || !queue_is_empty(clock->sound_queue))
        return false;
    return queue_is_full(clock->queue) || (clock->ahead && read_ahead_misses(clock->ahead, READ_SOUND));
}

/* Sets the clock by the sound, starts it, or lets it wait for the sink. */
static void observe_playing_sound(struct media_clock *clock, bool was_stopped)
{
    const struct audio_surroundings around = {
        .starved = is_starved(clock),
        .has_packets = !queue_is_empty(clock->sound_queue),
        .clock_ns = media_clock_now_ns(clock),
    };
    int64_t heard_ns;
    const int ret = audio_track_heard(clock->audio, &around, &heard_ns);
    if (ret == -EINPROGRESS) {
        wait_for_sink(clock, was_stopped);
        return;
    }
    clock->waiting.on = false;
    sync_start(&clock->sync, dlex_now_ns());
    if (ret)
        return;
    clock->sink_played = true;
    follow_sound(clock, heard_ns, was_stopped);
}

void media_clock_observe_sound(struct media_clock *clock)
{
    const bool was_stopped = forget_stop(clock);
    if (!clock->audio || !clock->started || clock->paused)
        return;
    if (audio_track_is_over(clock->audio)) {
        sync_start(&clock->sync, dlex_now_ns());
        note_sound_lost(clock);
    } else {
        observe_playing_sound(clock, was_stopped);
    }
    publish(clock);
}

bool media_clock_sound_plays(const struct media_clock *clock)
{
    return clock->audio && !audio_track_is_over(clock->audio);
}

/* Returns whether the clock is still that of the pictures before the jump; skew_ns is that of the first picture behind it. */
static bool is_before_jump(int64_t skew_ns, int64_t jump_ns)
{
    const bool is_short_way_back = jump_ns < 0 && -jump_ns <= 2 * TIME_STAMP_JUMP_NS;
    return is_far(skew_ns) || (is_short_way_back && skew_ns > -jump_ns / 2);
}

void media_clock_follow_jump(struct media_clock *clock, int64_t pts_ns, int64_t jump_ns)
{
    const int64_t now_ns = dlex_now_ns();
    const bool backward = jump_ns != NS_UNKNOWN && jump_ns < 0;
    clock->jumped = media_clock_sound_plays(clock) && !backward;
    if (clock->jumped || jump_ns == NS_UNKNOWN)
        return;
    if (!clock->sync.untimed && !is_before_jump(sync_skew_ns(&clock->sync, pts_ns, now_ns), jump_ns))
        return;
    sync_observe(&clock->sync, sync_media_ns(&clock->sync, now_ns) + jump_ns, now_ns);
    publish(clock);
}

int64_t media_clock_now_ns(const struct media_clock *clock)
{
    return sync_media_ns(&clock->sync, dlex_now_ns());
}

int64_t media_clock_skew_ns(const struct media_clock *clock, int64_t pts_ns)
{
    return sync_skew_ns(&clock->sync, pts_ns, dlex_now_ns());
}

/* The sound jumped before the pictures. It is followed when a picture with the new time stamps comes. */
static void choose_time_stamps(struct media_clock *clock, int64_t pts_ns, int64_t now_ns)
{
    const int64_t heard_ns = clock->apart.heard_ns + (now_ns - clock->apart.at_ns);
    if (!is_far(pts_ns - heard_ns)) {
        clock->apart.on = false;
        sync_observe(&clock->sync, heard_ns, now_ns);
    } else if (!is_far(sync_skew_ns(&clock->sync, pts_ns, now_ns))) {
        clock->apart.since_ns = now_ns;
    }
}

/* The pictures' time stamps jumped, and the sound ended before it could lead the clock after them. */
static void follow_jump_without_sound(struct media_clock *clock, int64_t pts_ns, int64_t now_ns)
{
    const bool far = is_far(sync_skew_ns(&clock->sync, pts_ns, now_ns));
    if (clock->jumped && far && !media_clock_sound_plays(clock))
        sync_observe(&clock->sync, pts_ns, now_ns);
}

int64_t media_clock_wait_ns(struct media_clock *clock, int64_t pts_ns)
{
    const int64_t now_ns = dlex_now_ns();
    if (clock->apart.on && !clock->sync.untimed)
        choose_time_stamps(clock, pts_ns, now_ns);
    follow_jump_without_sound(clock, pts_ns, now_ns);
    publish(clock);
    return sync_wait_ns(&clock->sync, pts_ns, now_ns);
}
