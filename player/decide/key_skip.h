/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether to stop decoding until the next key picture, because carrying on would show less. Pure.
 *
 * Losses are in units of the RMSE of repeating a picture once. Repeating it for the z-th time loses z^0.65: the RMSE of
 * repeats was seen to grow like this.
 */
#ifndef PLAYER_KEY_SKIP_H
#define PLAYER_KEY_SKIP_H

#include "learnt.h"
#include "outlook.h"

#include <stdbool.h>
#include <stdint.h>

/* A skip never lasts longer than this. */
#define KEY_SKIP_MAX_NS INT64_C(3000000000)

struct key_skip_settings {
    int64_t late_ns;      /* reference pictures later than this are not presented */
    double lateness_loss; /* loss of such a picture for each frame duration of its lateness */
};

/*
 * Returns whether skipping from the first packet of the outlook to the next key picture loses at most what going on
 * without the droppable pictures loses. False if no key picture is ahead, or if it is too far away.
 */
bool key_skip_pays(const struct outlook *outlook, const struct learnt *learnt, const struct key_skip_settings *settings);

#endif
