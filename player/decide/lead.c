/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lead.h"

#include "ns.h"

/* Each picture moves the lead by a fixed step towards its own time, so that the lead comes to the median. */
enum { LEAD_MAX_NS = 5 * NS_PER_MS, STEP_MIN_NS = 50 * NS_PER_US, STEPS = 8 };

void lead_learn(struct lead *lead, int64_t took_ns)
{
    const int64_t step_ns = lead->ns / STEPS + STEP_MIN_NS;
    const int64_t away_ns = took_ns - lead->ns;
    if (away_ns > step_ns)
        lead->ns += step_ns;
    else if (away_ns < -step_ns)
        lead->ns -= step_ns;
    else
        lead->ns = took_ns;
    if (lead->ns > LEAD_MAX_NS)
        lead->ns = LEAD_MAX_NS;
}
