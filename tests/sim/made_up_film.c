/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "made_up_film.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_MAX = 512 };

/* The pattern follows each key picture so many times. */
static const char *groups_of(int count, int times, const char *pattern)
{
    static char types[TYPES_MAX];
    char *at = types;
    for (int group = 0; group < count; group++) {
        *at++ = 'I';
        for (int i = 0; i < times; i++)
            at = stpcpy(at, pattern);
    }
    *at = '\0';
    return types;
}

const char *made_up_groups(int count, int pairs)
{
    return groups_of(count, pairs, "Pb");
}

const char *made_up_references(int count, int references)
{
    return groups_of(count, references, "P");
}

static struct trace_packet packet_at(const char *types, int i, int place, int64_t cost_ns)
{
    struct trace_packet packet = {
        .pts_ns = 7 * FRAME_NS + place * FRAME_NS, /* films need not begin at 0 */
        .size_bytes = 1000,
        .key = types[i] == 'I',
        .droppable = types[i] == 'b',
        .decode_cpu_ns = cost_ns,
    };
    for (int back = 1; back <= TRACE_REPEATS; back++)
        packet.repeat_rmse_q16[back - 1] = back > place ? NAN : 100.0 * back;
    return packet;
}

void made_up_film_init(struct made_up_film *made, const char *types, int64_t cost_ns)
{
    const int count = (int)strlen(types);
    made->trace = (struct decode_trace){malloc((size_t)count * sizeof *made->trace.packets), count};
    ck_assert_ptr_nonnull(made->trace.packets);
    for (int i = 0; i < count; i++) {
        const int place = types[i] == 'b' ? i - 1 : types[i + 1] == 'b' ? i + 1 : i;
        made->trace.packets[i] = packet_at(types, i, place, cost_ns);
    }
    ck_assert_int_eq(sim_film_init(&made->film, &made->trace), 0);
}

void made_up_film_finish(struct made_up_film *made)
{
    sim_film_finish(&made->film);
    decode_trace_finish(&made->trace);
}

struct playing_setting made_up_setting(const struct made_up_film *made, const struct cpu_supply *supply)
{
    return (struct playing_setting){
        .film = &made->film,
        .cost_ns = made->film.cost_ns,
        .lesser = {.refusing_ns = MS / 10},
        .policy = {.drop = DROP_NONE, .base_ns = -1, .gain = -1},
        .tolerance_ns = -1,
        .head_start = 1,
        .head_start_max_ns = 300 * MS,
        .draw_ahead_ns = 20 * MS,
        .draw_cpu_ns = 2 * MS,
        .flip_cpu_ns = 1 * MS,
        .decoding = *supply,
    };
}
