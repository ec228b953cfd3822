/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy.h"

enum {
    NS_PER_MS = 1000000,
    /* The first pictures pay for cold caches and a sound device that is still filling (as the seed's public player). */
    FIRST_PICTURES_KEPT = 8,
    HEURISTIC_ALLOWANCE_NS = 100 * NS_PER_MS,
    /* As the seed's public player. A replay of the trailer's decode times at 115 % demand: 20 ms lose 1 % more pictures
     * for 2 ms less skew. */
    SLACK_TOLERANCE_NS = 50 * NS_PER_MS,
    /* A picture that must be decoded and comes this long after its tolerance is not worth a jerk … */
    HOPELESS_NS = 100 * NS_PER_MS,
    /* … but a second without any picture is worse. */
    FREEZE_MAX_NS = 1000 * NS_PER_MS,
};

/* How much longer a lag is put up with for each picture missed: the replay gave the heuristic's skew with fewer drops. */
static const double hopeless_growth_frames = 1.5;

static const double paper_gain = 0.01;
static const double paper_base_of_frame = 0.925; /* 37 ms of 40 ms */

void policy_init(struct policy *policy, const struct policy_settings *settings)
{
    *policy = (struct policy){.settings = *settings};
}

void policy_restart(struct policy *policy)
{
    const struct policy_settings settings = policy->settings;
    policy_init(policy, &settings);
}

static int64_t slack_tolerance_ns(const struct policy_settings *settings)
{
    return settings->base_ns >= 0 ? settings->base_ns : SLACK_TOLERANCE_NS;
}

/* Seed 000, 8.2: deadline_i = 0.037 s - (audio_time - v_pts_i) / 100. */
static int64_t paper_relative_ns(const struct policy_settings *settings, const struct policy_view *view)
{
    const double base_ns =
        settings->base_ns >= 0 ? (double)settings->base_ns : paper_base_of_frame * (double)view->frame_duration_ns;
    const double gain = settings->gain >= 0 ? settings->gain : paper_gain;
    return (int64_t)(base_ns - gain * (double)view->skew_ns);
}

static int64_t deadline_ns(const struct policy *policy, const struct policy_view *view)
{
    if (policy->settings.rule == RULE_PAPER)
        return view->now_ns + paper_relative_ns(&policy->settings, view);
    if (policy->pictures <= FIRST_PICTURES_KEPT)
        return NO_DEADLINE;
    return view->now_ns - view->skew_ns + slack_tolerance_ns(&policy->settings);
}

/* mplayer's check: give up a picture while the lag exceeds 100 ms plus one frame for each picture given up before it. */
static bool heuristic_gives_up(struct policy *policy, const struct policy_view *view)
{
    const int64_t allowance_ns =
        policy->heuristic_requests * view->frame_duration_ns + HEURISTIC_ALLOWANCE_NS;
    if (!view->sound_plays || view->skew_ns <= allowance_ns) {
        policy->heuristic_requests = 0;
        return false;
    }
    policy->heuristic_requests++;
    return true;
}

struct policy_order policy_before_decode(struct policy *policy, const struct policy_view *view)
{
    policy->pictures++;
    struct policy_order order = {.give_up = false, .deadline_ns = NO_DEADLINE};
    if (policy->settings.drop == DROP_HEURISTIC)
        order.give_up = heuristic_gives_up(policy, view);
    else if (policy->settings.drop == DROP_DEADLINE)
        order.deadline_ns = deadline_ns(policy, view);
    return order;
}

static bool is_hopeless(const struct policy *policy, int64_t skew_ns, int64_t frame_duration_ns)
{
    const struct policy_settings *const settings = &policy->settings;
    if (settings->drop != DROP_DEADLINE || settings->rule != RULE_SLACK || policy->pictures <= FIRST_PICTURES_KEPT)
        return false;
    if (policy->missed_run * frame_duration_ns >= FREEZE_MAX_NS)
        return false;
    const double growth_ns = hopeless_growth_frames * policy->missed_run * (double)frame_duration_ns;
    return skew_ns > slack_tolerance_ns(settings) + HOPELESS_NS + (int64_t)growth_ns;
}

bool policy_presents(struct policy *policy, const struct policy_order *order, int64_t skew_ns,
                     int64_t frame_duration_ns, bool protected_)
{
    const bool presents = !order->give_up && !(protected_ && is_hopeless(policy, skew_ns, frame_duration_ns));
    policy->missed_run = presents ? 0 : policy->missed_run + 1;
    return presents;
}

void policy_note_abandoned(struct policy *policy)
{
    policy->missed_run++;
}
