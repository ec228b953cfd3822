/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rule plan: looks at the packets ahead, and refuses a droppable picture now if a later one would be late otherwise and
 * this is the cheapest one to lose. Pure.
 *
 * The packets ahead are scheduled one after the other, each for its expected cost at the rate of CPU time that playing
 * gets. Whenever one would end after the first picture that waits for it is due, the droppable picture before it whose
 * loss is least for the time that it saves is given up. This is Moore and Hodgson's algorithm for the least number of
 * late jobs, with weights.
 *
 * With codec threads the rate is that of all, and a picture is ready later than its turn: it has only one thread's part.
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

struct plan_aim {
    int64_t tolerance_ns; /* pictures may be so late */
    bool fewest;          /* lose as few pictures as possible; otherwise large ones count more, because losing them is seen more */
};

/* Returns whether to refuse the first packet of the outlook, which must be droppable. */
bool plan_refuses(const struct outlook *outlook, const struct learnt *learnt, const struct plan_aim *aim);

#endif
