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

/* A droppable picture of the schedule, which may be given up. */
struct candidate {
    double loss_per_ns;
    double saves_ns;
    int64_t due_ns;
    bool is_first; /* it is the packet that is decided on */
};

struct schedule {
    const struct outlook *outlook;
    const struct learnt *learnt;
    const struct plan_aim *aim;
    double end_ns;                /* when the last packet so far is decoded, from now */
    struct decoder_model decoder;
    struct times kept;            /* pictures in the decoder or waiting, without those that are given up */
    struct candidate candidates[PLAN_HORIZON_MAX];
    int candidate_count;
};

static void schedule_init(struct schedule *schedule, const struct outlook *outlook, const struct learnt *learnt, const struct plan_aim *aim)
{
    schedule->outlook = outlook;
    schedule->learnt = learnt;
    schedule->aim = aim;
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
    const int64_t room = outlook->room + schedule->decoder.beside; /* pictures in codec threads are not in the queue */
    int64_t free_ns = INT64_MIN;
    if (outlook->room == 0)
        free_ns = schedule->decoder.left_ns;
    else if (kept->count >= room)
        free_ns = kept->at_ns[kept->count - room];
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
    if (!is_first)
        schedule->candidate_count = 0;
}

static void add_candidate(struct schedule *schedule, const struct upcoming *packet, double cost_ns, bool is_first)
{
    const struct learnt *const learnt = schedule->learnt;
    const double saves_ns = learnt_wall_ns(learnt, cost_ns + (double)learnt->presenting_ns - learnt->refusing_ns);
    const double loss = schedule->aim->fewest ? 1 : sqrt((double)packet->size_bytes + loss_size_offset);
    schedule->candidates[schedule->candidate_count++] = (struct candidate){
        .loss_per_ns = loss / fmax(saves_ns, 1),
        .saves_ns = saves_ns,
        .due_ns = packet->due_ns,
        .is_first = is_first,
    };
}

/* Gives up the candidate whose loss is least for what it saves. Returns whether it is the packet that is decided on. */
static bool give_up_one(struct schedule *schedule)
{
    int least = 0;
    for (int i = 1; i < schedule->candidate_count; i++)
        if (schedule->candidates[i].loss_per_ns < schedule->candidates[least].loss_per_ns)
            least = i;
    const struct candidate given_up = schedule->candidates[least];
    schedule->candidates[least] = schedule->candidates[--schedule->candidate_count];
    schedule->end_ns -= given_up.saves_ns;
    times_remove(&schedule->kept, given_up.due_ns);
    return given_up.is_first;
}

/* Schedules a packet. Returns whether the packet that is decided on has to be given up for it. */
static bool add_packet(struct schedule *schedule, const struct upcoming *packet, bool is_first)
{
    const struct outlook *const outlook = schedule->outlook;
    const struct learnt *const learnt = schedule->learnt;
    const double cost_ns =
        cost_predict_ns(&learnt->costs, packet->picture_class, packet->size_bytes, outlook->frame_duration_ns);
    wait_for_room(schedule, is_first);
    schedule->end_ns += learnt_wall_ns(learnt, cost_ns + (double)learnt->presenting_ns);
    times_insert(&schedule->kept, packet->due_ns);
    if (packet->picture_class == CLASS_DROPPABLE)
        add_candidate(schedule, packet, cost_ns, is_first);
    const int64_t due_ns = decoder_model_add(&schedule->decoder, packet->due_ns);
    const double limit_ns = (double)(due_ns + schedule->aim->tolerance_ns - MARGIN_NS - outlook->now_ns) -
                            learnt_beside_ns(learnt, schedule->decoder.beside, cost_ns);
    while (schedule->end_ns > limit_ns && schedule->candidate_count > 0)
        if (give_up_one(schedule))
            return true;
    return false;
}

static int64_t horizon(const struct outlook *outlook)
{
    const int64_t wanted = outlook->room > PLAN_HORIZON_MAX ? PLAN_HORIZON_MAX : 2 * outlook->room;
    return wanted < PLAN_HORIZON_MIN ? PLAN_HORIZON_MIN : wanted < PLAN_HORIZON_MAX ? wanted : PLAN_HORIZON_MAX;
}

bool plan_refuses(const struct outlook *outlook, const struct learnt *learnt, const struct plan_aim *aim)
{
    const int64_t last = horizon(outlook);
    struct schedule schedule;
    schedule_init(&schedule, outlook, learnt, aim);
    for (int i = 0; i < outlook->count && i < last; i++)
        if (add_packet(&schedule, &outlook->ahead[i], i == 0))
            return true;
    return false;
}
