/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "media_clock.h"

#include "log.h"
#include "ns.h"
#include "pace.h"

#include <dlex/dlex.h>

enum { STOP_NS = 1000 * NS_PER_MS };

static struct audio_sink *sink_of(const struct media_clock *clock)
{
    return clock->audio ? audio_track_sink(clock->audio) : NULL;
}

struct stage_clock media_clock_for_decoding(const struct media_clock *clock)
{
    return (struct stage_clock){
        .sync = clock->sync,
        .sound_plays = media_clock_sound_plays(clock),
        .presenting_ns = clock->presenting_ns,
        .presenting_cpu_ns = clock->presenting_cpu_ns,
        .presenting_all_cpu_ns = clock->presenting_all_cpu_ns,
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

void media_clock_restart(struct media_clock *clock, int64_t pts_ns, bool untimed)
{
    sync_init(&clock->sync, pts_ns, untimed);
    clock->started = clock->jumped = false;
    publish(clock);
}

static void run(struct media_clock *clock, bool on)
{
    const int64_t now_ns = dlex_now_ns();
    clock->observed_ns = now_ns;
    if (on)
        sync_start(&clock->sync, now_ns);
    else
        sync_stop(&clock->sync, now_ns);
    if (clock->audio)
        audio_sink_pause(sink_of(clock), !on);
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
    clock->paused = !clock->paused;
    if (clock->started)
        run(clock, !clock->paused);
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

/* Without sound there is nothing to catch up with. */
static void forget_stop(struct media_clock *clock)
{
    const int64_t now_ns = dlex_now_ns();
    const int64_t away_ns = now_ns - clock->observed_ns;
    clock->observed_ns = now_ns;
    if (away_ns > STOP_NS)
        media_clock_forget(clock, away_ns);
}

void media_clock_observe_sound(struct media_clock *clock)
{
    forget_stop(clock);
    if (!clock->audio || !clock->started || clock->paused)
        return;
    if (audio_track_is_over(clock->audio)) {
        note_sound_lost(clock);
        publish(clock);
        return;
    }
    const bool starved = clock->queue && queue_is_full(clock->queue) && queue_is_empty(clock->sound_queue);
    int64_t heard_ns;
    if (!audio_track_heard(clock->audio, starved, media_clock_now_ns(clock), &heard_ns))
        sync_observe(&clock->sync, heard_ns, dlex_now_ns());
    publish(clock);
}

bool media_clock_sound_plays(const struct media_clock *clock)
{
    return clock->audio && !audio_track_is_over(clock->audio);
}

void media_clock_follow_jump(struct media_clock *clock, int64_t jump_ns)
{
    clock->jumped = media_clock_sound_plays(clock);
    if (clock->jumped || jump_ns == NS_UNKNOWN)
        return;
    const int64_t now_ns = dlex_now_ns();
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

/* The pictures' time stamps jumped, and the sound ended before it could lead the clock after them. */
static void follow_jump_without_sound(struct media_clock *clock, int64_t pts_ns, int64_t now_ns)
{
    const int64_t skew_ns = sync_skew_ns(&clock->sync, pts_ns, now_ns);
    const bool is_far = skew_ns > TIME_STAMP_JUMP_NS || skew_ns < -TIME_STAMP_JUMP_NS;
    if (clock->jumped && is_far && !media_clock_sound_plays(clock))
        sync_observe(&clock->sync, pts_ns, now_ns);
    publish(clock);
}

int64_t media_clock_wait_ns(struct media_clock *clock, int64_t pts_ns)
{
    const int64_t now_ns = dlex_now_ns();
    follow_jump_without_sound(clock, pts_ns, now_ns);
    return sync_wait_ns(&clock->sync, pts_ns, now_ns);
}
