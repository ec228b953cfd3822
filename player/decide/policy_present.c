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
/* Rule plan when it is strict drops such a picture as soon as its tolerance has passed, and raises that more slowly. */
static const double strict_growth_frames = 0.5;

void present_policy_init(struct present_policy *policy, const struct policy_settings *settings)
{
    *policy = (struct present_policy){.settings = *settings};
    present_policy_restart(policy);
}

void present_policy_restart(struct present_policy *policy)
{
    policy->missed_run = 0;
    policy->missing_since_ns = NS_UNKNOWN;
}

/* Returns whether such a picture is not presented when it is hopeless. */
static bool may_be_late(const struct policy_settings *settings, const struct present_view *view)
{
    switch (settings->drop) {
    case DROP_NONE: return false;
    case DROP_HEURISTIC: return view->waited;
    case DROP_VLC: return view->waited || view->had_to_be_decoded;
    case DROP_DEADLINE: return settings->rule != RULE_PAPER && (view->waited || view->had_to_be_decoded);
    }
    return false;
}

static bool is_hopeless(const struct present_policy *policy, const struct present_view *view)
{
    const bool missing = policy->missing_since_ns != NS_UNKNOWN;
    if (view->is_starting || (missing && view->now_ns - policy->missing_since_ns >= FREEZE_MAX_NS))
        return false;
    const struct policy_settings *const settings = &policy->settings;
    const bool strict = settings->drop == DROP_DEADLINE && settings->rule == RULE_PLAN && settings->strict;
    const double growth_frames = (strict ? strict_growth_frames : hopeless_growth_frames) * policy->missed_run;
    const int64_t limit_ns = policy_slack_tolerance_ns(settings) + (strict ? 0 : HOPELESS_NS);
    return view->skew_ns > limit_ns + (int64_t)(growth_frames * (double)frame_duration_ns(view->frame_duration));
}

bool present_policy_shows(struct present_policy *policy, const struct present_view *view)
{
    const bool shows = !view->given_up && !(may_be_late(&policy->settings, view) && is_hopeless(policy, view));
    if (shows)
        present_policy_restart(policy);
    else
        present_policy_miss(policy, view->now_ns);
    return shows;
}

void present_policy_miss(struct present_policy *policy, int64_t now_ns)
{
    if (policy->missed_run++ == 0)
        policy->missing_since_ns = now_ns;
}
