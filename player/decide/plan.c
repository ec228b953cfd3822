/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan.h"

#include "ns.h"

#include <math.h>

enum {
    /* The plan keeps this much in hand. 0 to 40 ms made no difference in simulations. */
    MARGIN_NS = 10 * NS_PER_MS,
};

/* The RMSE of repeating a picture grows about with the square root of the lost picture's size. */
static const double loss_size_offset = 100;
/* The RMSE of a droppable picture without its loop filter, as a part of that of repeating the picture before it. In a film it was
 * 0.035; without all loop filters it was 0.06. */
static const double degraded_loss = 0.05;
/* Degrading a picture that costs nearly the same is no gain. */
static const double degraded_part_max = 0.98;

/* A droppable picture of the schedule, which may be given up. */
struct candidate {
    double loss;         /* if it is given up */
    double loss_per_ns;  /* of the next step: degrading it, or else giving it up */
    double degrading_ns; /* what degrading it saves; 0: nothing, or it is degraded */
    double saves_ns;     /* what giving it up saves then */
    int64_t due_ns;
    bool is_first; /* it is the packet that is decided on */
};

struct schedule {
    const struct outlook *outlook;
    const struct learnt *learnt;
    const struct plan_terms *terms;
    enum plan_step first;         /* of the packet that is decided on */
    bool is_degraded;             /* the next packet is one of those before the next key picture that are all degraded */
    bool has_waited;              /* for room, behind the first packet */
    double end_ns;                /* when the last packet so far is decoded, from now */
    struct decoder_model decoder;
    struct times kept;            /* pictures in the decoder or waiting, without those that are given up */
    struct candidate candidates[PLAN_HORIZON_MAX];
    int candidate_count;
};

static void schedule_init(struct schedule *schedule, const struct outlook *outlook, const struct learnt *learnt,
                          const struct plan_terms *terms)
{
    schedule->outlook = outlook;
    schedule->learnt = learnt;
    schedule->terms = terms;
    schedule->first = PLAN_WHOLE;
    schedule->is_degraded = terms->degrades_to_key;
    schedule->has_waited = false;
    schedule->end_ns = 0;
    schedule->decoder = *outlook->decoder;
    schedule->kept = *outlook->to_present;
    schedule->candidate_count = 0;
}

/* Returns when there is room for another picture, from now; -INFINITY: there is room. */
static double room_ns(const struct schedule *schedule)
{
    const struct outlook *const outlook = schedule->outlook;
    const struct times *const kept = &schedule->kept;
    int64_t free_ns = INT64_MIN;
    if (outlook->room == 0)
        free_ns = schedule->decoder.left_ns;
    else if (kept->count >= outlook->room)
        free_ns = kept->at_ns[kept->count - outlook->room];
    return free_ns == INT64_MIN ? -INFINITY : (double)(free_ns + schedule->learnt->presenting_ns - outlook->now_ns);
}

/*
 * Pictures that are given up before such a wait do not help those after it. The first packet is an exception, because it
 * waits itself.
 */
static void wait_for_room(struct schedule *schedule, bool is_first)
{
    const double free_ns = room_ns(schedule);
    if (free_ns <= schedule->end_ns)
        return;
    schedule->end_ns = free_ns;
    if (is_first)
        return;
    schedule->candidate_count = 0;
    schedule->has_waited = true;
}

/* What decoding a packet costs: CPU time. */
struct packet_cost {
    double ns;
    double degraded_ns;
};

static struct packet_cost cost_of(const struct schedule *schedule, const struct upcoming *packet)
{
    const struct cost_model *const costs = &schedule->learnt->costs;
    const int64_t frame_ns = schedule->outlook->frame_duration_ns;
    const double whole_ns = cost_predict_ns(costs, packet->picture_class, packet->size_bytes, frame_ns);
    const double degraded_ns = cost_predict_degraded_ns(costs, packet->picture_class, packet->size_bytes, frame_ns);
    if (schedule->is_degraded)
        return (struct packet_cost){degraded_ns, degraded_ns};
    const bool pays = schedule->terms->may_degrade && degraded_ns <= degraded_part_max * whole_ns;
    return (struct packet_cost){whole_ns, pays ? degraded_ns : whole_ns};
}

static void set_next_step(struct candidate *candidate)
{
    candidate->loss_per_ns = candidate->degrading_ns > 0 ? degraded_loss * candidate->loss / candidate->degrading_ns
                                                         : candidate->loss / fmax(candidate->saves_ns, 1);
}

