/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The presenter of playing.h, as far as it needs no CPU time: what it does next, and when. playing.c gives it the time for
 * its work. It is modelled after player/present/presenter.c.
 */
#ifndef SIM_PRESENTER_H
#define SIM_PRESENTER_H

#include "playing.h"

#include <stdbool.h>
#include <stdint.h>

/* Lets the presenter do all that it can do without CPU time. Returns when it next wakes up by itself; INT64_MAX: never. */
int64_t sim_presenter_settle(struct playing *playing);

/* Returns whether it wants CPU time: work_ns. When that is 0, it has finished its work, and sim_presenter_settle goes on. */
bool sim_presenter_works(const struct playing *playing);

/* Returns how many pictures can wait when the queue is full; 0: there is no queue. */
int64_t sim_queue_limit(const struct playing_setting *setting);

/* Returns whether the decoder has to wait. */
bool sim_queue_is_full(const struct playing *playing);

#endif
