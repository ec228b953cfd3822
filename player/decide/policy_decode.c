/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy_decode.h"

#include "key_skip.h"
#include "ns.h"
#include "plan.h"

enum {
    FIRST_PICTURES_KEPT = 8, /* as in the seed's public player */
    HEURISTIC_ALLOWANCE_NS = 100 * NS_PER_MS,
};

/* Rule vlc: a picture needs this much more than its decode and its presentation take. */
static const double vlc_safety = 1.5;
enum { VLC_MARGIN_NS = 75 * NS_PER_MS, VLC_AVERAGED = 8 };

/* Rule plan. */
enum { EXPLORE_AFTER = 8 };
/*
 * Without a queue every burst of costly pictures makes some late, however many are refused. In simulations of a film with short
 * bursts, 40 ms instead of 70 dropped a tenth more pictures, for a tenth less s.d. of A-V.
 */
enum { TOLERANCE_WITHOUT_QUEUE_NS = 70 * NS_PER_MS, TOLERANCE_STRICT_NS = 40 * NS_PER_MS };
static const struct key_skip_settings skip_default = {.late_ns = 60 * NS_PER_MS, .lateness_loss = 0.5};
static const struct key_skip_settings skip_strict = {.late_ns = 40 * NS_PER_MS, .lateness_loss = 1};

static const double paper_gain = 0.01;
static const double paper_base_of_frame = 0.925; /* 37 ms of 40 ms */

void decode_policy_init(struct decode_policy *policy, const struct policy_settings *settings)
{
    *policy = (struct decode_policy){.settings = *settings};
    learnt_init(&policy->learnt);
}

void decode_policy_set_threads(struct decode_policy *policy, int decoding)
{
    supply_set_threads(&policy->learnt.supply, decoding);
}

void decode_policy_restart(struct decode_policy *policy)
{
    const struct policy_settings settings = policy->settings;
    const struct learnt learnt = policy->learnt;
    decode_policy_init(policy, &settings);
    policy->learnt = learnt;
}

void decode_policy_end_skip(struct decode_policy *policy)
{
    policy->skips_to_key = false;
}

bool decode_policy_is_starting(const struct decode_policy *policy)
{
    return policy->pictures <= FIRST_PICTURES_KEPT;
}

/* Seed 000, 8.2: deadline_i = 0.037 s - (audio_time - v_pts_i) / 100. */
static int64_t paper_relative_ns(const struct policy_settings *settings, const struct decode_view *view)
{
    const double base_ns =
        settings->base_ns >= 0 ? (double)settings->base_ns : paper_base_of_frame * (double)frame_duration_ns(view->frame_duration);
    const double gain = settings->gain >= 0 ? settings->gain : paper_gain;
    return (int64_t)(base_ns - gain * (double)view->skew_ns);
}

static int64_t deadline_ns(const struct decode_policy *policy, const struct decode_view *view)
{
    if (policy->settings.rule == RULE_PAPER)
        return view->now_ns + paper_relative_ns(&policy->settings, view);
    if (decode_policy_is_starting(policy))
        return NO_DEADLINE;
    const int64_t due_ns = view->now_ns - view->skew_ns;
    const bool presented_in_time = policy->settings.rule == RULE_PLAN && policy->settings.strict;
    return due_ns + policy_slack_tolerance_ns(&policy->settings) - (presented_in_time ? view->presenting_ns : 0);
}

/* mplayer's check: give up a picture while the lag exceeds 100 ms plus one frame for each picture given up before it. */
static bool heuristic_gives_up(struct decode_policy *policy, const struct decode_view *view)
{
    const int64_t allowance_ns =
        policy->heuristic_requests * frame_duration_ns(view->frame_duration) + HEURISTIC_ALLOWANCE_NS;
    if (!view->sound_plays || view->skew_ns <= allowance_ns) {
        policy->heuristic_requests = 0;
        return false;
    }
    policy->heuristic_requests++;
    return true;
}

/*
 * The way of VLC's synchro: a droppable picture is refused when the time until it is displayed is less than it needs.
 * Without a known cost nothing is refused.
 */
static bool vlc_refuses(const struct decode_policy *policy, const struct decode_view *view)
{
    const int64_t decoding_ns = (int64_t)(vlc_safety * (double)policy->droppable_ns);
    return policy->droppable_ns && !decode_policy_is_starting(policy) &&
           view->until_due_ns < decoding_ns + view->presenting_ns + VLC_MARGIN_NS;
}

