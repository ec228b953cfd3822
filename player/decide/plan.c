/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan.h"

#include "plan_windows.h"
#include "window_search.h"

#include <math.h>

/*
 * The RMSE of repeating a picture grows about with the square root of the lost picture's size. But large pictures save more, and the
 * fourth root loses fewer: in simulations of three films at 120 %, 4 to 15 % fewer pictures, for at most 13 % more RMSE.
 */
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
    int index; /* of the packet; 0: it is the one that is decided on */
};

struct schedule {
    const struct outlook *outlook;
    const struct learnt *learnt;
    const struct plan_terms *terms;
    int count;                    /* of packets to look at */
    enum plan_step first;         /* of the packet that is decided on, if it is not given up */
    bool refuses_first;           /* the packet that is decided on is given up */
    bool is_degraded;             /* the next packet is one of those before the next key picture that are all degraded */
    bool has_waited;              /* for room, behind the first packet */
    double end_ns;                /* when the last packet so far is decoded, from now */
    struct decoder_model decoder;
    struct times kept;            /* pictures in the decoder or waiting, without those that are given up */
    struct candidate candidates[PLAN_HORIZON_MAX];
    int candidate_count;
    double least_ns[PLAN_HORIZON_MAX]; /* what decoding each packet costs, droppable ones degraded where that may be */
    bool has_window;              /* the windows below are used */
    bool breaks_window;           /* one was given up that is one too many for a window */
    struct plan_windows windows;
};

static int horizon(const struct outlook *outlook)
{
    const int64_t wanted = outlook->room > PLAN_HORIZON_MAX ? PLAN_HORIZON_MAX : 2 * outlook->room;
    const int64_t most = wanted < PLAN_HORIZON_MIN ? PLAN_HORIZON_MIN : wanted < PLAN_HORIZON_MAX ? wanted : PLAN_HORIZON_MAX;
    return outlook->count < most ? outlook->count : (int)most;
}

static void schedule_init(struct schedule *schedule, const struct outlook *outlook, const struct learnt *learnt,
                          const struct plan_terms *terms)
{
    schedule->outlook = outlook;
    schedule->learnt = learnt;
    schedule->terms = terms;
    schedule->count = horizon(outlook);
    schedule->first = PLAN_WHOLE;
    schedule->is_degraded = terms->degrades_to_key;
    schedule->end_ns = 0;
    schedule->decoder = *outlook->decoder;
    schedule->kept = *outlook->to_present;
    schedule->candidate_count = 0;
    schedule->refuses_first = schedule->has_waited = schedule->breaks_window = false;
    schedule->has_window = terms->window.y > 0;
    if (schedule->has_window)
        plan_windows_init(&schedule->windows, &terms->window, outlook->past, outlook->ahead, schedule->count);
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
    const int64_t frame_ns = frame_duration_ns(schedule->outlook->frame_duration);
    const double whole_ns = cost_predict_ns(costs, packet->picture_class, packet->size_bytes, frame_ns);
    const double part = cost_degraded_part(costs, packet->picture_class);
    if (schedule->is_degraded)
        return (struct packet_cost){part * whole_ns, part * whole_ns};
    const bool pays = schedule->terms->may_degrade && part <= degraded_part_max;
    return (struct packet_cost){whole_ns, pays ? part * whole_ns : whole_ns};
}

static void set_next_step(struct candidate *candidate)
{
    candidate->loss_per_ns = candidate->degrading_ns > 0 ? degraded_loss * candidate->loss / candidate->degrading_ns
                                                         : candidate->loss / fmax(candidate->saves_ns, 1);
}

static void add_candidate(struct schedule *schedule, int index, const struct packet_cost *cost)
{
    const struct learnt *const learnt = schedule->learnt;
    const struct upcoming *const packet = &schedule->outlook->ahead[index];
    struct candidate *const candidate = &schedule->candidates[schedule->candidate_count++];
    *candidate = (struct candidate){
        .loss = schedule->terms->fewest ? 1 : sqrt(sqrt((double)packet->size_bytes + loss_size_offset)),
        .degrading_ns = learnt_wall_ns(learnt, cost->ns - cost->degraded_ns),
        .saves_ns = learnt_wall_ns(learnt, cost->degraded_ns + (double)learnt->presenting_ns - learnt->refusing_ns),
        .due_ns = packet->due_ns,
        .index = index,
    };
    set_next_step(candidate);
}

/* Degrading is never one too many: the picture is shown. */
static bool is_one_too_many(const struct schedule *schedule, const struct candidate *candidate)
{
    const struct plan_windows *const windows = &schedule->windows;
    return schedule->has_window && candidate->degrading_ns <= 0 && plan_windows_forbid(windows, windows->place_of[candidate->index]);
}

/* Any loss that windows allow is better than one that they do not. */
static bool is_better_to_lose(const struct schedule *schedule, const struct candidate *one, const struct candidate *than)
{
    const bool breaks = is_one_too_many(schedule, one);
    const bool other_breaks = is_one_too_many(schedule, than);
    return breaks == other_breaks ? one->loss_per_ns < than->loss_per_ns : other_breaks;
}

