/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy_view.h"

#include "ns.h"

#include <math.h>

enum { PREDICTIONS_LEFT_OUT = 30 };

double prediction_mape(const struct prediction *prediction)
{
    return prediction->count ? prediction->relative_error_sum / (double)prediction->count : NAN;
}

double prediction_r2(const struct prediction *prediction)
{
    const double mean = prediction->real_sum / (double)prediction->count;
    const double variance_sum = prediction->real_square_sum - mean * prediction->real_sum;
    return prediction->count ? 1 - prediction->error_square_sum / variance_sum : NAN;
}

static void note_prediction(struct sim_stage *stage, const struct upcoming *packet, int64_t cpu_ns)
{
    struct prediction *const sums = &stage->outcome.prediction;
    if (stage->decodes++ < PREDICTIONS_LEFT_OUT)
        return;
    const double real_ns = (double)cpu_ns;
    const double error_ns = cost_predict_ns(&stage->policy.learnt.costs, packet->picture_class, packet->size_bytes,
                                            stage->playing.setting->film->frame_duration_ns) - real_ns;
    sums->count++;
    sums->relative_error_sum += fabs(error_ns) / real_ns;
    sums->real_sum += real_ns;
    sums->real_square_sum += real_ns * real_ns;
    sums->error_square_sum += error_ns * error_ns;
}

static int64_t cost_of(const struct sim_stage *stage, int packet, const struct decode_order *order)
{
    const struct playing_setting *const setting = stage->playing.setting;
    const double part = order->degrade ? setting->degraded.part : 1;
    return llround(part * (double)setting->cost_ns[packet]);
}

/* As in the decoder's gate: droppable pictures can be refused, or abandoned by the deadline. */
static enum picture_fate decode_droppable(struct sim_stage *stage, int packet, const struct decode_order *order,
                                          struct decode_use *use)
{
    struct playing *const playing = &stage->playing;
    const int64_t cost_ns = cost_of(stage, packet, order);
    const bool refused = order->refuse || order->give_up;
    const bool is_over = !refused && order->deadline_ns <= playing->now_ns;
    use->end = refused ? DECODE_REFUSED : is_over ? DECODE_ABANDONED : DECODE_WHOLE;
    if (refused || is_over) {
        use->cpu_ns = playing_decode(playing, stage->playing.setting->lesser.refusing_ns, INT64_MAX);
        return refused ? FATE_SKIPPED : FATE_ABORTED;
    }
    use->cpu_ns = playing_decode(playing, cost_ns, order->deadline_ns);
    if (use->cpu_ns == cost_ns)
        return FATE_DECODED;
    use->end = DECODE_ABANDONED;
    stage->outcome.wasted_cpu_ns += use->cpu_ns;
    return FATE_ABORTED;
}

static enum picture_fate decode(struct sim_stage *stage, int packet, const struct decode_order *order, struct decode_use *use)
{
    if (use->picture_class == CLASS_DROPPABLE)
        return decode_droppable(stage, packet, order, use);
    const int64_t cost_ns = cost_of(stage, packet, order);
    use->end = DECODE_WHOLE;
    use->cpu_ns = playing_decode(&stage->playing, cost_ns, INT64_MAX);
    return order->give_up ? FATE_UNWANTED : FATE_DECODED;
}

static void note_fate(struct sim_stage *stage, int packet, bool is_lost)
{
    const int64_t due_ns = stage->playing.setting->film->packets[packet].due_ns;
    loss_history_add(&stage->past, &(struct past_picture){packet, due_ns, is_lost});
}

/* As in the player's stage. */
static enum degraded degraded_by(struct sim_stage *stage, const struct upcoming *packet, bool degrade)
{
    const bool drifts = drift_add(&stage->drift, packet->picture_class, packet->due_ns, degrade);
    return degrade ? DEGRADED_ITSELF : drifts ? DEGRADED_BY_OTHERS : DEGRADED_NOT;
}

static void note_decode(struct sim_stage *stage, int packet, const struct decode_order *order, int64_t start_ns,
                        const struct decode_use *use)
{
    const struct playing *const playing = &stage->playing;
    struct frame_record *const row = &playing->rows[playing->setting->film->place_of[packet]];
    row->degraded = degraded_by(stage, &playing->setting->film->packets[packet], use->degraded);
    row->decode_start_ns = start_ns;
    row->decode_end_ns = playing->now_ns;
    row->decode_cpu_ns = use->cpu_ns;
    if (order->deadline_ns != NO_DEADLINE)
        row->deadline_ns = order->deadline_ns;
}

