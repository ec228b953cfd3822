/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tuner.h"

#include "budget_sum.h"
#include "ns.h"

#include <math.h>

static const double share_at_rate = 0.001;
static const double share_at_part = 0.01;
static const double refused_factor = 0.9;
static const double refused_rounding = 1e-6;
/* Less than the time between two updates. */
static const int64_t retry_after_ns = NS_PER_S / 4;
enum { MISSED_MAX = 2 };
const int64_t tuner_trial_period_ns = 27 * NS_PER_MS;
static const double trial_running = 0.01;
static const double trial_waiting = 0.2;
static const double starved_factor = 3;
static const double tried_raised = 1.3;
static const double tried_lowered = 0.8;
static const int64_t trial_lasts_ns = 12 * NS_PER_S;
static const int64_t trial_again_ns = 60 * NS_PER_S;
static const double trial_rate_tolerance = 0.01;
static const double believed_share = 1.0 / 3;
static const double near_usual = 0.02;
static const double same_period = 0.005;
static const int64_t unusual_after_ns = 4 * NS_PER_S - NS_PER_S / 10; /* a window of 4 s may be a little shorter */

bool tuner_wants(const struct period_thread *thread)
{
    return thread->part > 0 && thread->found.cpu_share >= (thread->part == 1 ? share_at_rate : share_at_part);
}

void tuner_init(struct tuner *tuner, const struct budget_options *options, double limit)
{
    *tuner = (struct tuner){.options = *options, .limit = limit, .most = limit};
}

static struct tuned_thread *find(struct tuner *tuner, int64_t id)
{
    for (int i = 0; i < tuner->count; i++)
        if (tuner->threads[i].id == id)
            return &tuner->threads[i];
    return NULL;
}

void tuner_remove(struct tuner *tuner, int64_t id)
{
    struct tuned_thread *const thread = find(tuner, id);
    if (thread)
        *thread = tuner->threads[--tuner->count];
}

static int64_t period_of(double hz)
{
    return (int64_t)((double)NS_PER_S / hz + 0.5);
}

/* Moves a budget to the period that the caller has set. The share of CPU time stays. */
static void use_own_period(const struct tuner *tuner, struct budget *budget)
{
    if (tuner->period_ns && budget->period_ns != tuner->period_ns)
        budget_set_period(budget, tuner->period_ns);
}

static void add(struct tuner *tuner, const struct period_thread *seen, int64_t id, double hz, struct period_work *work)
{
    int64_t cpu_ns[BUDGET_PERIODS];
    if (tuner->count == TUNED_THREADS_MAX)
        return;
    const int64_t periods = period_cpu(cpu_ns, BUDGET_PERIODS, seen->events, seen->count, hz, work);
    const int64_t period_ns = period_of(hz);
    struct tuned_thread *const thread = &tuner->threads[tuner->count++];
    *thread = (struct tuned_thread){.id = id, .hz = hz, .part = seen->part};
    budget_init(&thread->budget, &tuner->options, period_ns, budget_first_ns(cpu_ns, periods, period_ns));
    use_own_period(tuner, &thread->budget);
}

/* A new estimate of the same rate does not move the period: the reservation's period need not be exact. */
static void follow(const struct tuner *tuner, struct tuned_thread *thread, int part, double hz, bool is_new_rate)
{
    thread->missed = 0;
    thread->is_adopted = false;
    if (part == thread->part && !is_new_rate && fabs(hz - thread->hz) < same_period * hz)
        return;
    thread->part = part;
    thread->hz = hz;
    if (!tuner->period_ns)
        budget_set_period(&thread->budget, period_of(hz));
}

/* Removes the threads that were missed too often. The detection has set `missed` to 0 for those that it saw. */
static void drop_missed(struct tuner *tuner)
{
    for (int i = tuner->count - 1; i >= 0; i--)
        if (tuner->threads[i].missed >= MISSED_MAX)
            tuner_remove(tuner, tuner->threads[i].id);
}

/* Tunes a thread that has shown no rate of its own with the known one. Its share stays. */
static void adopt_known(const struct tuner *tuner, struct tuned_thread *thread)
{
    thread->is_on_trial = false;
    thread->is_adopted = true;
    thread->hz = tuner->rate.known.hz;
    thread->part = 1;
    budget_set_period(&thread->budget, period_of(thread->hz));
    use_own_period(tuner, &thread->budget);
}

/* True if a tuned thread may have no rate because it is behind. */
static bool may_be_behind(const struct tuned_thread *known, const struct period_thread *thread)
{
    return known && (known->is_adopted || thread->found.verdict == PERIOD_UNKNOWN) && thread->found.cpu_share >= share_at_part;
}

