/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rule plan: looks at the packets ahead, and refuses a droppable picture now if a later one would be late otherwise and
 * this is the cheapest one to lose. It can also let pictures be degraded: decoded without the loop filter. Pure.
 *
 * The packets ahead are scheduled one after the other, each for its expected cost at the rate of CPU time that playing
 * gets. Whenever one would end after the first picture that waits for it is due, the droppable picture before it whose
 * loss is least for the time that it saves is given up. This is Moore and Hodgson's algorithm for the least number of
 * late jobs, with weights. If that breaks a window, another choice is looked for (window_search.h).
 *
 * Where pictures may be degraded, a droppable one is degraded before it is given up, because that loses little for what it
 * saves. References are degraded when all droppable pictures are given up and one would be late all the same. Pictures that
 * refer to a degraded one differ as well, up to the next key picture, so all pictures up to there are then degraded.
 *
 * With codec threads the rate is that of all, and a picture is ready later than its turn: it has only one thread's part.
 */
#ifndef PLAYER_PLAN_H
#define PLAYER_PLAN_H

#include "learnt.h"
#include "outlook.h"
#include "plan_limits.h"
#include "window.h"

#include <stdbool.h>

struct plan_terms {
    int64_t tolerance_ns; /* pictures may be so late */
    bool fewest;          /* lose as few pictures as possible; otherwise large ones count more, because losing them is seen more */
    bool may_degrade;
    bool degrades_to_key; /* all packets before the next key picture are degraded, after PLAN_DEGRADED_TO_KEY */
    struct window window; /* of losses; y 0: there is none. Degraded pictures are not lost */
    int64_t window_tolerance_ns; /* pictures may be so late if a window would be broken otherwise; at least tolerance_ns */
};

/* What to do with a packet. */
enum plan_step {
    PLAN_WHOLE,
    PLAN_DEGRADED,        /* only droppable ones */
    PLAN_DEGRADED_TO_KEY, /* with all packets before the next key picture */
    PLAN_REFUSED,         /* only droppable ones */
};

/*
 * Returns what to do with the first packet of the outlook. A picture that is one too many for the window is given up only if
 * nothing else makes up for it: such a loss is still better than references that are later and later.
 */
enum plan_step plan_first(const struct outlook *outlook, const struct learnt *learnt, const struct plan_terms *terms);

#endif
