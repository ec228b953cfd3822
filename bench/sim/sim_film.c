/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim_film.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const double rmse_of_black_q16 = 20000;

static int compare_by_pts(const void *a, const void *b, void *packets)
{
    const struct upcoming *const upcoming = packets;
    const int64_t x = upcoming[*(const int *)a].due_ns;
    const int64_t y = upcoming[*(const int *)b].due_ns;
    return (x > y) - (x < y);
}

/* As in the player (look_ahead_class in player/decode/look_ahead.c). */
static enum picture_class class_of(const struct trace_packet *packet, int64_t before_ns)
{
    if (packet->key)
        return CLASS_KEY;
    if (packet->droppable)
        return CLASS_DROPPABLE;
    return packet->pts_ns < before_ns ? CLASS_REFERENCE_B : CLASS_REFERENCE;
}

static void take_packets(struct sim_film *film)
{
    for (int i = 0; i < film->count; i++) {
        const struct trace_packet *const packet = &film->trace->packets[i];
        film->packets[i] = (struct upcoming){
            .due_ns = packet->pts_ns,
            .size_bytes = packet->size_bytes,
            .picture_class = class_of(packet, i > 0 ? packet[-1].pts_ns : packet->pts_ns),
        };
        film->cost_ns[i] = packet->decode_cpu_ns;
        film->packet_at[i] = i;
    }
}

static void put_in_order(struct sim_film *film)
{
    qsort_r(film->packet_at, (size_t)film->count, sizeof *film->packet_at, compare_by_pts, film->packets);
    for (int place = 0; place < film->count; place++)
        film->place_of[film->packet_at[place]] = place;
    const int64_t first_ns = sim_film_pts_ns(film, 0);
    for (int i = 0; i < film->count; i++)
        film->packets[i].due_ns -= first_ns;
    film->frame_duration_ns = sim_film_pts_ns(film, film->count - 1) / (film->count - 1);
}

/*
 * A decoder must hold back as many pictures as the most that are decoded before a picture and presented after it. The
 * libavcodec of the player holds back the same number: has_b_frames was it in all clips that were tried. Returns
 * SIM_DELAY_MAX + 1 if it is more than the maximum.
 */
static int delay_of(const struct sim_film *film)
{
    int last[SIM_DELAY_MAX + 1]; /* the last places so far, the last one first; more are not needed */
    int count = 0;
    int delay = 0;
    for (int i = 0; i < film->count; i++) {
        int before = 0;
        while (before < count && last[before] > film->place_of[i])
            before++;
        delay = before > delay ? before : delay;
        if (before > SIM_DELAY_MAX)
            continue;
        count += count <= SIM_DELAY_MAX;
        for (int at = count - 1; at > before; at--)
            last[at] = last[at - 1];
        last[before] = film->place_of[i];
    }
    return delay;
}

/* Returns whether the error of a repeat is known wherever there is an earlier picture. */
static bool has_errors(const struct sim_film *film)
{
    for (int place = 0; place < film->count; place++)
        for (int repeats = 1; repeats <= TRACE_REPEATS && repeats <= place; repeats++)
            if (isnan(film->trace->packets[film->packet_at[place]].repeat_rmse_q16[repeats - 1]))
                return false;
    return true;
}

int sim_film_init(struct sim_film *film, const struct decode_trace *trace)
{
    const size_t count = (size_t)trace->count;
    *film = (struct sim_film){
        .count = (int)trace->count,
        .packets = malloc(count * sizeof *film->packets),
        .place_of = malloc(count * sizeof *film->place_of),
        .packet_at = malloc(count * sizeof *film->packet_at),
        .cost_ns = malloc(count * sizeof *film->cost_ns),
        .trace = trace,
    };
    int ret = film->packets && film->place_of && film->packet_at && film->cost_ns ? 0 : -ENOMEM;
    if (!ret) {
        take_packets(film);
        put_in_order(film);
        film->delay = delay_of(film);
        ret = film->delay > SIM_DELAY_MAX ? -EINVAL : has_errors(film) ? 0 : -ENODATA;
    }
    if (ret)
        sim_film_finish(film);
    return ret;
}

void sim_film_finish(struct sim_film *film)
{
    free(film->packets);
    free(film->place_of);
    free(film->packet_at);
    free(film->cost_ns);
    *film = (struct sim_film){0};
}

double sim_film_mean_cost_ns(const struct sim_film *film)
{
    double sum_ns = 0;
    for (int i = 0; i < film->count; i++)
        sum_ns += (double)film->cost_ns[i];
    return sum_ns / film->count;
}

int sim_film_reference(const struct sim_film *film, int packet)
{
    if (film->packets[packet].picture_class == CLASS_KEY)
        return -1;
    int reference = packet - 1;
    while (reference >= 0 && film->packets[reference].picture_class == CLASS_DROPPABLE)
        reference--;
    return reference;
}

int64_t sim_film_pts_ns(const struct sim_film *film, int place)
{
    return film->packets[film->packet_at[place]].due_ns;
}

double sim_film_rmse_q16(const struct sim_film *film, int place, int shown)
{
    const double *const errors = film->trace->packets[film->packet_at[place]].repeat_rmse_q16;
    const int repeats = place - shown;
    if (shown < 0)
        return rmse_of_black_q16;
    const int known = repeats < TRACE_REPEATS ? repeats : TRACE_REPEATS;
    return errors[known - 1] * sqrt((double)repeats / known);
}