static void classify(struct tuner *tuner, const struct period_thread *threads, const int64_t *ids, int count, bool is_new_rate,
                     struct period_work *work)
{
    for (int i = 0; i < tuner->count; i++)
        tuner->threads[i].missed++;
    for (int i = 0; i < count; i++) {
        struct tuned_thread *const known = ids[i] ? find(tuner, ids[i]) : NULL;
        if (may_be_behind(known, &threads[i])) {
            known->missed = 0;
            if (is_new_rate)
                adopt_known(tuner, known);
        }
        if (!ids[i] || !tuner_wants(&threads[i]))
            continue;
        const double hz = tuner->rate.known.hz / threads[i].part;
        if (known)
            follow(tuner, known, threads[i].part, hz, is_new_rate);
        else
            add(tuner, &threads[i], ids[i], hz, work);
    }
    drop_missed(tuner);
}

static void end_trial(struct tuner *tuner, int64_t now_ns)
{
    for (int i = tuner->count - 1; i >= 0; i--)
        if (tuner->threads[i].is_on_trial)
            tuner_remove(tuner, tuner->threads[i].id);
    tuner->is_trial = false;
    tuner->trial_ns = now_ns;
}

/* Tunes the threads on trial with the rate that has become known. Their shares stay, until they show what they use. */
static void adopt_tried(struct tuner *tuner)
{
    for (int i = 0; i < tuner->count; i++) {
        struct tuned_thread *const thread = &tuner->threads[i];
        if (!thread->is_on_trial)
            continue;
        if (thread->granted_ns) /* what it wished for grew without a bound */
            thread->budget.budget_ns = thread->granted_ns;
        adopt_known(tuner, thread);
    }
    tuner->is_trial = false;
}

/* Removes the threads that had a rate. */
static void remove_rated(struct tuner *tuner)
{
    for (int i = tuner->count - 1; i >= 0; i--)
        if (!tuner->threads[i].is_on_trial)
            tuner_remove(tuner, tuner->threads[i].id);
}

static bool is_known(const struct tuner *tuner, const struct picture_rate *seen)
{
    const struct picture_rate *const known = &tuner->rate.known;
    return seen->verdict == PERIOD_FOUND && known->verdict == PERIOD_FOUND &&
           standard_rate_same(seen->hz, seen->sd_hz, known->hz, known->sd_hz);
}

bool tuner_detected(struct tuner *tuner, const struct picture_rate *seen, const struct period_thread *threads, const int64_t *ids,
                    int count, struct period_work *work)
{
    const bool is_new_rate = rate_watch_add(&tuner->rate, seen);
    const struct picture_rate *const known = &tuner->rate.known;
    if (known->verdict == PERIOD_FOUND && tuner->is_trial)
        adopt_tried(tuner);
    if (known->verdict == PERIOD_NONE)
        remove_rated(tuner);
    if (is_known(tuner, seen))
        classify(tuner, threads, ids, count, is_new_rate, work);
    return is_new_rate;
}

/* Adds a starving thread with what it seems to need. Returns NULL if there is no place. */
static struct tuned_thread *add_starving(struct tuner *tuner, const struct tuner_starving *starving, int64_t period_ns)
{
    if (tuner->count == TUNED_THREADS_MAX || find(tuner, starving->id))
        return NULL;
    const double most = starving->running + starving->waiting, likely = starved_factor * starving->running;
    const int64_t wanted_ns = (int64_t)((likely < most ? likely : most) * (double)period_ns);
    struct tuned_thread *const thread = &tuner->threads[tuner->count++];
    *thread = (struct tuned_thread){.id = starving->id};
    budget_init(&thread->budget, &tuner->options, period_ns, wanted_ns);
    if (period_ns != tuner_trial_period_ns) /* that of a trial is known by its period */
        use_own_period(tuner, &thread->budget);
    return thread;
}

static void put_on_trial(struct tuner *tuner, const struct tuner_starving *starving)
{
    struct tuned_thread *const thread = add_starving(tuner, starving, tuner_trial_period_ns);
    if (!thread)
        return;
    thread->is_on_trial = true;
    tuner->is_trial = true;
}

static void adopt(struct tuner *tuner, const struct tuner_starving *starving)
{
    struct tuned_thread *const thread = add_starving(tuner, starving, period_of(tuner->rate.known.hz));
    if (thread)
        adopt_known(tuner, thread);
}

bool tuner_is_starving(const struct tuner_starving *thread)
{
    return thread->running >= trial_running && thread->waiting >= trial_waiting;
}

static bool is_near_usual(double hz)
{
    const double usual_hz = standard_rate_hz(standard_rate_nearest(hz));
    return fabs(hz - usual_hz) <= near_usual * usual_hz;
}