static void degrade(struct schedule *schedule, struct candidate *candidate)
{
    schedule->end_ns -= candidate->degrading_ns;
    candidate->degrading_ns = 0;
    set_next_step(candidate);
    if (candidate->index == 0)
        schedule->first = PLAN_DEGRADED;
}

static void give_up(struct schedule *schedule, struct candidate *candidate)
{
    const struct candidate given_up = *candidate;
    *candidate = schedule->candidates[--schedule->candidate_count];
    schedule->end_ns -= given_up.saves_ns;
    times_remove(&schedule->kept, given_up.due_ns);
    schedule->refuses_first |= given_up.index == 0;
    if (!schedule->has_window)
        return;
    schedule->breaks_window |= is_one_too_many(schedule, &given_up);
    plan_windows_lose(&schedule->windows, schedule->windows.place_of[given_up.index]);
}

/* Degrades or gives up the candidate for which that loses least for what it saves. */
static void lose_least(struct schedule *schedule)
{
    struct candidate *least = schedule->candidates;
    for (int i = 1; i < schedule->candidate_count; i++)
        if (is_better_to_lose(schedule, &schedule->candidates[i], least))
            least = &schedule->candidates[i];
    if (least->degrading_ns > 0)
        degrade(schedule, least);
    else
        give_up(schedule, least);
}

/* With a window, a later packet may show that refusing the first one is the wrong choice. */
static bool is_decided(const struct schedule *schedule)
{
    return (schedule->refuses_first && !schedule->has_window) || schedule->first == PLAN_DEGRADED_TO_KEY;
}

/* Returns whether degrading references helps, from the packet on that is decided on. */
static bool may_degrade_to_key(const struct schedule *schedule)
{
    const struct upcoming *const first = &schedule->outlook->ahead[0];
    const struct packet_cost cost = cost_of(schedule, first);
    return cost.degraded_ns < cost.ns && first->picture_class != CLASS_DROPPABLE && !schedule->has_waited;
}

static double limit_ns(const struct schedule *schedule, int64_t due_ns, double cost_ns)
{
    const struct learnt *const learnt = schedule->learnt;
    return plan_limit_ns(due_ns, schedule->terms->tolerance_ns, schedule->outlook->now_ns) -
           learnt_beside_ns(learnt, schedule->decoder.beside, cost_ns);
}

/* Schedules a packet, and makes room for it in time. */
static void add_packet(struct schedule *schedule, int index)
{
    const struct upcoming *const packet = &schedule->outlook->ahead[index];
    const bool is_droppable = packet->picture_class == CLASS_DROPPABLE;
    schedule->is_degraded &= packet->picture_class != CLASS_KEY;
    const struct packet_cost cost = cost_of(schedule, packet);
    schedule->least_ns[index] = is_droppable ? cost.degraded_ns : cost.ns;
    wait_for_room(schedule, index == 0);
    schedule->end_ns += learnt_wall_ns(schedule->learnt, cost.ns + (double)schedule->learnt->presenting_ns);
    times_insert(&schedule->kept, packet->due_ns);
    if (is_droppable)
        add_candidate(schedule, index, &cost);
    const double until_ns = limit_ns(schedule, decoder_model_add(&schedule->decoder, packet->due_ns), cost.ns);
    while (schedule->end_ns > until_ns && schedule->candidate_count > 0 && !is_decided(schedule))
        lose_least(schedule);
    if (schedule->end_ns > until_ns && !is_decided(schedule) && may_degrade_to_key(schedule))
        schedule->first = PLAN_DEGRADED_TO_KEY;
}

/* Makes a choice for the first packet that can keep the window. Returns false, and changes nothing, if there is none. */
static bool find_within_window(struct schedule *schedule, int64_t tolerance_ns)
{
    const struct window_search search = {
        .outlook = schedule->outlook,
        .learnt = schedule->learnt,
        .windows = &schedule->windows,
        .costs_ns = schedule->least_ns,
        .tolerance_ns = tolerance_ns,
        .count = schedule->count,
    };
    if (window_search_finds(&search, schedule->refuses_first))
        return true;
    if (!window_search_finds(&search, !schedule->refuses_first))
        return false;
    schedule->refuses_first = !schedule->refuses_first;
    return true;
}

enum plan_step plan_first(const struct outlook *outlook, const struct learnt *learnt, const struct plan_terms *terms)
{
    struct schedule schedule;
    schedule_init(&schedule, outlook, learnt, terms);
    for (int i = 0; i < schedule.count && !is_decided(&schedule); i++)
        add_packet(&schedule, i);
    const bool may_refuse = schedule.count > 0 && outlook->ahead[0].picture_class == CLASS_DROPPABLE;
    if (may_refuse && schedule.breaks_window && !find_within_window(&schedule, terms->tolerance_ns))
        find_within_window(&schedule, terms->window_tolerance_ns);
    return schedule.refuses_first ? PLAN_REFUSED : schedule.first;
}
