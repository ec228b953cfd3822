/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session_seek.h"

#include "clip_seek.h"
#include "log.h"
#include "ns.h"

static void rewind_parts(struct session *session, const struct part *part, int64_t target_ns)
{
    const bool is_first = session->stage.feed.segment == 0;
    if (session->audio) {
        audio_sink_pause(audio_track_sink(session->audio), true);
        audio_track_restart(session->audio, target_ns);
    }
    if (session->pictures)
        picture_queue_clear(session->pictures);
    session->sound_start = (struct sound_start){0};
    const bool at_start = (is_first && !clip_can_seek(&session->clip)) || part->from_ns == INT64_MIN;
    media_clock_restart(&session->clock, target_ns, session->setup->options->untimed);
    stage_restart(&session->stage, part, at_start ? clip_start_ns(&session->clip) : NS_UNKNOWN);
    presenter_restart(&session->presenter, part);
}

/* Moves the file. If that fails in the middle of playing, sets *target_ns to the present place. */
static int go_to(struct session *session, int64_t *target_ns)
{
    const bool is_first = session->stage.feed.segment == 0;
    if (is_first && !clip_can_seek(&session->clip))
        return 0; /* the pictures before the target are decoded and not shown */
    const int ret = clip_can_seek(&session->clip) ? clip_seek(&session->clip, *target_ns) : AVERROR(ESPIPE);
    if (ret >= 0 || is_first)
        return ret;
    log_note("cannot seek in this file: %s; playing goes on from the same position", av_err2str(ret));
    *target_ns = media_clock_now_ns(&session->clock);
    clip_seek(&session->clip, *target_ns); /* if this fails too, the packets read ahead are lost */
    return 0;
}

static int start_reading(struct session *session)
{
    if (session->audio) {
        const int ret = sound_thread_start(&session->sound_thread);
        if (ret < 0)
            return ret;
    }
    return feeder_start(&session->feeder);
}

void session_stop_reading(struct session *session)
{
    feeder_stop(&session->feeder);
    sound_thread_stop(&session->sound_thread);
    if (session->queue)
        queue_reset(session->queue);
    if (session->sound_queue)
        queue_reset(session->sound_queue);
}

int session_start_at(struct session *session, int64_t position_ns)
{
    session_stop_reading(session);
    int64_t target_ns = clip_start_ns(&session->clip) + position_ns;
    const bool from_the_top = position_ns <= 0 && session->stage.feed.segment == 0;
    if (!from_the_top) {
        const int ret = go_to(session, &target_ns);
        if (ret < 0)
            return ret;
    }
    if (session->setup->options->length_ns && session->feeder.end_ns == INT64_MAX)
        session->feeder.end_ns = target_ns + session->setup->options->length_ns - CLIP_ROUNDING_NS;
    const struct part part = {
        /* From the start nothing is cut: a picture may lie a little before the start that the container gives. */
        .from_ns = position_ns <= 0 ? INT64_MIN : target_ns - CLIP_ROUNDING_NS,
        .end_ns = session->feeder.end_ns,
        .frame_duration = clip_frame_duration(&session->clip),
    };
    rewind_parts(session, &part, target_ns);
    return start_reading(session);
}
