/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drift.h"

void drift_restart(struct drift *drift)
{
    *drift = (struct drift){0};
}

bool drift_add(struct drift *drift, enum picture_class picture_class, int64_t pts_ns, bool degraded)
{
    if (picture_class == CLASS_KEY) {
        *drift = (struct drift){.goes_on = degraded, .leads = drift->goes_on, .key_pts_ns = pts_ns};
        return false;
    }
    const bool differs = drift->goes_on || (drift->leads && pts_ns < drift->key_pts_ns);
    drift->goes_on |= degraded && picture_class != CLASS_DROPPABLE;
    return differs;
}
