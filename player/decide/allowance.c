/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "allowance.h"

#include "ns.h"

#include <math.h>
#include <stdbool.h>

/* The rest is for threads that nobody counts, and for the difference between the quota's accounts and the clocks'. */
static const double usable = 0.95;
/* After a pause there is not more than this to spend. */
enum { EARNED_MAX_NS = 100 * NS_PER_MS };

void allowance_init(struct allowance *allowance, double quota)
{
    *allowance = (struct allowance){.quota = quota, .renewed_ns = NS_UNKNOWN};
}

void allowance_restart(struct allowance *allowance)
{
    allowance_init(allowance, allowance->quota);
}

int64_t allowance_renew(struct allowance *allowance, int64_t now_ns, int64_t used_ns, int64_t presenting_ns)
{
    if (isinf(allowance->quota))
        return INT64_MAX;
    const bool is_first = allowance->renewed_ns == NS_UNKNOWN;
    const int64_t rest_ns = allowance->left_ns - (used_ns - allowance->used_ns);
    const double earned_ns = fmin((double)now_ns - (double)allowance->renewed_ns, EARNED_MAX_NS) * allowance->quota * usable;
    allowance->left_ns = is_first ? 0 : (rest_ns < 0 ? rest_ns : 0) + (int64_t)earned_ns;
    allowance->renewed_ns = now_ns;
    allowance->used_ns = used_ns;
    return is_first ? INT64_MAX : used_ns + allowance->left_ns - presenting_ns;
}
