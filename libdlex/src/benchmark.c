/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measuring: the code that runs at the start and the end of a body. The report is in report_*.c. */
#include <string.h>
#include <unistd.h>

#include <dlex/within.h>

#include "report.h"
#include "sites.h"
#include "thread.h"

/* All sites entered so far, the newest first. The first thread to enter a site adds it, any thread
 * reads the list; no site is ever removed. */
static struct dlex_measure_ *first_site;

static struct samples *samples_of(const struct dlex_measure_ *site)
{
    return (struct samples *)site->samples;
}

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* A function of its own, so that entering a linked site stays short. */
__attribute__((noinline)) static void link_site(struct dlex_measure_ *site)
{
    if (__atomic_exchange_n(&site->linked, 1, __ATOMIC_RELAXED))
        return;
    dlex_report_at_exit();
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

/* Returns the time left of the constraint, at the opening; INT64_MAX: there is none. */
static int64_t left_ns(int how, int64_t ns)
{
    if ((how & DLEX_KINDS_) != DLEX_ABS_ || ns == INT64_MAX)
        return ns;
    const int64_t now_ns = dlex_now_ns();
    return ns < INT64_MIN + now_ns ? INT64_MIN : ns - now_ns;
}

int dlex_benchmark_begin_(struct dlex_block_ *block, int64_t ns)
{
    struct dlex_measure_ *const site = block->site->measure;
    struct samples *const samples = samples_of(site);
    dlex_begin_within_(block, INT64_MAX, (site->how & ~DLEX_KINDS_) | DLEX_ABS_);
    /* A violation of a block around this one waits until this body is counted as entered. */
    dlex_try_within_disable();
    if (!__atomic_load_n(&site->linked, __ATOMIC_RELAXED))
        link_site(site);
    count(&samples->entered);
    block->given_ns = left_ns(site->how, ns);
    note_given(samples, block->given_ns);
    block->how |= DLEX_MEASURED_;
    /* In this order the wall-clock time does not include the system call for the CPU time. */
    block->started_cpu_ns = dlex_cpu_ns();
    block->started_ns = dlex_now_ns();
    dlex_try_within_enable();
    return 1;
}

void dlex_benchmark_end(struct dlex_block_ *block)
{
    const int64_t wall_ns = dlex_now_ns() - block->started_ns;
    const int64_t cpu_ns = dlex_cpu_ns() - block->started_cpu_ns;
    const struct dlex_measure_ *const site = block->site->measure;
    struct samples *const samples = samples_of(site);
    if (block->exception) {
        count(&samples->left);
        return;
    }
    if (block->given_ns <= (dlex_is_wcet(site->how) ? cpu_ns : wall_ns))
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

struct site_cost dlex_site_cost(void)
{
    enum { ROUNDS = 1000 };
    static struct samples samples;
    static struct dlex_measure_ measure = {
        .samples = (struct dlex_samples_ *)&samples, .linked = 1, /* not a call site to report */
    };
    dlex_histogram_clear(&samples.wall);
    dlex_histogram_clear(&samples.cpu);
    const int64_t start_ns = dlex_now_ns();
    for (volatile int i = 0; i < ROUNDS; i++) {
        dlex_open_at_(, &measure, dlex_benchmark_begin_(&dlex_block_, INT64_MAX)) {
        } dlex_end
    }
    const int64_t program_ns = (dlex_now_ns() - start_ns) / ROUNDS;
    return (struct site_cost){
        .wall_ns = dlex_histogram_summarise(&samples.wall).p50_ns,
        .cpu_ns = dlex_histogram_summarise(&samples.cpu).p50_ns,
        .program_ns = program_ns,
    };
}