void decode_policy_learn(struct decode_policy *policy, const struct decode_use *use,
                         struct frame_duration frame_duration)
{
    learnt_add(&policy->learnt, use, frame_duration_ns(frame_duration));
    if (use->picture_class != CLASS_DROPPABLE || use->end != DECODE_WHOLE)
        return;
    const int64_t known_ns = policy->droppable_ns;
    policy->droppable_ns = known_ns ? known_ns + (use->wall_ns - known_ns) / VLC_AVERAGED : use->wall_ns;
}

void decode_policy_learn_supply(struct decode_policy *policy, int64_t wall_ns, int64_t cpu_ns)
{
    learnt_add_supply(&policy->learnt, wall_ns, cpu_ns);
}

/* The next key picture ends a skip. */
static bool plan_passes_over(struct decode_policy *policy, const struct decode_view *view)
{
    const struct key_skip_settings *const settings = policy->settings.strict ? &skip_strict : &skip_default;
    if (view->outlook->ahead[0].picture_class == CLASS_KEY)
        policy->skips_to_key = false;
    else if (!policy->skips_to_key && view->may_skip && !policy->settings.never_skips_to_key &&
             view->skew_ns > settings->late_ns)
        policy->skips_to_key = key_skip_pays(view->outlook, &policy->learnt, settings);
    return policy->skips_to_key;
}

/*
 * A class of pictures that is always refused would never be measured again. So one is tried after some that were refused,
 * if the queue allows it.
 */
static bool plan_explores(const struct decode_policy *policy, const struct outlook *outlook)
{
    return policy->learnt.droppable_refused >= EXPLORE_AFTER && outlook->waiting_with_markers * 2 >= outlook->room;
}

static enum plan_step planned_step(const struct decode_policy *policy, const struct outlook *outlook, bool may_degrade)
{
    const int64_t without_queue_ns = policy->settings.strict ? TOLERANCE_STRICT_NS : TOLERANCE_WITHOUT_QUEUE_NS;
    const int64_t tolerance_ns = outlook->room == 0 ? without_queue_ns : 0;
    const int64_t until_abandoned_ns = policy_slack_tolerance_ns(&policy->settings);
    const struct plan_terms terms = {
        .tolerance_ns = tolerance_ns,
        .fewest = policy->settings.strict,
        .may_degrade = may_degrade,
        .degrades_to_key = policy->degrades_to_key,
        .window = policy->settings.window,
        .window_tolerance_ns = until_abandoned_ns > tolerance_ns ? until_abandoned_ns : tolerance_ns,
    };
    return plan_first(outlook, &policy->learnt, &terms);
}

/* Refuses or degrades the picture, or neither. The next key picture ends what was decided for all up to there. */
static void follow_plan(struct decode_policy *policy, const struct decode_view *view, struct decode_order *order)
{
    const struct outlook *const outlook = view->outlook;
    const enum picture_class picture_class = outlook->ahead[0].picture_class;
    const bool may_degrade = policy->settings.degrades && view->can_degrade;
    policy->degrades_to_key &= may_degrade && picture_class != CLASS_KEY;
    enum plan_step step = PLAN_WHOLE;
    if (picture_class == CLASS_DROPPABLE || (may_degrade && !policy->degrades_to_key))
        step = planned_step(policy, outlook, may_degrade);
    policy->degrades_to_key |= step == PLAN_DEGRADED_TO_KEY;
    order->refuse = step == PLAN_REFUSED && !plan_explores(policy, outlook);
    order->degrade = !order->refuse && (policy->degrades_to_key || step == PLAN_DEGRADED);
}

static struct decode_order planned(struct decode_policy *policy, const struct decode_view *view)
{
    struct decode_order order = {.deadline_ns = deadline_ns(policy, view)};
    const struct outlook *const outlook = view->outlook;
    policy->learnt.presenting_ns = view->presenting_cpu_ns;
    policy->degrades_to_key &= outlook != NULL; /* the packet may be a key picture */
    if (!outlook || decode_policy_is_starting(policy))
        return order;
    order.pass_over = plan_passes_over(policy, view);
    if (!order.pass_over)
        follow_plan(policy, view, &order);
    return order;
}

struct decode_order decode_policy_decide(struct decode_policy *policy, const struct decode_view *view)
{
    policy->pictures++;
    struct decode_order order = {.deadline_ns = NO_DEADLINE};
    if (policy->settings.drop == DROP_HEURISTIC)
        order.give_up = heuristic_gives_up(policy, view);
    else if (policy->settings.drop == DROP_VLC)
        order.refuse = vlc_refuses(policy, view);
    else if (policy->settings.drop == DROP_DEADLINE && policy->settings.rule == RULE_PLAN)
        order = planned(policy, view);
    else if (policy->settings.drop == DROP_DEADLINE)
        order.deadline_ns = deadline_ns(policy, view);
    return order;
}
