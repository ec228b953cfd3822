/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "period_vote.h"

#include <math.h>
#include <stddef.h>

/* The share that a thread has at least in votes: a thread that only presents pictures may use next to nothing. */
static const double share_min = 0.001;
/* The pictures of one thread may all be P pictures and those of another B pictures. */
static const double shares_alike = 4;
static const double usual_factor = 2;
/* A thread's second rate counts a little less than its first: of two rates of an only thread, a usual one wins. */
static const double second_factor = 0.75;
/* Seed 003's lower end of the range. A lower rate is a decoder's part, unless no thread has a higher one. */
static const double pictures_min_hz = 10;

/* The threads that vote. */
struct electorate {
    const struct period_thread *threads;
    int count;
};

static double share_of(const struct period_thread *thread)
{
    return fmax(share_min, thread->found.cpu_share);
}

static bool has_rate(const struct period_thread *thread, const struct thread_rate *rate)
{
    for (int r = 0; r < thread->found.rates; r++)
        if (standard_rate_same(thread->found.rate[r].hz, thread->found.rate[r].sd_hz, rate->hz, rate->sd_hz))
            return true;
    return false;
}

/*
 * True if as many threads as a frame-parallel decoder of `part` threads has work at this rate, and as much as this one. One
 * of them may not have been recognised.
 */
static bool is_parallel(const struct electorate *all, const struct period_thread *thread, const struct thread_rate *rate,
                        int part)
{
    int alike = 0;
    for (int i = 0; i < all->count; i++) {
        const double ratio = share_of(&all->threads[i]) / share_of(thread);
        alike += has_rate(&all->threads[i], rate) && ratio <= shares_alike && ratio >= 1 / shares_alike;
    }
    return alike >= 2 && (alike == part || alike == part - 1);
}

/* Returns n if the rate is a picture rate's n-th part, or 0. */
static int part_of(const struct thread_rate *rate, const struct thread_rate *pictures)
{
    const double n = floor(pictures->hz / rate->hz + 0.5);
    const bool is_part = n >= 1 && n <= PERIOD_PARTS_MAX &&
                         standard_rate_same(n * rate->hz, n * rate->sd_hz, pictures->hz, pictures->sd_hz);
    return is_part ? (int)n : 0;
}

static double vote_of_rate(const struct electorate *all, const struct period_thread *thread, const struct thread_rate *rate,
                           const struct thread_rate *pictures)
{
    const int part = part_of(rate, pictures);
    if (!part)
        return 0;
    return part == 1 || is_parallel(all, thread, rate, part) ? 1 : 1.0 / part;
}

/* Returns the thread's vote for a picture rate, and by which of its rates; -1: it has no vote. */
static double vote_of_thread(const struct electorate *all, const struct period_thread *thread,
                             const struct thread_rate *pictures, int *by)
{
    double best = 0;
    *by = -1;
    for (int r = 0; r < thread->found.rates; r++) {
        const double vote = vote_of_rate(all, thread, &thread->found.rate[r], pictures) * (r ? second_factor : 1);
        if (vote <= best)
            continue;
        best = vote;
        *by = r;
    }
    return best * share_of(thread);
}

static double votes_for(const struct electorate *all, const struct thread_rate *pictures)
{
    double votes = 0;
    int by;
    for (int i = 0; i < all->count; i++)
        votes += vote_of_thread(all, &all->threads[i], pictures, &by);
    const bool is_usual = standard_rate_same(pictures->hz, pictures->sd_hz,
                                             standard_rate_hz(standard_rate_nearest(pictures->hz)), 0);
    return is_usual ? usual_factor * votes : votes;
}

/* Returns the candidate with most votes; of equal ones the higher rate, which explains the lower one as its part. */
static const struct thread_rate *elect(const struct electorate *all, double min_hz)
{
    const struct thread_rate *best = NULL;
    double best_votes = 0;
    for (int i = 0; i < all->count; i++) {
        for (int r = 0; r < all->threads[i].found.rates; r++) {
            const struct thread_rate *const candidate = &all->threads[i].found.rate[r];
            const double votes = votes_for(all, candidate);
            const bool is_better = votes > best_votes || (votes == best_votes && candidate->hz > best->hz);
            if (candidate->hz < min_hz || (best && !is_better))
                continue;
            best = candidate;
            best_votes = votes;
        }
    }
    return best;
}

/* The mean of the voters' estimates. */
static struct thread_rate combined(const struct electorate *all, const struct thread_rate *elected)
{
    double weights = 0, sum = 0;
    for (int i = 0; i < all->count; i++) {
        int by;
        vote_of_thread(all, &all->threads[i], elected, &by);
        if (by < 0)
            continue;
        const struct thread_rate *const own = &all->threads[i].found.rate[by];
        const int part = part_of(own, elected);
        const double weight = 1 / (part * own->sd_hz * part * own->sd_hz);
        weights += weight;
        sum += weight * part * own->hz;
    }
    return (struct thread_rate){.hz = sum / weights, .sd_hz = 1 / sqrt(weights)};
}

/* Sets which part of the elected rate a thread works at. */
static void assign_part(const struct electorate *all, struct period_thread *thread, const struct thread_rate *elected,
                        const struct thread_rate *pictures, struct period_work *work)
{
    int by;
    vote_of_thread(all, thread, elected, &by);
    if (by >= 0)
        thread->part = part_of(&thread->found.rate[by], elected);
    else if (!thread->found.rates)
        thread->part = period_part_of(thread->events, thread->count, pictures->hz, PERIOD_PARTS_MAX, work);
    if (thread->part)
        thread->hz = pictures->hz / thread->part;
    else if (thread->found.rates)
        thread->hz = thread->found.rate[0].hz;
}

static int detect_all(struct picture_rate *rate, struct period_thread *threads, int count, int64_t window_ns,
                      struct period_work *work)
{
    for (int i = 0; i < count; i++) {
        struct period_thread *const thread = &threads[i];
        thread->part = 0;
        thread->hz = 0;
        const int error = period_detect(&thread->found, thread->events, thread->count, window_ns, work);
        if (error)
            return error;
        if (thread->found.verdict > rate->verdict)
            rate->verdict = thread->found.verdict;
    }
    return 0;
}

int period_vote(struct picture_rate *rate, struct period_thread *threads, int count, int64_t window_ns,
                struct period_work *work)
{
    *rate = (struct picture_rate){.verdict = PERIOD_UNKNOWN};
    const int error = detect_all(rate, threads, count, window_ns, work);
    if (error || rate->verdict != PERIOD_FOUND)
        return error;
    const struct electorate all = {.threads = threads, .count = count};
    const struct thread_rate *const high = elect(&all, pictures_min_hz);
    const struct thread_rate elected = high ? *high : *elect(&all, 0);
    const struct thread_rate pictures = combined(&all, &elected);
    for (int i = 0; i < count; i++) {
        assign_part(&all, &threads[i], &elected, &pictures, work);
        rate->threads += threads[i].part > 0;
    }
    rate->hz = pictures.hz;
    rate->sd_hz = pictures.sd_hz;
    rate->standard = standard_rate_of(pictures.hz, pictures.sd_hz);
    return 0;
}
