/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lower bound of the drops of every schedule (schedule.h) with the same film, queue, tolerance and supply.
 *
 * Look at a stretch of packets in decode order. From the time s, its first picture may be drawn. At the time e, its last one
 * must be on the screen. This holds for every schedule:
 * - Before s, no picture of the stretch has left the queue. So at most M of its pictures have been decoded or begun: a full
 *   queue, those that the decoder holds back, and one in each thread. Packets are decoded in order. So if d pictures of the
 *   stretch are dropped, these M are among its first M + d packets.
 * - All other decodes for shown pictures of the stretch, and all its presenting, take place from s to e. In that time there is
 *   at most the CPU time that cpu_supply_at_most returns. On a whole machine (fair_share.h) presenting counts as nothing, and there is
 *   at most what the codec threads get while all of them can run.
 * - A dropped picture saves at most its decode and its presenting, its full cost. Some save less. A droppable one costs the
 *   refusal. A reference saves only its presenting, unless the player skips to the next key picture: then everything up to
 *   there is dropped. Leading pictures (shown before the key picture that they follow) may be dropped by a skip to that key
 *   picture, so all of them count with their full cost. So does everything behind some packet up to the end of the stretch,
 *   because it may be decoded after e.
 * So the least d with work - savings(d) - (the M greatest decodes of the first M + d) <= CPU time is a bound for the stretch.
 * Bounds of stretches without a common packet add up. The result is the best sum that was found: a stretch may end at a hundred
 * places of the film only.
 */
#ifndef DROP_BOUND_H
#define DROP_BOUND_H

#include "playing.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether there is a bound. The clock must start at the same time in all schedules. It does if the head start needs only
 * packets that no schedule gives up (PACKETS_KEPT).
 */
bool drop_bound_exists(const struct playing_setting *setting);

/*
 * clock_start_ns: virtual time at which PTS 0 is due. at_most: drops of a schedule that exists. Returns a number from 0 to at_most, or -ENOMEM.
 */
int drop_bound(const struct playing_setting *setting, int64_t clock_start_ns, int at_most);

/* Returns a lower bound of the sum of RMSE when so many pictures are dropped: that of the pictures that lose least. */
double rmse_bound_q16(const struct sim_film *film, int drops);

#endif