static void run_decode(struct sim_stage *stage, int packet, const struct decode_order *order)
{
    struct playing *const playing = &stage->playing;
    const struct upcoming *const facts = &playing->setting->film->packets[packet];
    const int64_t start_ns = playing->now_ns;
    const int64_t presented_before_ns = playing->presenting_all_cpu_ns;
    struct decode_use use = {
        .picture_class = facts->picture_class, .size_bytes = facts->size_bytes, .degraded = order->degrade};
    const enum picture_fate fate = decode(stage, packet, order, &use);
    use.wall_ns = playing->now_ns - start_ns;
    if (!playing->setting->presents_apart)
        use.presenting_ns = playing->presenting_all_cpu_ns - presented_before_ns;
    if (use.end == DECODE_WHOLE && !use.degraded)
        note_prediction(stage, facts, use.cpu_ns);
    note_decode(stage, packet, order, start_ns, &use);
    decode_policy_learn(&stage->policy, &use, frame_duration_of(playing->setting->film->frame_duration_ns));
    note_fate(stage, packet, fate == FATE_SKIPPED || fate == FATE_ABORTED);
    playing_take_in(playing, packet, fate, decode_policy_is_starting(&stage->policy));
}

/* -- with codec threads: a picture ends some packets after its own -------------------------------------------------- */

/* The picture left the codec threads. As in the player, its times say nothing about the supply. */
static void learn_job(struct sim_stage *stage, const struct codec_job *job)
{
    const struct sim_film *const film = stage->playing.setting->film;
    const struct upcoming *const facts = &film->packets[job->packet];
    const int64_t cpu_ns = job->is_refused ? (int64_t)stage->policy.learnt.refusing_ns : job->done_ns;
    const struct decode_use use = {
        .picture_class = facts->picture_class,
        .size_bytes = facts->size_bytes,
        .end = job->is_refused ? DECODE_REFUSED : job->is_aborted ? DECODE_ABANDONED : DECODE_WHOLE,
        .cpu_ns = cpu_ns,
        .wall_ns = cpu_ns,
        .overlapped = true,
        .degraded = job->is_degraded,
    };
    if (use.end == DECODE_WHOLE && !use.degraded)
        note_prediction(stage, facts, use.cpu_ns);
    decode_policy_learn(&stage->policy, &use, frame_duration_of(film->frame_duration_ns));
    struct frame_record *const row = &stage->playing.rows[film->place_of[job->packet]];
    row->decode_end_ns = stage->playing.now_ns;
    row->decode_cpu_ns = job->done_ns;
    if (!job->is_aborted)
        return;
    loss_history_lose(&stage->past, job->packet);
    stage->outcome.wasted_cpu_ns += job->done_ns;
}

static void take_decoded(struct sim_stage *stage, bool all)
{
    struct codec_job job;
    while (playing_take_decoded(&stage->playing, all, decode_policy_is_starting(&stage->policy), &job))
        learn_job(stage, &job);
}

static struct codec_job job_of(const struct sim_stage *stage, int packet, const struct decode_order *order)
{
    const struct playing_setting *const setting = stage->playing.setting;
    const bool is_droppable = setting->film->packets[packet].picture_class == CLASS_DROPPABLE;
    const bool is_refused = is_droppable && (order->refuse || order->give_up);
    return (struct codec_job){
        .packet = packet,
        .reference = is_refused ? -1 : sim_film_reference(setting->film, packet),
        .is_droppable = is_droppable && !is_refused,
        .is_refused = is_refused,
        .is_unwanted = order->give_up,
        .is_degraded = order->degrade,
        .cost_ns = is_refused ? setting->lesser.refusing_ns : cost_of(stage, packet, order),
        .deadline_ns = order->deadline_ns,
        .start_ns = stage->playing.now_ns,
    };
}

