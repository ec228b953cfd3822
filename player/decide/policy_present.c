/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy_present.h"

#include "ns.h"

enum {
    /*
     * A picture that must be decoded and comes this long after its tolerance is dropped: showing it would be a jerk …
     */
    HOPELESS_NS = 100 * NS_PER_MS,
    /* … but a second without any picture is worse than a jerk. */
    FREEZE_MAX_NS = 1000 * NS_PER_MS,
};

/*
 * Each missed picture raises the tolerated lag by this many frames. In the replay (see policy.c) this gave the heuristic's skew with
 * fewer drops.
 */
static const double hopeless_growth_frames = 1.5;

void present_policy_init(struct present_policy *policy, const struct policy_settings *settings)
{
    *policy = (struct present_policy){.settings = *settings};
}

void present_policy_restart(struct present_policy *policy)
{
    policy->missed_run = 0;
}

static bool is_hopeless(const struct present_policy *policy, const struct present_view *view)
{
    const struct policy_settings *const settings = &policy->settings;
    const bool is_slack = settings->drop == DROP_DEADLINE && settings->rule == RULE_SLACK;
    if ((!is_slack && settings->drop != DROP_VLC) || view->is_starting)
        return false;
    if (policy->missed_run * view->frame_duration_ns >= FREEZE_MAX_NS)
        return false;
    const double growth_ns = hopeless_growth_frames * policy->missed_run * (double)view->frame_duration_ns;
    return view->skew_ns > policy_slack_tolerance_ns(settings) + HOPELESS_NS + (int64_t)growth_ns;
}

bool present_policy_shows(struct present_policy *policy, const struct present_view *view)
{
    const bool shows = !view->given_up && !(view->had_to_be_decoded && is_hopeless(policy, view));
    policy->missed_run = shows ? 0 : policy->missed_run + 1;
    return shows;
}

void present_policy_miss(struct present_policy *policy)
{
    policy->missed_run++;
}
