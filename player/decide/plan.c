/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan.h"

#include "plan_windows.h"
#include "window_search.h"

#include <math.h>

/* The RMSE of repeating a picture grows about with the square root of the lost picture's size. */
static const double loss_size_offset = 100;

/* A droppable picture of the schedule, which may be given up. */
struct candidate {
    double loss_per_ns;
    double saves_ns;
    int64_t due_ns;
    int index; /* of the packet; 0: it is the one that is decided on */
};

struct schedule {
    const struct outlook *outlook;
    const struct learnt *learnt;
    const struct plan_aim *aim;
    int count;                    /* of packets to look at */
    double end_ns;                /* when the last packet so far is decoded, from now */
    struct decoder_model decoder;
    struct times kept;            /* pictures in the decoder or waiting, without those that are given up */
    struct candidate candidates[PLAN_HORIZON_MAX];
    int candidate_count;
    bool refuses_first;           /* the packet that is decided on is given up */
    bool has_window;              /* the windows below are in force */
    bool breaks_window;           /* one was given up that is one too many for a window */
    struct plan_windows windows;
};

static int horizon(const struct outlook *outlook)
{
    const int64_t wanted = outlook->room > PLAN_HORIZON_MAX ? PLAN_HORIZON_MAX : 2 * outlook->room;
    const int64_t most = wanted < PLAN_HORIZON_MIN ? PLAN_HORIZON_MIN : wanted < PLAN_HORIZON_MAX ? wanted : PLAN_HORIZON_MAX;
    return outlook->count < most ? outlook->count : (int)most;
}

static void schedule_init(struct schedule *schedule, const struct outlook *outlook, const struct learnt *learnt, const struct plan_aim *aim)
{
    schedule->outlook = outlook;
    schedule->learnt = learnt;
    schedule->aim = aim;
    schedule->count = horizon(outlook);
    schedule->end_ns = 0;
    schedule->decoder = *outlook->decoder;
    schedule->kept = *outlook->to_present;
    schedule->candidate_count = 0;
    schedule->refuses_first = schedule->has_window = schedule->breaks_window = false;
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

static void add_candidate(struct schedule *schedule, int index, double cost_ns)
{
    const struct learnt *const learnt = schedule->learnt;
    const struct upcoming *const packet = &schedule->outlook->ahead[index];
    const double saves_ns = learnt_wall_ns(learnt, cost_ns + (double)learnt->presenting_ns - learnt->refusing_ns);
    const double loss = schedule->aim->fewest ? 1 : sqrt((double)packet->size_bytes + loss_size_offset);
    schedule->candidates[schedule->candidate_count++] = (struct candidate){
        .loss_per_ns = loss / fmax(saves_ns, 1),
        .saves_ns = saves_ns,
        .due_ns = packet->due_ns,
        .index = index,
    };
}

static bool is_one_too_many(const struct schedule *schedule, const struct candidate *candidate)
{
    const struct plan_windows *const windows = &schedule->windows;
    return schedule->has_window && plan_windows_forbid(windows, windows->place_of[candidate->index]);
}

/* Any loss that windows allow is better than one that they do not. */
static bool is_better_to_lose(const struct schedule *schedule, const struct candidate *one, const struct candidate *than)
{
    const bool breaks = is_one_too_many(schedule, one);
    const bool other_breaks = is_one_too_many(schedule, than);
    return breaks == other_breaks ? one->loss_per_ns < than->loss_per_ns : other_breaks;
}

static void lose(struct schedule *schedule, const struct candidate *given_up)
{
    schedule->end_ns -= given_up->saves_ns;
    times_remove(&schedule->kept, given_up->due_ns);
    schedule->refuses_first |= given_up->index == 0;
    if (!schedule->has_window)
        return;
    schedule->breaks_window |= is_one_too_many(schedule, given_up);
    plan_windows_lose(&schedule->windows, schedule->windows.place_of[given_up->index]);
}

/* Gives up the candidate whose loss is least for what it saves. */
static void give_up_one(struct schedule *schedule)
{
    int best = 0;
    for (int i = 1; i < schedule->candidate_count; i++)
        if (is_better_to_lose(schedule, &schedule->candidates[i], &schedule->candidates[best]))
            best = i;
    const struct candidate given_up = schedule->candidates[best];
    schedule->candidates[best] = schedule->candidates[--schedule->candidate_count];
    lose(schedule, &given_up);
}

/* Schedules a packet, and gives up pictures so that it is in time. */
static void add_packet(struct schedule *schedule, int index)
{
    const struct outlook *const outlook = schedule->outlook;
    const struct learnt *const learnt = schedule->learnt;
    const struct upcoming *const packet = &outlook->ahead[index];
    const double cost_ns =
        cost_predict_ns(&learnt->costs, packet->picture_class, packet->size_bytes, outlook->frame_duration_ns);
    wait_for_room(schedule, index == 0);
    schedule->end_ns += learnt_wall_ns(learnt, cost_ns + (double)learnt->presenting_ns);
    times_insert(&schedule->kept, packet->due_ns);
    if (packet->picture_class == CLASS_DROPPABLE)
        add_candidate(schedule, index, cost_ns);
    const int64_t due_ns = decoder_model_add(&schedule->decoder, packet->due_ns);
    const double limit_ns = plan_limit_ns(due_ns, schedule->aim->tolerance_ns, outlook->now_ns) -
                            learnt_beside_ns(learnt, schedule->decoder.beside, cost_ns);
    while (schedule->end_ns > limit_ns && schedule->candidate_count > 0)
        give_up_one(schedule);
}

/* Sets *refuses to a choice for the first packet that can keep the window. Returns false, and leaves it, if there is none. */
static bool find_within_window(const struct schedule *schedule, int64_t tolerance_ns, bool *refuses)
{
    const struct window_search search = {
        .outlook = schedule->outlook,
        .learnt = schedule->learnt,
        .windows = &schedule->windows,
        .tolerance_ns = tolerance_ns,
        .count = schedule->count,
    };
    if (window_search_finds(&search, *refuses))
        return true;
    if (!window_search_finds(&search, !*refuses))
        return false;
    *refuses = !*refuses;
    return true;
}

bool plan_refuses(const struct outlook *outlook, const struct learnt *learnt, const struct plan_aim *aim)
{
    struct schedule schedule;
    schedule_init(&schedule, outlook, learnt, aim);
    schedule.has_window = aim->window.y > 0;
    if (schedule.has_window)
        plan_windows_init(&schedule.windows, &aim->window, outlook->past, outlook->ahead, schedule.count);
    for (int i = 0; i < schedule.count; i++) {
        add_packet(&schedule, i);
        if (schedule.refuses_first && !schedule.has_window)
            return true;
    }
    bool refuses = schedule.refuses_first;
    if (schedule.breaks_window && !find_within_window(&schedule, aim->tolerance_ns, &refuses))
        find_within_window(&schedule, aim->window_tolerance_ns, &refuses);
    return refuses;
}
