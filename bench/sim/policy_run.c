/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy_run.h"

#include "drift.h"
#include "ns.h"
#include "pace.h"
#include "policy_decode.h"
#include "read_ahead.h"
#include "sim_presenter.h"

#include <math.h>

enum {
    LOOK_AHEAD_PACKETS = 300, /* as in look_ahead.h */
    PREDICTIONS_LEFT_OUT = 30,
};

struct stage {
    struct playing playing;
    struct decode_policy policy;
    struct show_pace show;
    int shown_out_end;    /* pictures before this place have been counted in `show` */
    struct drift drift;
    bool passing_over;    /* packets do not go to the decoder until the next key picture */
    int64_t leading_ns;   /* pictures before this PTS lead the key picture behind a skip; INT64_MIN: none */
    int awaits_beyond; /* no picture has come out since the last skip while out_end is not more than this */
    /* For rule plan. */
    struct times to_present; /* PTS of the pictures in the queue and in the decoder that can be presented */
    struct decoder_model decoder;
    struct loss_history past;
    int late_seen;        /* pictures before this place have been looked at: whether they came too late */
    struct outlook outlook;
    int64_t decodes;      /* whole ones */
    int read_end;         /* the packets before this one have been read from the file */
    struct policy_outcome outcome;
};

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

static void note_prediction(struct stage *stage, const struct upcoming *packet, int64_t cpu_ns)
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

/* -- what the policy sees ----------------------------------------------------------------------------------------- */

/* Tells `show` about the pictures that came out since the last call. */
static void count_pictures_out(struct stage *stage)
{
    const struct sim_film *const film = stage->playing.setting->film;
    for (; stage->shown_out_end < stage->playing.out_end; stage->shown_out_end++) {
        const int place = stage->shown_out_end;
        const int64_t pts_ns = sim_film_pts_ns(film, place);
        const int64_t next_ns = place + 1 < film->count ? sim_film_pts_ns(film, place + 1) : 0;
        show_pace_picture(&stage->show, stage->show.segment, pts_ns, next_ns > pts_ns ? next_ns - pts_ns : 0);
    }
}

static void add_kept(struct stage *stage, int place)
{
    if (stage->playing.pictures[place % PICTURES_ON_THE_WAY_MAX].fate == FATE_DECODED)
        times_insert(&stage->to_present, sim_film_pts_ns(stage->playing.setting->film, place));
}

/*
 * The pictures in the queue. As in the player, the one that the presenter has taken is not among them, and a packet that did
 * not go to the decoder has no marker.
 */
static void look_at_queue(struct stage *stage)
{
    const struct playing *const playing = &stage->playing;
    const int first = playing->phase == PRESENTER_IDLE ? playing->next : playing->next + 1;
    stage->to_present.count = stage->outlook.waiting_with_markers = 0;
    for (int place = first; place < playing->out_end; place++) {
        stage->outlook.waiting_with_markers += !playing->pictures[place % PICTURES_ON_THE_WAY_MAX].passed_over;
        add_kept(stage, place);
    }
}

static void look_at_decoder(struct stage *stage)
{
    const struct playing *const playing = &stage->playing;
    const struct sim_film *const film = playing->setting->film;
    stage->decoder.delay = film->delay;
    stage->decoder.left_ns = playing->left_last >= 0 ? sim_film_pts_ns(film, playing->left_last) : INT64_MIN;
    stage->decoder.held.count = 0;
    for (int i = 0; i < playing->held_count; i++) {
        times_insert(&stage->decoder.held, sim_film_pts_ns(film, playing->held[i]));
        add_kept(stage, playing->held[i]);
    }
}

/* Reads on if too little is ready, as in the player's feeder. Reading takes no time. */
static void read_packets(struct stage *stage, int packet)
{
    const struct sim_film *const film = stage->playing.setting->film;
    const int64_t ready_ns = (stage->read_end - packet - 1) * film->frame_duration_ns;
    if (ready_ns >= READ_AHEAD_LITTLE_NS)
        return;
    const int64_t end = packet + 1 + (READ_AHEAD_ENOUGH_NS + film->frame_duration_ns - 1) / film->frame_duration_ns;
    stage->read_end = end < film->count ? (int)end : film->count;
}

/* Returns how many packets the policy sees from this one on. */
static int packets_seen(const struct stage *stage, int packet)
{
    const int ready = stage->read_end - packet;
    return ready < LOOK_AHEAD_PACKETS ? ready : LOOK_AHEAD_PACKETS;
}

