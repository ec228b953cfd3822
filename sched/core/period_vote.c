/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "period_vote.h"

#include "ns.h"

#include <math.h>
#include <stddef.h>

/* The share that a thread has at least in votes: a thread that only presents pictures may use next to nothing. */
static const double share_min = 0.001;
/* The pictures of one thread may all be P pictures and those of another B pictures. */
static const double shares_alike = 4;
static const double usual_factor = 2;
/* CPU time of a thread that is asked about parts of a candidate, so that random answers of idle threads do not count. */
static const double share_asked = 0.01;
/* A thread's second rate counts a little less than its first: of two rates of an only thread, a usual one wins. */
static const double second_factor = 0.75;
/*
 * While a program is observed, the jobs of a decoder's thread may shift by a third of its period, because another thread took a picture
 * in its place. If that is in the middle, the thread seems to be faster or slower by this part of a cycle of the observed time.
 */
static const double shift_cycles = 0.5;
/* Such a vote counts less: it fits 59.94 and 60 Hz alike, and decoders that did not shift decide between them. */
static const double shifted_factor = 0.75;
/* Seed 003's lower end of the range. A lower rate is a decoder's part, unless no thread has a higher one. */
static const double pictures_min_hz = 10;

/* The threads that vote. */
struct electorate {
    const struct period_thread *threads;
    int count;
    struct period_work *work;
    double shifted_hz; /* how much faster or slower a thread may seem to be whose jobs shift once */
};

static double share_of(const struct period_thread *thread)
{
    return fmax(share_min, thread->found.cpu_share);
}

static bool has_rate_near(const struct period_thread *thread, double hz, double near_hz)
{
    for (int r = 0; r < thread->found.rates; r++)
        if (fabs(thread->found.rate[r].hz - hz) <= near_hz)
            return true;
    return false;
}

/*
 * True if as many threads as a frame-parallel decoder of `part` threads has work near hz, and as much as this one. One of them may
 * not have been recognised.
 */
static bool is_parallel(const struct electorate *all, const struct period_thread *thread, double hz, int part)
{
    int alike = 0;
    for (int i = 0; i < all->count; i++) {
        const double ratio = share_of(&all->threads[i]) / share_of(thread);
        alike += has_rate_near(&all->threads[i], hz, all->shifted_hz) && ratio <= shares_alike && ratio >= 1 / shares_alike;
    }
    return alike >= 2 && (alike == part || alike == part - 1);
}

/* A thread's vote for a picture rate. */
struct vote {
    double weight;
    int part;                       /* the thread works at this part of the picture rate; 0: it has no vote */
    const struct thread_rate *rate; /* which of its rates that is; NULL: it has none, and was asked about parts */
};

/* Returns the vote of one rate of a thread; weight 0: it has none. */
static struct vote vote_of_rate(const struct electorate *all, const struct period_thread *thread, const struct thread_rate *rate,
                                const struct thread_rate *pictures)
{
    const double n = floor(pictures->hz / rate->hz + 0.5), part_hz = pictures->hz / n;
    if (n < 1 || n > PERIOD_PARTS_MAX)
        return (struct vote){.weight = 0};
    const bool is_same = standard_rate_same(n * rate->hz, n * rate->sd_hz, pictures->hz, pictures->sd_hz);
    if (!is_same && (n == 1 || fabs(rate->hz - part_hz) > all->shifted_hz))
        return (struct vote){.weight = 0};
    const bool is_decoder = n > 1 && is_parallel(all, thread, part_hz, (int)n);
    if (!is_same && !is_decoder)
        return (struct vote){.weight = 0};
    const double trust = (is_decoder ? 1 : 1 / n) * (is_same ? 1 : shifted_factor);
    return (struct vote){.weight = share_of(thread) * trust, .part = (int)n, .rate = rate};
}

static struct vote vote_by_rate(const struct electorate *all, const struct period_thread *thread,
                                const struct thread_rate *pictures)
{
    struct vote best = {.weight = 0};
    for (int r = 0; r < thread->found.rates; r++) {
        struct vote vote = vote_of_rate(all, thread, &thread->found.rate[r], pictures);
        vote.weight *= r ? second_factor : 1;
        if (vote.weight > best.weight)
            best = vote;
    }
    return best;
}

/* A decoder's thread with few pictures has too few jobs to find its rate, but enough to answer a question about it. */
static struct vote vote_by_part(const struct electorate *all, const struct period_thread *thread,
                                const struct thread_rate *pictures)
{
    const int part = period_part_of(thread->events, thread->count, pictures->hz, PERIOD_PARTS_MAX, all->work);
    return (struct vote){.weight = part ? share_of(thread) / part : 0, .part = part};
}