bool tuner_doubts(const struct tuner *tuner, const struct picture_rate *seen, const struct period_thread *threads,
                  const bool *is_starving, int count, bool is_behind, int64_t observed_ns)
{
    double all = 0, of_rate = 0;
    bool others_starve = false;
    if (seen->verdict != PERIOD_FOUND)
        return false;
    for (int i = 0; i < count; i++) {
        all += threads[i].found.cpu_share;
        of_rate += threads[i].part ? threads[i].found.cpu_share : 0;
        others_starve |= is_starving[i] && !threads[i].part;
    }
    const bool is_usual = is_near_usual(seen->hz);
    if (!is_usual && ((is_behind && !is_known(tuner, seen)) || observed_ns < unusual_after_ns))
        return true;
    return of_rate < believed_share * all && (!is_usual || others_starve);
}

void tuner_try(struct tuner *tuner, int64_t now_ns, const struct tuner_starving *threads, int count)
{
    const int64_t since_ns = now_ns - tuner->trial_ns;
    if (tuner->rate.known.verdict == PERIOD_FOUND) {
        for (int i = 0; i < count; i++)
            if (tuner_is_starving(&threads[i]))
                adopt(tuner, &threads[i]);
        return;
    }
    if (tuner->is_trial && since_ns >= trial_lasts_ns) {
        end_trial(tuner, now_ns);
        return;
    }
    const bool was_trial = tuner->is_trial;
    if (!was_trial && tuner->trial_ns && since_ns < trial_again_ns)
        return;
    for (int i = 0; i < count; i++)
        if (tuner_is_starving(&threads[i]))
            put_on_trial(tuner, &threads[i]);
    if (tuner->is_trial && !was_trial)
        tuner->trial_ns = now_ns;
}

bool tuner_sees_trial(const struct tuner *tuner, const struct picture_rate *seen)
{
    const double periods = seen->hz * (double)tuner_trial_period_ns / (double)NS_PER_S;
    return tuner->is_trial && seen->verdict == PERIOD_FOUND && periods > 1 - trial_rate_tolerance &&
           periods < 1 + trial_rate_tolerance;
}

/* Returns false if not even the least budgets fit; then nothing is granted. */
static bool share_out(struct tuner *tuner)
{
    struct budget_wish wishes[TUNED_THREADS_MAX];
    for (int i = 0; i < tuner->count; i++) {
        const struct budget *const budget = &tuner->threads[i].budget;
        wishes[i] = (struct budget_wish){.wanted_ns = budget->budget_ns, .period_ns = budget->period_ns};
    }
    const int result = budget_sum_grant(wishes, tuner->count, tuner->most, tuner->options.budget_min_ns);
    for (int i = 0; i < tuner->count; i++)
        tuner->threads[i].granted_ns = wishes[i].granted_ns;
    return result >= 0;
}

/* While no rate is known, the need of a period is not known either. A thread needs more if its budget ran out. */
static void follow_trial(struct budget *budget, bool is_exhausted)
{
    const double followed_ns = (is_exhausted ? tried_raised : tried_lowered) * (double)budget->budget_ns;
    budget_init(budget, &budget->options, budget->period_ns, (int64_t)followed_ns);
}

void tuner_update(struct tuner *tuner, int64_t now_ns, const struct tuner_sample *samples)
{
    for (int i = 0; i < tuner->count; i++) {
        struct budget *const budget = &tuner->threads[i].budget;
        if (tuner->threads[i].is_on_trial) {
            if (samples[i].is_in_force && !samples[i].budget.is_paused)
                follow_trial(budget, samples[i].budget.is_exhausted);
            continue;
        }
        budget_observe(budget, samples[i].cpu_ns, samples[i].periods);
        budget_update(budget, now_ns, &samples[i].budget);
    }
    if (tuner->most < tuner->limit && now_ns - tuner->refused_ns >= retry_after_ns) {
        tuner->most = tuner->limit;
        tuner->refused_ns = now_ns;
    }
    share_out(tuner);
}

void tuner_refused(struct tuner *tuner, int64_t now_ns, double in_force)
{
    const double granted = tuner_granted(tuner), refused = granted > 0 && granted < tuner->most ? granted : tuner->most;
    const double before = tuner->most;
    const bool fits_in_force = in_force < refused - refused_rounding;
    tuner->most = fits_in_force ? fmax(refused_factor * refused, in_force) : refused_factor * refused;
    tuner->refused_ns = now_ns;
    if (share_out(tuner))
        return;
    tuner->most = before; /* some have what fits, and keep it */
    share_out(tuner);
}

double tuner_granted(const struct tuner *tuner)
{
    double sum = 0;
    for (int i = 0; i < tuner->count; i++)
        sum += (double)tuner->threads[i].granted_ns / (double)tuner->threads[i].budget.period_ns;
    return sum;
}

bool tuner_is_limited(const struct tuner *tuner)
{
    for (int i = 0; i < tuner->count; i++)
        if (tuner->threads[i].granted_ns < tuner->threads[i].budget.budget_ns)
            return true;
    return false;
}
