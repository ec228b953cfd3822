/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy_view.h"

#include "ns.h"
#include "read_ahead.h"
#include "sim_presenter.h"

enum { LOOK_AHEAD_PACKETS = 300 }; /* as in look_ahead.h */

/* Tells `show` about the pictures that came out since the last call. */
static void count_pictures_out(struct sim_stage *stage)
{
    const struct sim_film *const film = stage->playing.setting->film;
    for (; stage->shown_out_end < stage->playing.out_end; stage->shown_out_end++) {
        const int place = stage->shown_out_end;
        const int64_t pts_ns = sim_film_pts_ns(film, place);
        const int64_t next_ns = place + 1 < film->count ? sim_film_pts_ns(film, place + 1) : 0;
        show_pace_picture(&stage->show, stage->show.segment, pts_ns, next_ns > pts_ns ? next_ns - pts_ns : 0);
    }
}

static void add_kept(struct sim_stage *stage, int place)
{
    if (stage->playing.pictures[place % PICTURES_ON_THE_WAY_MAX].fate == FATE_DECODED)
        times_insert(&stage->to_present, sim_film_pts_ns(stage->playing.setting->film, place));
}

/*
 * The pictures in the queue. As in the player, the one that the presenter has taken is not among them, and a packet that did
 * not go to the decoder has no marker.
 */
static void look_at_queue(struct sim_stage *stage)
{
    const struct playing *const playing = &stage->playing;
    const int first = playing->phase == PRESENTER_IDLE ? playing->next : playing->next + 1;
    stage->to_present.count = stage->outlook.waiting_with_markers = 0;
    for (int place = first; place < playing->out_end; place++) {
        stage->outlook.waiting_with_markers += !playing->pictures[place % PICTURES_ON_THE_WAY_MAX].passed_over;
        add_kept(stage, place);
    }
}

static void look_at_decoder(struct sim_stage *stage)
{
    const struct playing *const playing = &stage->playing;
    const struct sim_film *const film = playing->setting->film;
    stage->decoder.delay = film->delay + stage->beside;
    stage->decoder.beside = stage->beside;
    stage->decoder.left_ns = playing->left_last >= 0 ? sim_film_pts_ns(film, playing->left_last) : INT64_MIN;
    stage->decoder.held.count = 0;
    for (int i = 0; i < playing->held_count; i++) {
        times_insert(&stage->decoder.held, sim_film_pts_ns(film, playing->held[i]));
        add_kept(stage, playing->held[i]);
    }
    for (int i = 0; i < playing->codec.count; i++) {
        const struct codec_job *const job = &playing->codec.jobs[i];
        times_insert(&stage->decoder.held, film->packets[job->packet].due_ns);
        if (!job->is_refused && !job->is_unwanted)
            times_insert(&stage->to_present, film->packets[job->packet].due_ns);
    }
}

void policy_view_read(struct sim_stage *stage, int packet)
{
    const struct sim_film *const film = stage->playing.setting->film;
    const int64_t ready_ns = (stage->read_end - packet - 1) * film->frame_duration_ns;
    if (ready_ns >= READ_AHEAD_LITTLE_NS)
        return;
    const int64_t end = packet + 1 + (READ_AHEAD_ENOUGH_NS + film->frame_duration_ns - 1) / film->frame_duration_ns;
    stage->read_end = end < film->count ? (int)end : film->count;
}

/* Returns how many packets the policy sees from this one on. */
static int packets_seen(const struct sim_stage *stage, int packet)
{
    const int ready = stage->read_end - packet;
    return ready < LOOK_AHEAD_PACKETS ? ready : LOOK_AHEAD_PACKETS;
}

/* In the player, the presenter reports late pictures to the decode stage. */
static void look_at_late(struct sim_stage *stage)
{
    const struct playing *const playing = &stage->playing;
    for (; stage->late_seen < playing->next; stage->late_seen++)
        if (playing->rows[stage->late_seen].verdict == VERDICT_LATE)
            loss_history_lose(&stage->past, playing->setting->film->packet_at[stage->late_seen]);
}

static const struct outlook *outlook_of(struct sim_stage *stage, int packet)
{
    const struct playing_setting *const setting = stage->playing.setting;
    if (setting->policy.drop != DROP_DEADLINE || setting->policy.rule != RULE_PLAN || stage->show.next_ns == NS_UNKNOWN)
        return NULL;
    stage->outlook.now_ns = playing_media_ns(&stage->playing);
    stage->outlook.frame_duration = frame_duration_of(setting->film->frame_duration_ns);
    stage->outlook.room = sim_queue_limit(setting);
    stage->outlook.to_present = &stage->to_present;
    stage->outlook.decoder = &stage->decoder;
    stage->outlook.past = &stage->past;
    stage->outlook.ahead = &setting->film->packets[packet];
    stage->outlook.count = packets_seen(stage, packet);
    look_at_queue(stage);
    look_at_decoder(stage);
    look_at_late(stage);
    return &stage->outlook;
}

struct decode_order policy_view_decide(struct sim_stage *stage, int packet)
{
    const struct playing *const playing = &stage->playing;
    const int64_t pts_ns = playing->setting->film->packets[packet].due_ns;
    count_pictures_out(stage);
    const int64_t next_ns = show_pace_first_waiting_ns(&stage->show, stage->show.segment, pts_ns, stage->beside);
    const struct decode_view view = {
        .now_ns = playing->now_ns,
        .skew_ns = sync_skew_ns(&playing->clock, next_ns, playing->now_ns),
        .frame_duration = frame_duration_of(playing->setting->film->frame_duration_ns),
        .sound_plays = true,
        .until_due_ns = -sync_skew_ns(&playing->clock, pts_ns, playing->now_ns),
        .presenting_ns = playing->presenting_ns,
        .presenting_cpu_ns = playing->setting->presents_apart ? 0 : playing->presenting_cpu_ns,
        .may_skip = playing->out_end > stage->awaits_beyond,
        .can_degrade = playing->setting->degraded.part > 0,
        .outlook = outlook_of(stage, packet),
    };
    return decode_policy_decide(&stage->policy, &view);
}