/* Gives the packet to codec threads. What all of them and presenting receive meanwhile is the supply. */
static void run_submit(struct sim_stage *stage, int packet, const struct decode_order *order)
{
    struct playing *const playing = &stage->playing;
    const struct codec_job job = job_of(stage, packet, order);
    const int64_t received_ns = playing->codec.received_ns + playing->presenting_all_cpu_ns;
    struct frame_record *const row = &playing->rows[playing->setting->film->place_of[packet]];
    row->degraded = degraded_by(stage, &playing->setting->film->packets[packet], order->degrade);
    row->decode_start_ns = job.start_ns;
    if (order->deadline_ns != NO_DEADLINE)
        row->deadline_ns = order->deadline_ns;
    playing_submit(playing, &job);
    note_fate(stage, packet, job.is_refused);
    struct codec_job first;
    const bool has_first = playing_take_decoded(playing, false, decode_policy_is_starting(&stage->policy), &first);
    decode_policy_learn_supply(&stage->policy, playing->now_ns - job.start_ns,
                               playing->codec.received_ns + playing->presenting_all_cpu_ns - received_ns);
    if (has_first)
        learn_job(stage, &first);
}

static bool is_leading(struct sim_stage *stage, const struct upcoming *packet)
{
    if (packet->due_ns >= stage->leading_ns || packet->picture_class == CLASS_KEY)
        stage->leading_ns = INT64_MIN;
    return stage->leading_ns != INT64_MIN;
}

/* Returns whether the packet does not go to the decoder. The first such packet drains the decoder. */
static bool passes_over(struct sim_stage *stage, int packet, const struct decode_order *order)
{
    const int64_t pts_ns = stage->playing.setting->film->packets[packet].due_ns;
    if (order->pass_over) {
        stage->playing.job_is_starting = decode_policy_is_starting(&stage->policy);
        if (!stage->passing_over) {
            take_decoded(stage, true);
            playing_drain(&stage->playing);
        }
        stage->passing_over = true;
        return true;
    }
    if (stage->passing_over) {
        stage->leading_ns = pts_ns;
        stage->awaits_beyond = stage->playing.out_end;
        decode_policy_end_skip(&stage->policy);
    }
    stage->passing_over = false;
    return false;
}

static void play_packet(struct sim_stage *stage, int packet)
{
    policy_view_read(stage, packet);
    playing_wait_for_room(&stage->playing);
    const bool leads = is_leading(stage, &stage->playing.setting->film->packets[packet]);
    const struct decode_order order = leads ? (struct decode_order){.deadline_ns = NO_DEADLINE} : policy_view_decide(stage, packet);
    if (leads || passes_over(stage, packet, &order)) {
        playing_decode(&stage->playing, stage->playing.setting->lesser.passing_ns, INT64_MAX);
        note_fate(stage, packet, true);
        playing_pass_over(&stage->playing, packet);
    } else if (stage->beside > 0) {
        run_submit(stage, packet, &order);
    } else {
        run_decode(stage, packet, &order);
    }
}

void rows_begin(struct frame_record *rows, const struct sim_film *film)
{
    for (int place = 0; place < film->count; place++) {
        const struct upcoming *const packet = &film->packets[film->packet_at[place]];
        rows[place] = frame_record_empty();
        rows[place].index = place;
        rows[place].pts_ns = packet->due_ns;
        rows[place].type = '?';
        rows[place].droppable = packet->picture_class == CLASS_DROPPABLE;
        rows[place].size_bytes = packet->size_bytes;
    }
}

struct policy_outcome policy_run(const struct playing_setting *setting, struct frame_record *rows)
{
    const struct part part = {INT64_MIN, INT64_MAX, frame_duration_of(setting->film->frame_duration_ns)};
    struct sim_stage stage = {.playing = playing_begin(setting), .leading_ns = INT64_MIN, .awaits_beyond = -1};
    stage.playing.rows = rows;
    stage.beside = setting->threads > 1 ? setting->threads - 1 : 0;
    rows_begin(rows, setting->film);
    decode_policy_init(&stage.policy, &setting->policy);
    decode_policy_set_threads(&stage.policy, stage.beside + 1);
    show_pace_restart(&stage.show, &part, 0, 0);
    for (int packet = 0; packet < setting->film->count; packet++)
        play_packet(&stage, packet);
    take_decoded(&stage, true);
    playing_end(&stage.playing);
    stage.outcome.tally = stage.playing.tally;
    stage.outcome.ended_ns = stage.playing.now_ns;
    stage.outcome.wasted_cpu_ns += stage.playing.tally.wasted_cpu_ns;
    return stage.outcome;
}
