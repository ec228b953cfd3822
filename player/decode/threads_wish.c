/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "threads_wish.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int threads_wish_parse(struct threads_wish *wish, const char *text)
{
    if (!strcmp(text, "auto")) {
        wish->count = 0;
        return 0;
    }
    char *end;
    const long count = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    if (count < 1 || count > CODEC_THREADS_MAX || *end)
        return -EINVAL;
    wish->count = (int)count;
    return 0;
}

const char *threads_wish_text(const struct threads_wish *wish, char text[THREADS_WISH_TEXT_SIZE])
{
    snprintf(text, THREADS_WISH_TEXT_SIZE, wish->count ? "%d" : "auto", wish->count);
    return text;
}

const char *threads_wish_refusal(const struct threads_wish *wish, const struct threads_place *place)
{
    if (wish->count <= 1)
        return NULL;
    if (place->is_serial)
        return "does not go with --queue=0, where one thread decodes and presents";
    if (place->has_reservation)
        return "does not go with --sched=deadline, because a reservation holds one thread";
    return NULL;
}

static int at_most_max(double count)
{
    return (int)fmin(fmax(count, 1), CODEC_THREADS_MAX);
}

static int one_more(const struct threads_place *place)
{
    return at_most_max(place->cpus > 1 ? place->cpus + 1 : 1);
}

int threads_wish_most(int64_t thread_room)
{
    if (thread_room == INT64_MAX)
        return 0;
    return at_most_max((double)(thread_room - THREADS_BESIDE_CODEC));
}

static int auto_count(const struct threads_place *place)
{
    if (place->is_serial || place->has_reservation)
        return 1;
    if (place->quota_cpus < place->cpus)
        return at_most_max(ceil(place->quota_cpus));
    return place->is_placed || place->cpus == 1 ? one_more(place) : at_most_max(2.0 * place->cpus + 3);
}

int threads_wish_count(const struct threads_wish *wish, const struct threads_place *place)
{
    const int count = wish->count ? wish->count : auto_count(place);
    return !wish->count && place->most && place->most < count ? place->most : count;
}

int threads_wish_fit(const struct threads_wish *wish, const struct threads_place *place, int64_t pictures)
{
    const int count = threads_wish_count(wish, place);
    const int least = one_more(place);
    if (wish->count || count <= least)
        return count;
    const int64_t fitting = pictures / 4 < count ? pictures / 4 : count;
    const int odd = (int)fitting - (fitting % 2 == 0);
    return odd > least ? odd : least;
}
