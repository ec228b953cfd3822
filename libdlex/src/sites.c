/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The call sites that measure, and what was measured. Nothing here knows how a block opens or closes. */
#include <string.h>
#include <unistd.h>

#include "sites.h"

/* All sites entered so far, the newest first. The first thread to enter a site adds it, any thread
 * reads the list; no site is ever removed. */
static struct dlex_measure_ *first_site;

/* The process that entered a call site first; a forked child has another id. 0: no process did. */
static int first_process;

static struct samples *samples_of(const struct dlex_measure_ *site)
{
    return (struct samples *)site->samples;
}

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void note_process(void)
{
    int nobody = 0;
    __atomic_compare_exchange_n(&first_process, &nobody, (int)getpid(), 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

int dlex_sites_process(void)
{
    return __atomic_load_n(&first_process, __ATOMIC_RELAXED);
}

/* A function of its own, so that entering a linked site stays short. */
__attribute__((noinline)) static void add(struct dlex_measure_ *site)
{
    if (__atomic_exchange_n(&site->linked, 1, __ATOMIC_RELAXED))
        return;
    note_process();
    site->next = __atomic_load_n(&first_site, __ATOMIC_RELAXED);
    /* Release: the reader's acquire in dlex_sites_next then sees next. */
    while (!__atomic_compare_exchange_n(&first_site, &site->next, site, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

/* Records the constraint that the body would have had from now on. */
static void note_given(struct samples *samples, int64_t given_ns)
{
    if (given_ns == INT64_MAX)
        return;
    const uint64_t given = given_ns > 0 ? (uint64_t)given_ns : 0;
    dlex_histogram_raise(&samples->most_ns, given);
    dlex_histogram_raise(&samples->not_least_ns, ~given);
}

void dlex_site_enter(struct dlex_measure_ *site, int64_t given_ns)
{
    struct samples *const samples = samples_of(site);
    if (!__atomic_load_n(&site->linked, __ATOMIC_RELAXED))
        add(site);
    count(&samples->entered);
    note_given(samples, given_ns);
}

void dlex_site_left(const struct dlex_measure_ *site)
{
    count(&samples_of(site)->left);
}

void dlex_site_ended(const struct dlex_measure_ *site, bool missed, int64_t wall_ns, int64_t cpu_ns)
{
    struct samples *const samples = samples_of(site);
    if (missed)
        count(&samples->missed);
    dlex_histogram_add(&samples->wall, wall_ns);
    dlex_histogram_add(&samples->cpu, cpu_ns);
}

static void clear(uint64_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
}

static void clear_samples(struct samples *samples)
{
    clear(&samples->entered);
    clear(&samples->left);
    clear(&samples->missed);
    clear(&samples->most_ns);
    clear(&samples->not_least_ns);
    dlex_histogram_clear(&samples->wall);
    dlex_histogram_clear(&samples->cpu);
}

void dlex_benchmark_reset(void)
{
    const struct dlex_measure_ *site = __atomic_load_n(&first_site, __ATOMIC_ACQUIRE);
    for (; site; site = site->next)
        clear_samples(samples_of(site));
}

static uint64_t get(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void merge_samples(struct samples *into, const struct samples *from)
{
    into->entered += get(&from->entered);
    into->left += get(&from->left);
    into->missed += get(&from->missed);
    dlex_histogram_raise(&into->most_ns, get(&from->most_ns));
    dlex_histogram_raise(&into->not_least_ns, get(&from->not_least_ns));
    dlex_histogram_merge(&into->wall, &from->wall);
    dlex_histogram_merge(&into->cpu, &from->cpu);
}

/* Compares sites in the order of the report. Copies of an inline function are equal. */
static int compare(const struct dlex_measure_ *a, const struct dlex_measure_ *b)
{
    int order = strcmp(a->file, b->file);
    if (!order)
        order = a->line - b->line;
    if (!order)
        order = strcmp(a->function, b->function);
    return order ? order : a->how - b->how;
}

/* Searches the whole list each time: sites are few, and this needs neither memory nor a lock. */
bool dlex_sites_next(struct site_total *total)
{
    const struct dlex_measure_ *const before = total->site, *next = NULL, *site;
    struct dlex_measure_ *const first = __atomic_load_n(&first_site, __ATOMIC_ACQUIRE);
    for (site = first; site; site = site->next) {
        if ((!before || compare(before, site) < 0) && (!next || compare(site, next) < 0))
            next = site;
    }
    if (!next)
        return false;
    memset(total, 0, sizeof(*total));
    total->site = next;
    for (site = first; site; site = site->next) {
        if (compare(site, next) == 0)
            merge_samples(&total->samples, samples_of(site));
    }
    return true;
}
