/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rule plan: looks at the packets ahead, and refuses a droppable picture now if a later one would be late otherwise and
 * this is the cheapest one to lose. Pure.
 *
 * The packets ahead are scheduled one after the other, each for its expected cost at the rate of CPU time that playing
 * gets. Whenever one would end after the first picture that waits for it is due, the droppable picture before it whose
 * loss is least for the time that it saves is given up. This is Moore and Hodgson's algorithm for the least number of
 * late jobs, with weights. If that breaks a window, another choice is looked for (window_search.h).
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

struct plan_aim {
    int64_t tolerance_ns; /* pictures may be so late */
    bool fewest;          /* lose as few pictures as possible; otherwise large ones count more, because losing them is seen more */
    struct window window; /* of losses; y 0: there is none */
    int64_t window_tolerance_ns; /* pictures may be so late if a window would be broken otherwise; at least tolerance_ns */
};

/*
 * Returns whether to refuse the first packet of the outlook, which must be droppable. A picture that is one too many for the
 * window is given up only if nothing else makes up for it: such a loss is still better than references that are later and later.
 */
bool plan_refuses(const struct outlook *outlook, const struct learnt *learnt, const struct plan_aim *aim);

#endif
