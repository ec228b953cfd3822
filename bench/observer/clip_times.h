/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time stamps of all pictures of a clip, read from its packets. The n-th one belongs to the picture stamped n. */
#ifndef OBSERVER_CLIP_TIMES_H
#define OBSERVER_CLIP_TIMES_H

#include "clip.h"

#include <stddef.h>
#include <stdint.h>

struct clip_times {
    int64_t *pts_ns; /* in presentation order */
    int64_t count;
};

/*
 * Reads the clip to its end. Returns 0, or a negative code with the cause in why, as a clause ("it has no pictures").
 * clip_times_finish accepts zeros.
 */
int clip_times_read(struct clip_times *times, struct clip *clip, char *why, size_t why_size);
void clip_times_finish(struct clip_times *times);

#endif
