/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decode_stage.h"

#include "ns.h"

#include <dlex/dlex.h>
#include <libavutil/avutil.h>

/* Draining ends after this many errors, because a decoder may fail again and again when it is drained. */
enum { DRAIN_ERRORS_MAX = 64 };

void stage_init(struct decode_stage *stage, const struct clip *clip, struct decoder *decoder,
                const struct policy_settings *settings, bool may_jump)
{
    *stage = (struct decode_stage){.clip = clip, .decoder = decoder, .feed.may_jump = may_jump};
    decode_policy_init(&stage->policy, settings);
    for (int i = 0; i < STAGE_JOBS; i++)
        stage->known[i].number = JOB_UNKNOWN;
}

void stage_finish(struct decode_stage *stage)
{
    decoder_close(&stage->decoder);
}

void stage_restart(struct decode_stage *stage, const struct part *part, int64_t first_ns)
{
    const bool is_first = stage->feed.segment == 0;
    if (stage->decoder && !is_first)
        decoder_flush(stage->decoder);
    feed_pace_restart(&stage->feed, part);
    show_pace_restart(&stage->show, part, stage->feed.segment, first_ns);
    decode_policy_restart(&stage->policy);
    stage->drain_errors = 0;
}

static struct packet_times times_of(const struct decode_stage *stage, const AVPacket *packet)
{
    const AVStream *const video = stage->clip->video;
    return (struct packet_times){
        .dts_ns = clip_pts_ns(video, packet->dts),
        .pts_ns = clip_pts_ns(video, packet->pts),
        .duration_ns = packet->duration > 0 ? clip_pts_ns(video, packet->duration) : 0,
        .key = packet->flags & AV_PKT_FLAG_KEY,
    };
}

static struct decode_order order_of(struct decode_stage *stage, const struct packet_facts *packet, const struct stage_clock *clock)
{
    if (packet->unwanted)
        return (struct decode_order){.give_up = true, .deadline_ns = NO_DEADLINE};
    const int64_t due_ns = show_pace_next_ns(&stage->show, packet->segment, packet->pts_ns);
    if (due_ns == NS_UNKNOWN)
        return (struct decode_order){.deadline_ns = NO_DEADLINE};
    const int64_t now_ns = dlex_now_ns();
    const struct decode_view view = {
        .now_ns = now_ns,
        .skew_ns = sync_skew_ns(&clock->sync, due_ns, now_ns),
        .frame_duration_ns = stage->feed.part.frame_duration_ns,
        .sound_plays = clock->sound_plays,
        .until_due_ns = -sync_skew_ns(&clock->sync, packet->pts_ns == NS_UNKNOWN ? due_ns : packet->pts_ns, now_ns),
        .presenting_ns = clock->presenting_ns,
    };
    return decode_policy_decide(&stage->policy, &view);
}

static void remember(struct decode_stage *stage, int64_t number, int segment)
{
    const int place = (int)(number % STAGE_JOBS);
    stage->known[place].number = number;
    stage->known[place].segment = segment;
    stage->known[place].out = false;
}

/* Only what the gate let through says what the decode of a droppable picture takes. */
static void learn(struct decode_stage *stage, const struct decode_outcome *outcome)
{
    if (outcome->gate.number == outcome->number && outcome->gate.verdict == VERDICT_NONE)
        decode_policy_learn(&stage->policy, outcome->end_ns - outcome->start_ns);
}

bool stage_decode(struct decode_stage *stage, AVPacket *packet, const struct stage_clock *clock, struct job_note *note)
{
    const struct packet_times times = times_of(stage, packet);
    const struct packet_place place = feed_pace_packet(&stage->feed, &times);
    if (place.undecodable)
        return false;
    struct packet_facts facts = {
        .segment = place.segment,
        .pts_ns = times.pts_ns,
        .size_bytes = packet->size,
        .unwanted = place.unwanted,
    };
    const struct decode_job job = {
        .packet = packet,
        .number = stage->jobs++,
        .order = order_of(stage, &facts, clock),
    };
    facts.given_up = job.order.give_up;
    facts.is_starting = decode_policy_is_starting(&stage->policy);
    remember(stage, job.number, facts.segment);
    note->packet = facts;
    decoder_run(stage->decoder, &job, &note->outcome);
    learn(stage, &note->outcome);
    return true;
}

bool stage_drain(struct decode_stage *stage)
{
    const struct decode_job job = {.order = {.deadline_ns = NO_DEADLINE}};
    struct decode_outcome outcome;
    const int ret = decoder_run(stage->decoder, &job, &outcome);
    if (ret < 0 && ret != AVERROR_EOF)
        stage->drain_errors++;
    return ret != AVERROR_EOF && stage->drain_errors < DRAIN_ERRORS_MAX;
}

/*
 * Says of a picture whether it is the first of its packet. A picture whose packet the decoder does not know, or whose
 * packet is from before a seek, belongs to the segment that comes out now.
 */
static void find_packet(struct decode_stage *stage, struct decoded_picture *picture)
{
    const int place = (int)(picture->number % STAGE_JOBS);
    const bool known = picture->number >= 0 && stage->known[place].number == picture->number;
    picture->is_first = known && !stage->known[place].out && stage->known[place].segment >= stage->show.segment;
    picture->segment = picture->is_first ? stage->known[place].segment : stage->show.segment;
    if (picture->is_first)
        stage->known[place].out = true;
}

static int64_t duration_ns(const struct decode_stage *stage, const AVFrame *frame)
{
    const int64_t own_ns = frame->duration > 0 ? clip_pts_ns(stage->clip->video, frame->duration) : 0;
    return own_ns > 0 ? own_ns : 0;
}

bool stage_take(struct decode_stage *stage, struct decoded_picture *picture)
{
    AVFrame *const frame = picture->frame;
    if (!decoder_take(stage->decoder, frame, &picture->number))
        return false;
    find_packet(stage, picture);
    const int64_t pts_ns = clip_pts_ns(stage->clip->video, frame->best_effort_timestamp);
    picture->place = show_pace_picture(&stage->show, picture->segment, pts_ns, duration_ns(stage, frame));
    picture->due_ns = show_pace_due_ns(&stage->show, picture->place.pts_ns);
    picture->next_ns = stage->show.next_ns;
    picture->droppable = frame->flags & AV_FRAME_FLAG_DROPPABLE;
    picture->abandoned = frame->flags & AV_FRAME_FLAG_ABANDONED;
    picture->interlaced = frame->flags & AV_FRAME_FLAG_INTERLACED;
    picture->type = av_get_picture_type_char(frame->pict_type);
    return true;
}
