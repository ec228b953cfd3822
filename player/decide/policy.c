/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy.h"

#include "ns.h"

enum {
    /* As the seed's public player. A replay of the trailer's decode times at 115 % demand: 20 ms lose 1 % more pictures
     * for 2 ms less skew. */
    SLACK_TOLERANCE_NS = 50 * NS_PER_MS,
};

int64_t policy_slack_tolerance_ns(const struct policy_settings *settings)
{
    return settings->base_ns >= 0 ? settings->base_ns : SLACK_TOLERANCE_NS;
}
