/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drop_bound.h"

#include "schedule.h"
#include "sim_presenter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENDS_TRIED = 100 };

struct bounding {
    const struct playing_setting *setting;
    int64_t clock_start_ns;
    int at_most;       /* no stretch is asked for more drops */
    int ready;         /* M of the header */
    double *sorted;    /* scratch, for as many values as there are packets */
    double *group;     /* savings of one group of pictures by its drops, 0 to at_most */
    double *before;    /* savings of the groups before it */
    double *together;  /* of both */
    bool *leads;       /* [packet]: its picture is shown before the key picture that it follows */
};

/* On a whole machine the presenter has a CPU for itself while it works, so the codec threads have no more than their part. */
static int64_t presenting_ns(const struct playing_setting *setting)
{
    return setting->machine.cpus > 0 ? 0 : setting->draw_cpu_ns + setting->flip_cpu_ns;
}

/* Inserts a value into an array in descending order. */
static void insert(double *sorted, int count, double value)
{
    int at = count;
    for (; at > 0 && sorted[at - 1] < value; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = value;
}

/* The most that dropping the picture saves if the pictures behind it are not dropped. */
static double saved_alone_ns(const struct bounding *bounding, int packet)
{
    const struct playing_setting *const setting = bounding->setting;
    const double presenting = (double)presenting_ns(setting);
    if (bounding->leads[packet])
        return (double)setting->cost_ns[packet] + presenting;
    if (setting->film->packets[packet].picture_class != CLASS_DROPPABLE)
        return presenting;
    return fmax(0, (double)setting->cost_ns[packet] + presenting - (double)setting->lesser.refusing_ns);
}

static double cost_between_ns(const struct playing_setting *setting, int from, int end)
{
    double sum_ns = 0;
    for (int packet = from; packet < end; packet++)
        sum_ns += (double)(setting->cost_ns[packet] + presenting_ns(setting));
    return sum_ns;
}

/* The group's packets behind `skip` are dropped at their full cost, and before it those that save most. */
static void note_skip(struct bounding *bounding, int from, int skip, int end, double skipped_ns)
{
    double saved_ns = skipped_ns;
    for (int drops = end - skip; drops <= bounding->at_most; drops++) {
        bounding->group[drops] = fmax(bounding->group[drops], saved_ns);
        const int alone = drops - (end - skip);
        if (alone < skip - from)
            saved_ns += bounding->sorted[alone];
    }
}

/* Fills in bounding->group for packets without a key picture behind the first. */
static void save_in_group(struct bounding *bounding, int from, int end)
{
    const struct playing_setting *const setting = bounding->setting;
    memset(bounding->group, 0, ((size_t)bounding->at_most + 1) * sizeof *bounding->group);
    double skipped_ns = cost_between_ns(setting, from, end);
    for (int skip = from; skip <= end; skip++) {
        note_skip(bounding, from, skip, end, skipped_ns);
        if (skip == end)
            return;
        insert(bounding->sorted, skip - from, saved_alone_ns(bounding, skip));
        skipped_ns -= (double)(setting->cost_ns[skip] + presenting_ns(setting));
    }
}

/* Fills in bounding->together: the most that drops in the groups before and in this one save. */
static void join_group(struct bounding *bounding, int size)
{
    for (int drops = 0; drops <= bounding->at_most; drops++) {
        double best_ns = 0;
        for (int here = 0; here <= size && here <= drops; here++)
            best_ns = fmax(best_ns, bounding->group[here] + bounding->before[drops - here]);
        bounding->together[drops] = best_ns;
    }
}

/* The greatest decodes among some packets, at most `ready` of them. */
struct ready {
    double *sorted; /* descending */
    int count;
    double sum_ns;
};

static void add_ready(struct ready *ready, double cost_ns, int most)
{
    if (ready->count == most) {
        if (cost_ns <= ready->sorted[most - 1])
            return;
        ready->sum_ns -= ready->sorted[--ready->count];
    }
    insert(ready->sorted, ready->count++, cost_ns);
    ready->sum_ns += cost_ns;
}

static double cpu_time_ns(const struct bounding *bounding, int from, int end)
{
    const struct playing_setting *const setting = bounding->setting;
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    for (int packet = from; packet < end; packet++) {
        const int64_t due_ns = setting->film->packets[packet].due_ns;
        first_ns = due_ns < first_ns ? due_ns : first_ns;
        last_ns = due_ns > last_ns ? due_ns : last_ns;
    }
    const int64_t begin_ns = bounding->clock_start_ns + first_ns - (setting->queue ? setting->draw_ahead_ns : 0);
    const int64_t end_ns = bounding->clock_start_ns + last_ns + setting->tolerance_ns;
    if (setting->machine.cpus > 0)
        return fair_part(&setting->machine, setting->threads, false) * setting->threads * (double)(end_ns - begin_ns);
    double sum_ns = (double)cpu_supply_at_most(&setting->decoding, begin_ns > 0 ? begin_ns : 0, end_ns);
    if (setting->presents_apart)
        sum_ns += (double)cpu_supply_at_most(&setting->presenting, begin_ns > 0 ? begin_ns : 0, end_ns);
    return sum_ns;
}

/* bounding->together must hold the savings of this stretch. */
static int bound_of_stretch(const struct bounding *bounding, int from, int end)
{
    const struct playing_setting *const setting = bounding->setting;
    const double missing_ns = cost_between_ns(setting, from, end) - cpu_time_ns(bounding, from, end);
    struct ready ready = {.sorted = bounding->sorted};
    int packet = from;
    int drops = 0;
    for (;; drops++) {
        for (; packet < end && packet < from + bounding->ready + drops; packet++)
            add_ready(&ready, (double)setting->cost_ns[packet], bounding->ready);
        if (drops == bounding->at_most || missing_ns - bounding->together[drops] - ready.sum_ns <= 0)
            return drops;
    }
}

static int next_key_or(const struct sim_film *film, int packet, int end)
{
    do
        packet++;
    while (packet < end && film->packets[packet].picture_class != CLASS_KEY);
    return packet < end ? packet : end;
}

/* Improves best[] at all ends behind `from`, which is the end of the stretches before. */
static void try_stretches_from(struct bounding *bounding, int from, int stride, int *best)
{
    const struct sim_film *const film = bounding->setting->film;
    memset(bounding->before, 0, ((size_t)bounding->at_most + 1) * sizeof *bounding->before);
    int group = from;
    for (int end = from + stride; end <= film->count; end += stride) {
        for (int key = next_key_or(film, group, end); key < end; key = next_key_or(film, group, end)) {
            save_in_group(bounding, group, key);
            join_group(bounding, key - group);
            memcpy(bounding->before, bounding->together, ((size_t)bounding->at_most + 1) * sizeof *bounding->before);
            group = key;
        }
        save_in_group(bounding, group, end);
        join_group(bounding, end - group);
        const int drops = best[from] + bound_of_stretch(bounding, from, end);
        best[end] = drops > best[end] ? drops : best[end];
    }
}

static int best_sum(struct bounding *bounding, int *best)
{
    const int count = bounding->setting->film->count;
    const int stride = count / ENDS_TRIED > 1 ? count / ENDS_TRIED : 1;
    for (int from = 0; from < count; from += stride) {
        if (from > 0 && best[from - stride] > best[from])
            best[from] = best[from - stride];
        try_stretches_from(bounding, from, stride, best);
    }
    int most = 0;
    for (int end = 0; end <= count; end++)
        most = best[end] > most ? best[end] : most;
    return most < bounding->at_most ? most : bounding->at_most;
}

static int ready_pictures(const struct playing_setting *setting)
{
    return setting->film->delay + (setting->machine.cpus > 0 ? setting->threads : 1) + (int)sim_queue_limit(setting);
}

static void find_leading(const struct sim_film *film, bool *leads)
{
    int64_t key_ns = INT64_MIN;
    for (int packet = 0; packet < film->count; packet++) {
        if (film->packets[packet].picture_class == CLASS_KEY)
            key_ns = film->packets[packet].due_ns;
        leads[packet] = film->packets[packet].due_ns < key_ns;
    }
}

bool drop_bound_exists(const struct playing_setting *setting)
{
    const int64_t full = sim_queue_limit(setting) + 1; /* ends the head start too */
    const int64_t pictures = setting->head_start < full ? setting->head_start : full;
    const int beside = setting->threads > 1 ? setting->threads - 1 : 0;
    return pictures + setting->film->delay + beside <= PACKETS_KEPT;
}

int drop_bound(const struct playing_setting *setting, int64_t clock_start_ns, int at_most)
{
    const size_t count = (size_t)setting->film->count + 1;
    const size_t drops = (size_t)at_most + 1;
    double *const memory = malloc((count + 3 * drops) * sizeof *memory);
    int *const best = calloc(count, sizeof *best);
    bool *const leads = calloc(count, sizeof *leads);
    struct bounding bounding = {setting, clock_start_ns, at_most, ready_pictures(setting), memory, memory + count,
                                memory + count + drops, memory + count + 2 * drops, leads};
    int ret = -ENOMEM;
    if (memory && best && leads) {
        find_leading(setting->film, leads);
        ret = best_sum(&bounding, best);
    }
    free(leads);
    free(memory);
    free(best);
    return ret;
}

static int compare_errors(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double rmse_bound_q16(const struct sim_film *film, int drops)
{
    double *const errors = malloc((size_t)film->count * sizeof *errors);
    double sum = 0;
    for (int place = 0; errors && place < film->count; place++) {
        errors[place] = place > 0 ? INFINITY : 0;
        for (int shown = place - 1; shown >= 0 && shown >= place - TRACE_REPEATS; shown--)
            errors[place] = fmin(errors[place], sim_film_rmse_q16(film, place, shown));
    }
    if (errors)
        qsort(errors, (size_t)film->count, sizeof *errors, compare_errors);
    for (int i = 0; errors && i < drops && i < film->count; i++)
        sum += errors[i];
    free(errors);
    return sum;
}
