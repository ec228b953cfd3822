/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ahead_loop.h"

#include "ns.h"
#include "session_cost.h"
#include "session_limits.h"

#include <dlex/dlex.h>

enum { MESSAGE_WAIT_NS = 20 * NS_PER_MS, STALL_NS = 1000 * NS_PER_MS };

/* A file that stalled is like a program that was stopped: without sound there is nothing to catch up with. */
static void forget_stall(struct session *session)
{
    const int64_t stalled_ns = sound_start_note_picture(&session->sound_start, dlex_now_ns());
    if (stalled_ns > STALL_NS)
        media_clock_forget(&session->clock, stalled_ns);
}

/*
 * What presenting does not need of a reservation goes to the decode thread. In untimed playing, a period has as many pictures as there is
 * time for, so nothing says what they need.
 */
static void divide_reservation(struct session *session)
{
    const struct placement *const placement = &session->setup->options->placement;
    if (!placement_is_reservation(placement) || session->clock.sync.untimed)
        return;
    const struct thread_policy *const whole = &placement->policy;
    int64_t part_ns = session->placement.presenting_ns;
    if (division_decide(&session->presenter.division, whole->runtime_ns, whole->period_ns, dlex_now_ns(), &part_ns))
        placement_divide(placement, &session->placement, part_ns); /* if it fails, nothing changes */
}

static void show_picture(struct session *session, struct decoded_picture *picture)
{
    forget_stall(session);
    presenter_show(&session->presenter, picture);
    av_frame_free(&picture->frame);
    divide_reservation(session);
    session_cost_learn(session);
}

static bool present_next(struct session *session)
{
    session_limits_follow(session);
    struct picture_message message = picture_queue_pop(session->pictures, MESSAGE_WAIT_NS);
    switch (message.kind) {
    case MESSAGE_NONE: session_starve(session); break;
    case MESSAGE_JOB:
        sound_start_note_job(&session->sound_start);
        presenter_note_job(&session->presenter, &message.job);
        break;
    case MESSAGE_PICTURE: show_picture(session, &message.picture); break;
    case MESSAGE_END: return false;
    }
    return true;
}

void ahead_loop(struct session *session)
{
    struct decode_thread *const thread = *session->setup->decode_thread;
    decode_thread_begin(thread, &session->stage, session->queue, session->pictures);
    session_cost_begin(session);
    while (!steering_has_request(&session->steering) && present_next(session))
        ;
    decode_thread_end(thread);
}
