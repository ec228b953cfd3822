/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the packets ahead can be decoded in time with no window (window.h) broken. Pure.
 *
 * The plan gives up the picture whose loss is least for the time that it saves. With a window this may be the wrong one: a
 * later picture in the same window would have saved more, and is then one too many. So where the plan breaks the window, this
 * looks for another choice: packet by packet, from each state that may matter, it decodes the picture or gives it up.
 * A state is the time, and the last x losses. One whose time is not later than another's, with none of these losses later, is
 * as good for all that follows, so the other one is left out. Among too many states those with the earliest times are kept. If all
 * pictures cost the same, the state with the earliest time has the most losses up to each place that windows allow, so nothing
 * is missed.
 */
#ifndef PLAYER_WINDOW_SEARCH_H
#define PLAYER_WINDOW_SEARCH_H

#include "learnt.h"
#include "outlook.h"
#include "plan_windows.h"

#include <stdbool.h>
#include <stdint.h>

struct window_search {
    const struct outlook *outlook;
    const struct learnt *learnt;
    const struct plan_windows *windows; /* what the plan has lost in them does not count */
    const double *costs_ns;             /* of decoding each packet: CPU time */
    int64_t tolerance_ns;               /* pictures may be so late */
    int count;                          /* of packets to look at */
};

/* Returns whether there is such a choice in which the first packet is given up, or decoded. The first packet is droppable. */
bool window_search_finds(const struct window_search *search, bool refuses_first);

#endif
