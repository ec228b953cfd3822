/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rule plan: looks at the packets ahead, and refuses a droppable picture now if a later one would be late otherwise and
 * this is the cheapest one to lose. It can also let pictures be degraded: decoded without the loop filter. Pure.
 *
 * The packets ahead are scheduled one after the other, each for its expected cost at the rate of CPU time that playing
 * gets. Whenever one would end after the first picture that waits for it is due, the droppable picture before it whose
 * loss is least for the time that it saves is given up. This is Moore and Hodgson's algorithm for the least number of
 * late jobs, with weights.
 *
 * Where pictures may be degraded, a droppable one is degraded before it is given up, because that loses little for what it
 * saves. References are degraded when all droppable pictures are given up and one would be late all the same. Pictures that
 * refer to a degraded one differ as well, up to the next key picture, so all pictures up to there are then degraded.
 */
#ifndef PLAYER_PLAN_H
#define PLAYER_PLAN_H

#include "learnt.h"
#include "outlook.h"

#include <stdbool.h>

/*
 * The plan looks at twice as many packets as there is room for pictures, but at least at the first number and at most at
 * the second, and only at packets that have been read (3 to 5 s). In simulations of two clips, a longer horizon lost more
 * pictures. In one clip these had less value, in the other one they had not. Without a queue the horizon made no difference,
 * and nor did more than 125 packets at 25 pictures a second, because no more have been read.
 */
enum { PLAN_HORIZON_MIN = 25, PLAN_HORIZON_MAX = 200 };

struct plan_terms {
    int64_t tolerance_ns;  /* pictures may be so late */
    bool may_degrade;
    bool degrades_to_key;  /* PLAN_DEGRADED_TO_KEY is in force */
};

/* What to do with a packet. */
enum plan_step {
    PLAN_WHOLE,
    PLAN_DEGRADED,        /* only droppable ones */
    PLAN_DEGRADED_TO_KEY, /* with all packets before the next key picture */
    PLAN_REFUSED,         /* only droppable ones */
};

/* Returns what to do with the first packet of the outlook. */
enum plan_step plan_first(const struct outlook *outlook, const struct learnt *learnt, const struct plan_terms *terms);

#endif
