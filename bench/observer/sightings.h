/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds when each picture of a clip was first seen whole, from the changes of the screen. Pure. */
#ifndef OBSERVER_SIGHTINGS_H
#define OBSERVER_SIGHTINGS_H

#include "screen_watch.h"

#include <stddef.h>
#include <stdint.h>

struct sightings_clip {
    int64_t count;         /* pictures in all */
    int64_t first;         /* the first picture to be played */
    int64_t played;        /* how many pictures from there on are to be played */
    int64_t torn_after_ns; /* a picture that is drawn in less time than this is whole */
};

struct sightings {
    int64_t *first_ns; /* of each picture of the clip, or FIELD_EMPTY: never seen whole */
    int64_t count;
    int64_t shown;     /* pictures that were seen whole */
    int64_t only_torn; /* pictures to be played that were only ever seen in part */
    int64_t torn;      /* these, and pictures that were seen in part beside another for more than torn_after_ns */
    int64_t torn_ns;   /* total time in which two pictures were on the screen at once */
    int64_t returned;  /* how often a picture came up that is earlier than the one before it */
};

/*
 * A picture is shown at the first look that finds its number both at the top and at the bottom. Numbers begin again
 * after STAMP_NUMBERS pictures. So a number means the picture nearest to the one seen last; before any picture was
 * seen, it means the one nearest to the first. Numbers outside the clip belong to another clip and are ignored.
 *
 * A server takes some ms to draw a picture over the one before. Both are on the screen during that time, and an
 * observer that looks often enough sees this for nearly every picture. Only the new picture can be torn by this, not
 * the one that had been whole. It counts as torn only if it stays so, or if the next picture comes before it is ever
 * whole. What counts is the time between looks that saw it: a look that comes late does not make a picture torn.
 *
 * Returns 0 or -ENOMEM; sightings_finish accepts zeros.
 */
int sightings_of(struct sightings *sightings, const struct screen_change *change, size_t change_count,
                 const struct sightings_clip *clip);
void sightings_finish(struct sightings *sightings);

#endif
