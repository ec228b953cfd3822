/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sightings.h"

#include "frame_record.h"
#include "stamp.h"

#include <errno.h>
#include <stdlib.h>

/* Whether and how long a picture was seen beside another. */
struct part {
    bool seen;
    int64_t stood_ns; /* time on the screen while it was not yet the picture seen last */
};

struct reading {
    struct sightings *sightings;
    struct part *part; /* of each picture */
    int64_t last;      /* the picture seen last */
};

/* Returns the picture with this number that is nearest to the one seen last, or -1. */
static int64_t picture_of(const struct reading *reading, int number)
{
    if (number == STAMP_NONE)
        return -1;
    const int64_t turn = reading->last / STAMP_NUMBERS * STAMP_NUMBERS;
    int64_t picture = turn + number;
    if (picture - reading->last > STAMP_NUMBERS / 2)
        picture -= STAMP_NUMBERS;
    else if (reading->last - picture > STAMP_NUMBERS / 2)
        picture += STAMP_NUMBERS;
    return picture >= 0 && picture < reading->sightings->count ? picture : -1;
}

static void note_whole(struct reading *reading, int64_t picture, int64_t time_ns)
{
    struct sightings *const sightings = reading->sightings;
    if (sightings->shown && picture < reading->last)
        sightings->returned++;
    reading->last = picture;
    if (sightings->first_ns[picture] != FIELD_EMPTY)
        return;
    sightings->first_ns[picture] = time_ns;
    sightings->shown++;
}

static void note_part(struct reading *reading, int64_t picture, int64_t stood_ns)
{
    if (picture < 0)
        return;
    reading->part[picture].seen = true;
    if (!reading->sightings->shown || picture != reading->last)
        reading->part[picture].stood_ns += stood_ns;
}

static void read_change(struct reading *reading, const struct screen_change *seen, int64_t until_ns)
{
    const int64_t top = picture_of(reading, seen->top);
    const int64_t bottom = picture_of(reading, seen->bottom);
    if (top >= 0 && top == bottom)
        note_whole(reading, top, seen->time_ns);
    if (!is_torn(seen))
        return;
    reading->sightings->torn_ns += until_ns - seen->time_ns;
    note_part(reading, top, seen->last_ns - seen->time_ns);
    note_part(reading, bottom, seen->last_ns - seen->time_ns);
}

/* Counts only pictures that are to be played. A player that begins early or ends late may tear the others. */
static void count_torn(const struct reading *reading, const struct sightings_clip *clip)
{
    struct sightings *const sightings = reading->sightings;
    for (int64_t i = clip->first; i < clip->first + clip->played; i++) {
        const struct part *const part = &reading->part[i];
        const bool only_torn = part->seen && sightings->first_ns[i] == FIELD_EMPTY;
        sightings->only_torn += only_torn;
        sightings->torn += only_torn || part->stood_ns > clip->torn_after_ns;
    }
}

int sightings_of(struct sightings *sightings, const struct screen_change *change, size_t change_count,
                 const struct sightings_clip *clip)
{
    *sightings = (struct sightings){.count = clip->count};
    struct reading reading = {.sightings = sightings, .last = clip->first};
    sightings->first_ns = malloc((size_t)(clip->count + 1) * sizeof *sightings->first_ns);
    reading.part = calloc((size_t)clip->count + 1, sizeof *reading.part);
    const int ret = sightings->first_ns && reading.part ? 0 : -ENOMEM;
    for (int64_t i = 0; i < clip->count && !ret; i++)
        sightings->first_ns[i] = FIELD_EMPTY;
    for (size_t i = 0; i < change_count && !ret; i++)
        read_change(&reading, &change[i], change[i + 1 < change_count ? i + 1 : i].time_ns);
    if (!ret)
        count_torn(&reading, clip);
    else
        sightings_finish(sightings);
    free(reading.part);
    return ret;
}

void sightings_finish(struct sightings *sightings)
{
    free(sightings->first_ns);
    *sightings = (struct sightings){0};
}