/* In the player, the presenter reports late pictures to the decode stage. */
static void look_at_late(struct stage *stage)
{
    const struct playing *const playing = &stage->playing;
    for (; stage->late_seen < playing->next; stage->late_seen++)
        if (playing->rows[stage->late_seen].verdict == VERDICT_LATE)
            loss_history_lose(&stage->past, playing->setting->film->packet_at[stage->late_seen]);
}

static const struct outlook *outlook_of(struct stage *stage, int packet)
{
    const struct playing_setting *const setting = stage->playing.setting;
    if (setting->policy.drop != DROP_DEADLINE || setting->policy.rule != RULE_PLAN)
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

static struct decode_order order_of(struct stage *stage, int packet)
{
    const struct playing *const playing = &stage->playing;
    const int64_t pts_ns = playing->setting->film->packets[packet].due_ns;
    count_pictures_out(stage);
    const int64_t next_ns = show_pace_next_ns(&stage->show, stage->show.segment, pts_ns);
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

/* -- what is done with the packet --------------------------------------------------------------------------------- */

static int64_t cost_of(const struct stage *stage, int packet, const struct decode_order *order)
{
    const struct playing_setting *const setting = stage->playing.setting;
    const double part = order->degrade ? setting->degraded.part : 1;
    return llround(part * (double)setting->cost_ns[packet]);
}

/* As in the decoder's gate: droppable pictures can be refused, or abandoned by the deadline. */
static enum picture_fate decode_droppable(struct stage *stage, int packet, const struct decode_order *order,
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

static enum picture_fate decode(struct stage *stage, int packet, const struct decode_order *order, struct decode_use *use)
{
    if (use->picture_class == CLASS_DROPPABLE)
        return decode_droppable(stage, packet, order, use);
    const int64_t cost_ns = cost_of(stage, packet, order);
    use->end = DECODE_WHOLE;
    use->cpu_ns = playing_decode(&stage->playing, cost_ns, INT64_MAX);
    return order->give_up ? FATE_UNWANTED : FATE_DECODED;
}

static void note_fate(struct stage *stage, int packet, bool is_lost)
{
    const int64_t due_ns = stage->playing.setting->film->packets[packet].due_ns;
    loss_history_add(&stage->past, &(struct past_picture){packet, due_ns, is_lost});
}

/* As in the player's stage. */
static enum degraded degraded_by(struct stage *stage, const struct upcoming *packet, bool degrade)
{
    const bool drifts = drift_add(&stage->drift, packet->picture_class, packet->due_ns, degrade);
    return degrade ? DEGRADED_ITSELF : drifts ? DEGRADED_BY_OTHERS : DEGRADED_NOT;
}

static void note_decode(struct stage *stage, int packet, const struct decode_order *order, int64_t start_ns,
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

static void run_decode(struct stage *stage, int packet, const struct decode_order *order)
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

static bool is_leading(struct stage *stage, const struct upcoming *packet)
{
    if (packet->due_ns >= stage->leading_ns || packet->picture_class == CLASS_KEY)
        stage->leading_ns = INT64_MIN;
    return stage->leading_ns != INT64_MIN;
}

/* Returns whether the packet does not go to the decoder. The first such packet drains the decoder. */
static bool passes_over(struct stage *stage, int packet, const struct decode_order *order)
{
    const int64_t pts_ns = stage->playing.setting->film->packets[packet].due_ns;
    if (order->pass_over) {
        stage->playing.job_is_starting = decode_policy_is_starting(&stage->policy);
        if (!stage->passing_over)
            playing_drain(&stage->playing);
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

static void play_packet(struct stage *stage, int packet)
{
    read_packets(stage, packet);
    playing_wait_for_room(&stage->playing);
    const bool leads = is_leading(stage, &stage->playing.setting->film->packets[packet]);
    const struct decode_order order = leads ? (struct decode_order){.deadline_ns = NO_DEADLINE} : order_of(stage, packet);
    if (leads || passes_over(stage, packet, &order)) {
        playing_decode(&stage->playing, stage->playing.setting->lesser.passing_ns, INT64_MAX);
        note_fate(stage, packet, true);
        playing_pass_over(&stage->playing, packet);
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
    struct stage stage = {.playing = playing_begin(setting), .leading_ns = INT64_MIN, .awaits_beyond = -1};
    stage.playing.rows = rows;
    rows_begin(rows, setting->film);
    decode_policy_init(&stage.policy, &setting->policy);
    show_pace_restart(&stage.show, &part, 0, 0);
    for (int packet = 0; packet < setting->film->count; packet++)
        play_packet(&stage, packet);
    playing_end(&stage.playing);
    stage.outcome.tally = stage.playing.tally;
    stage.outcome.ended_ns = stage.playing.now_ns;
    stage.outcome.wasted_cpu_ns += stage.playing.tally.wasted_cpu_ns;
    return stage.outcome;
}
