/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ahead_loop.h"

#include "ns.h"

enum { MESSAGE_WAIT_NS = 20 * NS_PER_MS };

static void show_picture(struct session *session, struct decoded_picture *picture)
{
    session->starving_since_ns = 0;
    presenter_show(&session->presenter, picture);
    av_frame_free(&picture->frame);
}

static bool present_next(struct session *session)
{
    struct picture_message message = picture_queue_pop(session->pictures, MESSAGE_WAIT_NS);
    switch (message.kind) {
    case MESSAGE_NONE: session_starve(session); break;
    case MESSAGE_JOB: presenter_note_job(&session->presenter, &message.job); break;
    case MESSAGE_PICTURE: show_picture(session, &message.picture); break;
    case MESSAGE_END: return false;
    }
    return true;
}

void ahead_loop(struct session *session)
{
    struct decode_thread *const thread = *session->setup->decode_thread;
    decode_thread_begin(thread, &session->stage, session->queue, session->pictures);
    while (!steering_has_request(&session->steering) && present_next(session))
        ;
    decode_thread_end(thread);
}
