/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "allowance.h"

#include "ns.h"

#include <math.h>

/* The rest is for threads that nobody counts, and for the difference between the quota's accounts and the clocks'. */
static const double usable = 0.97;
/* After a pause there is not more than this to spend. */
enum { EARNED_MAX_NS = 100 * NS_PER_MS };

void allowance_init(struct allowance *allowance, double quota)
{
    *allowance = (struct allowance){.quota = quota, .renewed_ns = NS_UNKNOWN};
}

void allowance_renew(struct allowance *allowance, int64_t now_ns, int64_t used_ns, int64_t presenting_ns)
{
    if (isinf(allowance->quota))
        return;
    if (allowance->renewed_ns != NS_UNKNOWN) {
        const int64_t rest_ns = allowance->left_ns - (used_ns - allowance->used_ns);
        const double earned_ns = fmin((double)(now_ns - allowance->renewed_ns), EARNED_MAX_NS) * allowance->quota * usable;
        allowance->left_ns = (rest_ns < 0 ? rest_ns : 0) + (int64_t)earned_ns;
    }
    allowance->presenting_ns = presenting_ns;
    allowance->renewed_ns = now_ns;
    allowance->used_ns = used_ns;
}

bool allowance_is_left(const struct allowance *allowance, int64_t used_ns)
{
    if (isinf(allowance->quota) || allowance->renewed_ns == NS_UNKNOWN)
        return true;
    return allowance->left_ns - (used_ns - allowance->used_ns) > allowance->presenting_ns;
}
