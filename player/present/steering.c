/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steering.h"

#include "log.h"
#include "ns.h"
#include "status.h"
#include "terminal.h"

#include <dlex/dlex.h>
#include <poll.h>

enum {
    /* Longer waits are divided into steps of this length, so that keys and changes of the clock are noticed. */
    WAIT_STEP_NS = 20 * NS_PER_MS,
    STATUS_STEP_NS = 100 * NS_PER_MS,
};

static int64_t position_ns(const struct steering *steering)
{
    const int64_t position = media_clock_now_ns(steering->clock) - clip_start_ns(steering->clip);
    const int64_t duration = clip_duration_ns(steering->clip);
    if (position < 0)
        return 0;
    return duration && position > duration ? duration : position;
}

static void draw_status(const struct steering *steering)
{
    const struct status status = {
        .has_audio = steering->clock->audio,
        .has_video = steering->has_video,
        .paused = steering->clock->paused,
        .position_ns = position_ns(steering),
        .duration_ns = clip_duration_ns(steering->clip),
        .skew_ns = steering->presented->last_skew_ns,
        .totals = steering->presented->totals,
    };
    char line[STATUS_SIZE];
    log_status(status_format(&status, terminal_columns(), line, sizeof line));
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
    if (!clip_can_seek(steering->clip)) {
        log_note("cannot seek in this file");
        return;
    }
    const int64_t duration_ns = clip_duration_ns(steering->clip);
    const int64_t base_ns = steering->seek ? steering->seek_position_ns : position_ns(steering);
    int64_t target_ns = base_ns + seconds * NS_PER_S;
    if (duration_ns && target_ns > duration_ns)
        target_ns = duration_ns;
    steering->seek_position_ns = target_ns > 0 ? target_ns : 0;
    steering->seek = true;
}

static void obey(struct steering *steering, enum input input)
{
    switch (input) {
    case INPUT_NONE: break;
    case INPUT_QUIT: steering->quit = true; break;
    case INPUT_PAUSE: media_clock_toggle_pause(steering->clock); break;
    case INPUT_SEEK_BACK_10: seek_by(steering, -10); break;
    case INPUT_SEEK_FORWARD_10: seek_by(steering, 10); break;
    case INPUT_SEEK_BACK_60: seek_by(steering, -60); break;
    case INPUT_SEEK_FORWARD_60: seek_by(steering, 60); break;
    }
}

static enum input next_input(const struct steering *steering)
{
    struct video_sink *const screen = *steering->screen;
    const enum input input = screen ? video_sink_poll(screen) : INPUT_NONE;
    return input != INPUT_NONE ? input : terminal_poll();
}

/*
 * Sleeps at most one step, and only until a key comes. An early return, also from a signal or a leftover expiry, is harmless: every
 * caller checks again. Call steering_poll before, so that no key is in memory already. While the window opens, the window system has much
 * to say that is no key.
 */
static void nap(const struct steering *steering, int64_t wait_ns)
{
    const struct video_sink *const screen = *steering->screen;
    struct pollfd keys[] = {
        {.fd = screen && steering->presented->pictured ? video_sink_wake_fd(screen) : -1, .events = POLLIN},
        {.fd = terminal_wake_fd(), .events = POLLIN},
    };
    const int64_t step_ns = wait_ns < WAIT_STEP_NS ? wait_ns : WAIT_STEP_NS;
    const struct timespec step = {.tv_nsec = step_ns > 0 ? step_ns : 0};
    ppoll(keys, sizeof keys / sizeof *keys, &step, NULL);
}

static bool pause_holds(const struct steering *steering)
{
    return steering->clock->paused && steering->presented->pictured && !steering_has_request(steering);
}

void steering_poll(struct steering *steering)
{
    do {
        enum input input;
        while ((input = next_input(steering)) != INPUT_NONE)
            obey(steering, input);
        media_clock_observe_sound(steering->clock);
        refresh_status(steering);
        if (pause_holds(steering))
            nap(steering, WAIT_STEP_NS);
    } while (pause_holds(steering));
    steering->polled_ns = dlex_now_ns();
}

void steering_wait_until(struct steering *steering, int64_t pts_ns)
{
    for (;;) {
        steering_poll(steering);
        const int64_t wait_ns = media_clock_wait_ns(steering->clock, pts_ns);
        if (wait_ns <= 0 || steering_has_request(steering))
            return;
        nap(steering, wait_ns);
    }
}

void steering_nap(struct steering *steering, int64_t wait_ns)
{
    steering_poll(steering);
    nap(steering, wait_ns);
}

void steering_wait_for_sound(struct steering *steering)
{
    while (media_clock_sound_plays(steering->clock) && !steering_has_request(steering)) {
        steering_poll(steering);
        nap(steering, WAIT_STEP_NS);
    }
    media_clock_observe_sound(steering->clock); /* logs it if the sound was lost */
}

bool steering_has_request(const struct steering *steering)
{
    return steering->quit || steering->seek || *steering->signal_seen;
}

bool steering_take_seek(struct steering *steering, int64_t *position_ns)
{
    if (!steering->seek || steering->quit || *steering->signal_seen)
        return false;
    *position_ns = steering->seek_position_ns;
    steering->seek = false;
    return true;
}

bool steering_has_quit(const struct steering *steering)
{
    return steering->quit;
}

void steering_finish(struct steering *steering)
{
    draw_status(steering);
    log_status_ends();
}
