/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "allowance.h"

#include "ns.h"

#include <math.h>

/* The rest is for threads that nobody counts, and for the difference between the quota's accounts and the clocks'. */
static const double usable = 0.99;
/* A gap between pictures earns no more than this does. A skip to a key picture leaves gaps of 3 s. */
static const int64_t gap_max_ns = 10 * NS_PER_S;

void allowance_init(struct allowance *allowance)
{
    *allowance = (struct allowance){.quota = INFINITY, .due_ns = NS_UNKNOWN};
}

void allowance_restart(struct allowance *allowance)
{
    allowance->due_ns = NS_UNKNOWN;
    allowance->left_ns = 0;
}

void allowance_stop(struct allowance *allowance, int64_t used_ns)
{
    allowance->left_ns -= used_ns - allowance->used_ns;
    allowance->used_ns = used_ns;
}

void allowance_start(struct allowance *allowance, int64_t used_ns)
{
    if (allowance->left_ns < 0)
        allowance->left_ns = 0;
    allowance->used_ns = used_ns;
}

/* Returns what the quota gives in this time. */
static int64_t granted_ns(const struct allowance *allowance, int64_t time_ns)
{
    const int64_t counted_ns = time_ns < 0 ? 0 : time_ns > gap_max_ns ? gap_max_ns : time_ns;
    return (int64_t)((double)counted_ns * allowance->quota * usable);
}

void allowance_set_quota(struct allowance *allowance, double quota, int64_t used_ns, int64_t until_due_ns)
{
    const int64_t rest_ns = isinf(allowance->quota) ? 0 : allowance->left_ns - (used_ns - allowance->used_ns);
    allowance->quota = quota;
    allowance->used_ns = used_ns;
    allowance->left_ns = rest_ns < 0 ? rest_ns : 0;
    if (!isinf(quota) && allowance->due_ns != NS_UNKNOWN)
        allowance->left_ns += granted_ns(allowance, until_due_ns);
}

void allowance_renew(struct allowance *allowance, int64_t due_ns, int64_t used_ns, int64_t presenting_ns)
{
    if (!isinf(allowance->quota) && allowance->due_ns != NS_UNKNOWN) {
        const int64_t rest_ns = allowance->left_ns - (used_ns - allowance->used_ns);
        const int64_t kept_ns = rest_ns < allowance->presenting_ns ? rest_ns : allowance->presenting_ns;
        allowance->left_ns = kept_ns + granted_ns(allowance, due_ns - allowance->due_ns);
    }
    allowance->presenting_ns = presenting_ns;
    allowance->due_ns = due_ns;
    allowance->used_ns = used_ns;
}

bool allowance_is_left(const struct allowance *allowance, int64_t used_ns)
{
    if (isinf(allowance->quota) || allowance->due_ns == NS_UNKNOWN)
        return true;
    return allowance->left_ns - (used_ns - allowance->used_ns) > allowance->presenting_ns;
}
