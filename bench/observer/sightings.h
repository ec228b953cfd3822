/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which picture of a clip was first seen whole when, from the changes of the screen. Pure. */
#ifndef OBSERVER_SIGHTINGS_H
#define OBSERVER_SIGHTINGS_H

#include "screen_watch.h"

#include <stddef.h>
#include <stdint.h>

struct sightings_clip {
    int64_t count;         /* pictures in all */
    int64_t first;         /* the one that playing is to begin with */
    int64_t played;        /* so many from there on are to be played */
    int64_t torn_after_ns; /* a picture that is drawn in less time than that is whole */
};

struct sightings {
    int64_t *first_ns; /* of each picture of the clip, or FIELD_EMPTY: never seen whole */
    int64_t count;
    int64_t shown;     /* pictures that were seen whole */
    int64_t only_torn; /* pictures to be played of which only a part was ever seen */
    int64_t torn;      /* these, and pictures that stood in part beside another for more than torn_after_ns */
    int64_t torn_ns;   /* how long two stood on the screen at once, in all */
    int64_t returned;  /* how often a picture earlier than the one before it came up */
};

/*
 * A picture is shown at the first look at which its number stands on top and at the bottom. Numbers begin anew after
 * STAMP_NUMBERS pictures; the nearest picture to the one seen last is meant, and to the first before any was. Numbers
 * outside the clip are another clip's and count for nothing.
 *
 * Drawing a picture over the one before takes a server some ms, in which both stand there: nearly every picture is seen
 * so by an observer that looks often enough. That tears the picture that comes, not the one that had stood whole, and
 * only if it stays so, or if the next one comes before it ever is whole. What counts is the time between looks that saw
 * it: an observer that came late tears nothing.
 *
 * Returns 0 or -ENOMEM; sightings_finish accepts zeros.
 */
int sightings_of(struct sightings *sightings, const struct screen_change *change, size_t change_count,
                 const struct sightings_clip *clip);
void sightings_finish(struct sightings *sightings);

#endif