static double votes_for(const struct electorate *all, const struct thread_rate *pictures)
{
    double votes = 0;
    for (int i = 0; i < all->count; i++) {
        const struct period_thread *const thread = &all->threads[i];
        if (thread->found.verdict == PERIOD_FOUND)
            votes += vote_by_rate(all, thread, pictures).weight;
        else if (thread->found.verdict == PERIOD_UNKNOWN && thread->found.cpu_share >= share_asked)
            votes += vote_by_part(all, thread, pictures).weight;
    }
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
            if (candidate->hz < min_hz)
                continue;
            const double votes = votes_for(all, candidate);
            if (best && (votes < best_votes || (votes == best_votes && candidate->hz <= best->hz)))
                continue;
            best = candidate;
            best_votes = votes;
        }
    }
    return best;
}

/* Estimates of the picture rate, each with the inverse of its variance as its weight. */
struct estimates {
    int count;
    double weights;
    double weights_squared;
    double mean;
    double squares; /* weighted, about the mean */
};

/* Adds up the voters' estimates. parts_max excludes those of threads at smaller parts; between is added to each variance. */
static struct estimates estimates_of(const struct electorate *all, const struct thread_rate *elected, int parts_max,
                                     double between)
{
    struct estimates sum = {.count = 0};
    for (int i = 0; i < all->count; i++) {
        const struct vote vote = vote_by_rate(all, &all->threads[i], elected);
        if (!vote.part || vote.part > parts_max)
            continue;
        const double hz = vote.part * vote.rate->hz, sd_hz = vote.part * vote.rate->sd_hz;
        const double weight = 1 / (sd_hz * sd_hz + between), off = hz - sum.mean;
        sum.count++;
        sum.weights += weight;
        sum.weights_squared += weight * weight;
        sum.mean += off * weight / sum.weights;
        sum.squares += weight * off * (hz - sum.mean);
    }
    return sum;
}

/*
 * The mean of the estimates of the voters that work at the picture rate itself, or of all if there are none. A decoder's
 * thread may follow the clock of the sound for some seconds, and very regularly, because the player looks for work when it
 * has sent sound. Where the estimates still differ by more than their standard errors, what they differ by is added to the
 * variance of each (a random effect: DerSimonian and Laird 1986), so that the most regular thread does not decide alone.
 */
static struct thread_rate combined(const struct electorate *all, const struct thread_rate *elected)
{
    int parts_max = 1;
    struct estimates fixed = estimates_of(all, elected, parts_max, 0);
    if (!fixed.count) {
        parts_max = PERIOD_PARTS_MAX;
        fixed = estimates_of(all, elected, parts_max, 0);
    }
    const double excess = fixed.squares - (fixed.count - 1);
    const double between = fixed.count > 1 && excess > 0 ? excess / (fixed.weights - fixed.weights_squared / fixed.weights) : 0;
    const struct estimates random = estimates_of(all, elected, parts_max, between);
    return (struct thread_rate){.hz = random.mean, .sd_hz = 1 / sqrt(random.weights)};
}

/* Sets which part of the picture rate a thread works at. */
static void assign_part(const struct electorate *all, struct period_thread *thread, const struct thread_rate *elected,
                        const struct thread_rate *pictures)
{
    const bool has_own = thread->found.rates > 0;
    const struct vote vote = has_own ? vote_by_rate(all, thread, elected) : vote_by_part(all, thread, pictures);
    thread->part = vote.part;
    if (vote.part)
        thread->hz = pictures->hz / vote.part;
    else if (has_own)
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
    const double observed_s = fmin(ns_to_s(window_ns), ns_to_s(PERIOD_OBSERVED_MAX_NS));
    const struct electorate all = {.threads = threads, .count = count, .work = work, .shifted_hz = shift_cycles / observed_s};
    const struct thread_rate *const high = elect(&all, pictures_min_hz);
    const struct thread_rate elected = high ? *high : *elect(&all, 0);
    const struct thread_rate pictures = combined(&all, &elected);
    for (int i = 0; i < count; i++) {
        assign_part(&all, &threads[i], &elected, &pictures);
        rate->threads += threads[i].part > 0;
    }
    rate->hz = pictures.hz;
    rate->sd_hz = pictures.sd_hz;
    rate->standard = standard_rate_of(pictures.hz, pictures.sd_hz);
    return 0;
}