static void add_candidate(struct schedule *schedule, const struct upcoming *packet, const struct packet_cost *cost, bool is_first)
{
    const struct learnt *const learnt = schedule->learnt;
    struct candidate *const candidate = &schedule->candidates[schedule->candidate_count++];
    *candidate = (struct candidate){
        .loss = sqrt((double)packet->size_bytes + loss_size_offset),
        .degrading_ns = learnt_wall_ns(learnt, cost->ns - cost->degraded_ns),
        .saves_ns = learnt_wall_ns(learnt, cost->degraded_ns + (double)learnt->presenting_ns - learnt->refusing_ns),
        .due_ns = packet->due_ns,
        .is_first = is_first,
    };
    set_next_step(candidate);
}

static void degrade(struct schedule *schedule, struct candidate *candidate)
{
    schedule->end_ns -= candidate->degrading_ns;
    candidate->degrading_ns = 0;
    set_next_step(candidate);
    if (candidate->is_first)
        schedule->first = PLAN_DEGRADED;
}

static void give_up(struct schedule *schedule, struct candidate *candidate)
{
    const struct candidate given_up = *candidate;
    *candidate = schedule->candidates[--schedule->candidate_count];
    schedule->end_ns -= given_up.saves_ns;
    times_remove(&schedule->kept, given_up.due_ns);
    if (given_up.is_first)
        schedule->first = PLAN_REFUSED;
}

/* Degrades or gives up the candidate for which that loses least for what it saves. */
static void lose_least(struct schedule *schedule)
{
    struct candidate *least = schedule->candidates;
    for (int i = 1; i < schedule->candidate_count; i++)
        if (schedule->candidates[i].loss_per_ns < least->loss_per_ns)
            least = &schedule->candidates[i];
    if (least->degrading_ns > 0)
        degrade(schedule, least);
    else
        give_up(schedule, least);
}

static bool is_decided(const struct schedule *schedule)
{
    return schedule->first == PLAN_REFUSED || schedule->first == PLAN_DEGRADED_TO_KEY;
}

/* Returns whether degrading references helps, from the packet on that is decided on. */
static bool may_degrade_to_key(const struct schedule *schedule)
{
    const struct upcoming *const first = &schedule->outlook->ahead[0];
    const struct packet_cost cost = cost_of(schedule, first);
    return cost.degraded_ns < cost.ns && first->picture_class != CLASS_DROPPABLE && !schedule->has_waited;
}

/* Schedules a packet, and makes room for it in time. */
static void add_packet(struct schedule *schedule, const struct upcoming *packet, bool is_first)
{
    const struct outlook *const outlook = schedule->outlook;
    const struct learnt *const learnt = schedule->learnt;
    schedule->is_degraded &= packet->picture_class != CLASS_KEY;
    const struct packet_cost cost = cost_of(schedule, packet);
    wait_for_room(schedule, is_first);
    schedule->end_ns += learnt_wall_ns(learnt, cost.ns + (double)learnt->presenting_ns);
    times_insert(&schedule->kept, packet->due_ns);
    if (packet->picture_class == CLASS_DROPPABLE)
        add_candidate(schedule, packet, &cost, is_first);
    const int64_t due_ns = decoder_model_add(&schedule->decoder, packet->due_ns);
    const double limit_ns = (double)(due_ns + schedule->terms->tolerance_ns - MARGIN_NS - outlook->now_ns);
    while (schedule->end_ns > limit_ns && schedule->candidate_count > 0 && !is_decided(schedule))
        lose_least(schedule);
    if (schedule->end_ns > limit_ns && !is_decided(schedule) && may_degrade_to_key(schedule))
        schedule->first = PLAN_DEGRADED_TO_KEY;
}

static int64_t horizon(const struct outlook *outlook)
{
    const int64_t wanted = outlook->room > PLAN_HORIZON_MAX ? PLAN_HORIZON_MAX : 2 * outlook->room;
    return wanted < PLAN_HORIZON_MIN ? PLAN_HORIZON_MIN : wanted < PLAN_HORIZON_MAX ? wanted : PLAN_HORIZON_MAX;
}

enum plan_step plan_first(const struct outlook *outlook, const struct learnt *learnt, const struct plan_terms *terms)
{
    const int64_t last = horizon(outlook);
    struct schedule schedule;
    schedule_init(&schedule, outlook, learnt, terms);
    for (int i = 0; i < outlook->count && i < last && !is_decided(&schedule); i++)
        add_packet(&schedule, &outlook->ahead[i], i == 0);
    return schedule.first;
}
