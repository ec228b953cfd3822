/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "serial_loop.h"

#include "ns.h"
#include "session_cost.h"
#include "session_limits.h"

#include <dlex/dlex.h>

enum {
    PACKET_WAIT_NS = 50 * NS_PER_MS,
    /* Presenting a picture polls the keys. After this long without a presented picture, the keys are polled here. */
    POLL_STEP_NS = 100 * NS_PER_MS,
};

static void decode_packet(struct session *session, AVPacket *packet)
{
    media_clock_observe_sound(&session->clock);
    const struct stage_clock clock = media_clock_for_decoding(&session->clock);
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

/* Decodes and shows everything that the decoder still holds. */
static void drain(struct session *session)
{
    bool more = true;
    while (more && !steering_has_request(&session->steering)) {
        more = stage_drain(&session->stage);
        show_pictures(session);
    }
}

static void decode_next(struct session *session, AVPacket *packet)
{
    session->sound_start = (struct sound_start){0};
    decode_packet(session, packet);
    av_packet_free(&packet);
    show_pictures(session);
    if (stage_wants_drain(&session->stage))
        drain(session);
    if (dlex_now_ns() - session->steering.polled_ns > POLL_STEP_NS)
        steering_poll(&session->steering);
    session_cost_learn(session);
}

void serial_loop(struct session *session)
{
    session_cost_begin(session);
    while (!steering_has_request(&session->steering)) {
        session_limits_follow(session);
        AVPacket *packet;
        switch (queue_pop(session->queue, &packet, PACKET_WAIT_NS)) {
        case QUEUE_PACKET:
            decode_next(session, packet);
            break;
        case QUEUE_EMPTY:
            session_starve(session);
            break;
        case QUEUE_STALLED:
            stage_stall(&session->stage);
            drain(session);
            break;
        case QUEUE_DRAINED:
            drain(session);
            return;
        }
    }
}
