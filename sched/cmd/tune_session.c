/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tune_session.h"

#include "ns.h"

#include <stdio.h>

enum { TICKS_UPDATE = 5, TICKS_SECOND = 10, TICKS_FORGET = 20 };

/* No detection looks further back than this; the same holds for budgets. */
static const int64_t kept_ns = 8 * NS_PER_S;
/* Until a rate is known, a player's start should not count for long. */
static const int64_t unknown_window_ns = 4 * NS_PER_S;
static const int64_t pause_ns = NS_PER_S;
/* A player that does not starve has shown its rate by then, if it is a film's. */
static const int64_t trial_after_ns = 3 * NS_PER_S / 2;
static const int64_t greedy_max_ns = NS_PER_S;
static const int64_t strict_again_ns = 10 * NS_PER_S;
/* Of --check. What a switch upsets settles within the first part of a window. */
static const int64_t compare_ns = 5 * NS_PER_S;
static const int64_t settle_ns = NS_PER_S / 2;
/* A job counts as unfinished when it has lasted longer than this many periods. */
static const double long_job_periods = 1.5;
/* Of what a thread has used that never blocks: with the margin of a budget, it doubles in a second. */
static const double late_factor = 1.25;

void tune_session_init(struct tune_session *session, const struct tune_request *request, struct process_watch *watch,
                       int64_t now_ns)
{
    struct budget_options options = budget_defaults;
    options.rule = request->rule;
    session->request = request;
    session->watch = watch;
    session->begun_ns = session->window_ns = session->detected_ns = session->second_ns = now_ns;
    tuner_init(&session->tuner, &options, request->limit);
    session->tuner.period_ns = request->period_ns;
}

/* Returns what is known of the thread in a place; nothing, if another thread has it now. */
static struct tune_seen *seen_at(struct tune_session *session, int place)
{
    struct tune_seen *const seen = &session->seen[place];
    const int64_t id = process_watch_id(session->watch, place);
    if (seen->id != id)
        *seen = (struct tune_seen){.id = id};
    return seen;
}

static bool is_any_starving(const struct tune_session *session)
{
    for (int i = 0; i < process_watch_count(session->watch); i++)
        if (session->seen[i].is_starving)
            return true;
    return false;
}

static bool is_detection_due(const struct tune_session *session, int64_t now_ns)
{
    const struct rate_watch_times times = {
        .now_ns = now_ns,
        .begun_ns = session->begun_ns,
        .window_ns = session->window_ns,
        .detected_ns = session->detected_ns,
        .is_checked = session->is_checked,
        .is_urgent = session->tuner.is_trial || is_any_starving(session),
    };
    return rate_watch_is_due(&session->tuner.rate, &times);
}

static void announce_thread(struct tune_session *session, const struct tuned_thread *thread, int place)
{
    struct tune_seen *const seen = seen_at(session, place);
    bool *const is_announced = thread->is_on_trial ? &seen->is_trial_announced : &seen->is_announced;
    if (*is_announced || !tune_report_has_reader())
        return;
    *is_announced = true;
    fprintf(stderr, "dlex-sched: thread %d (%s) ", (int)thread->id, process_watch_name(session->watch, place));
    if (thread->is_on_trial)
        fputs("waits for the CPU, and gets what the limit allows until its rate is known\n", stderr);
    else if (thread->is_adopted)
        fprintf(stderr, "waits for the CPU, and begins with %.1f ms in each %.1f ms\n", ns_to_ms(thread->budget.budget_ns),
                ns_to_ms(thread->budget.period_ns));
    else
        fprintf(stderr, "works at %.5g Hz and begins with %.1f ms in each %.1f ms\n", thread->hz, ns_to_ms(thread->budget.budget_ns),
                ns_to_ms(thread->budget.period_ns));
}

static void announce(struct tune_session *session)
{
    for (int i = 0; i < session->tuner.count && !session->request->is_quiet; i++) {
        const int place = tune_place_of(session->watch, session->tuner.threads[i].id);
        if (place >= 0)
            announce_thread(session, &session->tuner.threads[i], place);
    }
}

/* While a thread is on trial it does not wait any more, and still has no rate. */
static bool is_on_trial(const struct tune_session *session, int64_t id)
{
    for (int i = 0; i < session->tuner.count; i++)
        if (session->tuner.threads[i].id == id)
            return session->tuner.threads[i].is_on_trial;
    return false;
}

/* A thread starves, or has used up its budget since the last update. */
static bool is_behind(struct tune_session *session)
{
    for (int i = 0; i < process_watch_count(session->watch); i++)
        if (seen_at(session, i)->is_starving ||
            process_watch_use(session->watch, i)->throttled > seen_at(session, i)->throttled_at_update)
            return true;
    return false;
}

/* Each detection of a known rate has a time of its own (rate_watch.h). */
static void detect(struct tune_session *session, int64_t now_ns)
{
    struct period_thread threads[WATCHED_THREADS_MAX];
    int64_t ids[WATCHED_THREADS_MAX];
    bool is_starving[WATCHED_THREADS_MAX];
    struct picture_rate rate;
    const bool was_known = session->tuner.rate.known.verdict == PERIOD_FOUND;
    const int64_t earliest_ns = now_ns - (was_known ? kept_ns : unknown_window_ns);
    const int64_t from_ns = session->window_ns > earliest_ns ? session->window_ns : earliest_ns;
    const int count = process_watch_threads(session->watch, from_ns, threads, WATCHED_THREADS_MAX);
    session->detected_ns = now_ns;
    for (int i = 0; i < count; i++) {
        const int64_t id = process_watch_id(session->watch, i);
        ids[i] = process_watch_lives(session->watch, i) && !tune_holds_leaves_alone(&session->holds, id, now_ns) ? id : 0;
        is_starving[i] = seen_at(session, i)->is_starving || is_on_trial(session, id);
    }
    if (period_vote(&rate, threads, count, now_ns - from_ns, &session->work))
        return;
    if (tuner_sees_trial(&session->tuner, &rate) ||
        tuner_doubts(&session->tuner, &rate, threads, is_starving, count, is_behind(session), now_ns - from_ns))
        rate.verdict = PERIOD_UNKNOWN;
    const bool is_new_rate = tuner_detected(&session->tuner, &rate, threads, ids, count, &session->work);
    session->is_checked = was_known && !is_new_rate;
    if (session->tuner.rate.known.verdict == PERIOD_FOUND)
        session->window_ns = now_ns;
    announce(session);
}

/* Finds out what the thread in a place has lacked since the last second. Returns false if that is not known. */
static bool read_starving(struct tune_session *session, int place, int64_t now_ns, struct tuner_starving *starving)
{
    struct tune_seen *const seen = seen_at(session, place);
    const struct tune_seen before = *seen;
    const pid_t process = process_watch_process(session->watch, place), thread = process_watch_id(session->watch, place);
    const double lasted_ns = (double)(now_ns - session->second_ns);
    seen->has_times = process_watch_lives(session->watch, place) &&
                      !tune_holds_leaves_alone(&session->holds, thread, now_ns) &&
                      thread_list_times(process, thread, &seen->running_ns, &seen->waiting_ns);
    *starving = (struct tuner_starving){
        .id = thread,
        .running = (double)(seen->running_ns - before.running_ns) / lasted_ns,
        .waiting = (double)(seen->waiting_ns - before.waiting_ns) / lasted_ns,
    };
    const bool is_known = seen->has_times && before.has_times && lasted_ns > 0;
    seen->is_starving = is_known && tuner_is_starving(starving);
    return is_known;
}

/* Looks for threads that starve, and puts them on trial while no rate is known; called every second. */
static void try_starving(struct tune_session *session, int64_t now_ns)
{
    struct tuner_starving starving[WATCHED_THREADS_MAX];
    int count = 0;
    for (int i = 0; i < process_watch_count(session->watch); i++)
        count += read_starving(session, i, now_ns, &starving[count]);
    if (now_ns - session->begun_ns >= trial_after_ns)
        tuner_try(&session->tuner, now_ns, starving, count);
    announce(session);
}

/*
 * Appends the periods of a job that has not ended: a thread that is always late never blocks, so that it has no finished jobs. It
 * needs more than it has used since the last update; how much more, nobody knows. Returns the new number of periods.
 */
static int64_t append_unfinished(struct tune_session *session, int place, int64_t period_ns, int64_t now_ns, int64_t *cpu_ns,
                                 int64_t periods)
{
    struct thread_event job;
    const struct tune_seen *const seen = seen_at(session, place);
    if (!process_watch_unfinished(session->watch, place, now_ns, &job) || !seen->updated_ns)
        return periods;
    const double lasted = (double)(now_ns - job.time_ns) / (double)period_ns;
    if (lasted < long_job_periods)
        return periods;
    const int64_t used_ns = thread_use_cpu_ns(process_watch_use(session->watch, place), now_ns) - seen->cpu_at_update_ns;
    const double used = (double)used_ns / (double)(now_ns - seen->updated_ns);
    for (int64_t i = 0; i < BUDGET_PERIODS && i < (int64_t)lasted; i++)
        cpu_ns[periods++] = (int64_t)(late_factor * used * (double)period_ns);
    return periods;
}

static struct tuner_sample sample_of(struct tune_session *session, int number, const struct period_thread *watched, int64_t now_ns)
{
    const struct tuned_thread *const thread = &session->tuner.threads[number];
    const int place = tune_place_of(session->watch, thread->id);
    const struct thread_use *const use = process_watch_use(session->watch, place);
    struct tune_seen *const seen = seen_at(session, place);
    int64_t *const cpu_ns = session->cpu_ns[number];
    int64_t periods = 0;
    if (!thread->is_on_trial) {
        const struct period_thread *const of = &watched[place];
        periods = period_cpu(cpu_ns, BUDGET_PERIODS, of->events, of->count, thread->hz, &session->work);
        periods = append_unfinished(session, place, thread->budget.period_ns, now_ns, cpu_ns, periods);
    }
    const struct tuner_sample sample = {
        .cpu_ns = cpu_ns,
        .periods = periods,
        .is_in_force = session->is_reserving && !session->is_off,
        /* What it uses while reservations are off to compare says nothing about what it needs. */
        .budget = {.is_paused = session->is_off || (!use->is_running && now_ns - use->switched_ns > pause_ns),
                   .is_exhausted = use->throttled > seen->throttled_at_update},
    };
    seen->cpu_at_update_ns = thread_use_cpu_ns(use, now_ns);
    seen->updated_ns = now_ns;
    return sample;
}

static void remove_ended(struct tune_session *session)
{
    for (int i = session->tuner.count - 1; i >= 0; i--)
        if (tune_place_of(session->watch, session->tuner.threads[i].id) < 0)
            tuner_remove(&session->tuner, session->tuner.threads[i].id);
}

/* Returns what the tuned threads have used of a CPU since the last update. */
static double used_since_update(struct tune_session *session, int64_t now_ns)
{
    double sum = 0;
    for (int i = 0; i < session->tuner.count; i++) {
        const int place = tune_place_of(session->watch, session->tuner.threads[i].id);
        const struct tune_seen *const seen = seen_at(session, place);
        const int64_t used_ns = thread_use_cpu_ns(process_watch_use(session->watch, place), now_ns) - seen->cpu_at_update_ns;
        if (seen->updated_ns && now_ns > seen->updated_ns)
            sum += (double)used_ns / (double)(now_ns - seen->updated_ns);
    }
    return sum;
}

/*
 * Decides whether the threads may use what nobody has reserved. The kernel would give them nearly a whole CPU, so if they use more than
 * the limit for a second, they get no more than their reservations for a while: the limit is a promise to everybody else.
 */
static void set_reclaiming(struct tune_session *session, int64_t now_ns)
{
    if (used_since_update(session, now_ns) <= session->request->limit)
        session->greedy_ns = 0;
    else if (!session->greedy_ns)
        session->greedy_ns = now_ns;
    else if (now_ns - session->greedy_ns >= greedy_max_ns)
        session->strict_ns = now_ns + strict_again_ns;
    session->holds.reclaims = !session->request->is_strict && now_ns >= session->strict_ns;
}

static void update(struct tune_session *session, int64_t tick_ns, int64_t now_ns)
{
    struct period_thread watched[WATCHED_THREADS_MAX];
    struct tuner_sample samples[TUNED_THREADS_MAX];
    remove_ended(session);
    set_reclaiming(session, now_ns);
    process_watch_threads(session->watch, now_ns - kept_ns, watched, WATCHED_THREADS_MAX);
    for (int i = 0; i < session->tuner.count; i++)
        samples[i] = sample_of(session, i, watched, now_ns);
    tuner_update(&session->tuner, tick_ns, samples);
    if (session->is_reserving && !session->is_off)
        tune_holds_apply(&session->holds, &session->tuner, session->watch, now_ns);
    for (int i = 0; i < process_watch_count(session->watch); i++)
        seen_at(session, i)->throttled_at_update = process_watch_use(session->watch, i)->throttled;
}

/* Finds out how late the thread in a place was in the window that ends now. Returns false if that is not known. */
static bool find_lateness(struct tune_session *session, int place, double hz, int64_t now_ns, int64_t *late_ns)
{
    struct period_thread watched[WATCHED_THREADS_MAX];
    struct thread_event unfinished = {.time_ns = 0};
    process_watch_threads(session->watch, INT64_MIN, watched, WATCHED_THREADS_MAX);
    process_watch_unfinished(session->watch, place, now_ns, &unfinished);
    const struct wake_window window = {
        .events = watched[place].events,
        .count = watched[place].count,
        .unfinished_ns = unfinished.time_ns,
        .switched_ns = session->is_off ? 0 : session->compared_ns,
        .from_ns = session->compared_ns + settle_ns,
        .until_ns = now_ns,
        .hz = hz,
    };
    return !wake_lateness(late_ns, &window, &session->work);
}

/* Keeps the lateness of each thread at the picture rate until the next window ends. An adopted one has no rate of its own. */
static void end_window_with(struct tune_session *session, int64_t now_ns)
{
    for (int i = 0; i < process_watch_count(session->watch); i++)
        seen_at(session, i)->has_lateness = false;
    for (int i = 0; i < session->tuner.count; i++) {
        const struct tuned_thread *const thread = &session->tuner.threads[i];
        const int place = tune_place_of(session->watch, thread->id);
        if (place < 0 || thread->part != 1 || thread->is_adopted)
            continue;
        struct tune_seen *const seen = seen_at(session, place);
        seen->has_lateness = find_lateness(session, place, thread->hz, now_ns, &seen->late_ns);
    }
}

/*
 * Adds a pair of windows: the mean lateness of the threads that are known in both. A thread that starves without its
 * reservation may have lost its rate meanwhile, and been adopted.
 */
static void end_window_without(struct tune_session *session, int64_t now_ns)
{
    int64_t late_ns, with_ns = 0, without_ns = 0;
    int counted = 0;
    for (int i = 0; i < session->tuner.count; i++) {
        const struct tuned_thread *const thread = &session->tuner.threads[i];
        const int place = tune_place_of(session->watch, thread->id);
        if (place < 0 || thread->part != 1 || !seen_at(session, place)->has_lateness ||
            !find_lateness(session, place, thread->hz, now_ns, &late_ns))
            continue;
        with_ns += seen_at(session, place)->late_ns;
        without_ns += late_ns;
        counted++;
    }
    if (counted)
        wake_comparison_add(&session->comparison, with_ns / counted, without_ns / counted);
}

/* For --check: switches all reservations off and on every 5 s, once there are some. */
static void compare(struct tune_session *session, int64_t now_ns)
{
    if (!session->compared_ns) {
        session->compared_ns = session->holds.count && session->tuner.rate.known.verdict == PERIOD_FOUND ? now_ns : 0;
        return;
    }
    if (now_ns - session->compared_ns < compare_ns)
        return;
    if (session->is_off)
        end_window_without(session, now_ns);
    else
        end_window_with(session, now_ns);
    session->is_off = !session->is_off;
    session->compared_ns = now_ns;
    if (session->is_off)
        tune_holds_suspend(&session->holds, session->watch, now_ns);
    else
        tune_holds_apply(&session->holds, &session->tuner, session->watch, now_ns);
}

/* Adds to a second what a tuned thread has used and lacked in it. */
static void add_thread(struct tune_session *session, struct tune_second *second, int64_t id, int64_t now_ns)
{
    const int place = tune_place_of(session->watch, id);
    if (place < 0)
        return;
    const struct thread_use *const use = process_watch_use(session->watch, place);
    struct tune_seen *const seen = seen_at(session, place);
    const int64_t cpu_ns = thread_use_cpu_ns(use, now_ns);
    const double lasted_ns = (double)(now_ns - session->second_ns);
    if (seen->cpu_at_second_ns && lasted_ns > 0)
        second->used += (double)(cpu_ns - seen->cpu_at_second_ns) / lasted_ns;
    second->throttled += use->throttled - seen->throttled_at_second;
    seen->cpu_at_second_ns = cpu_ns;
    seen->throttled_at_second = use->throttled;
}

static void report_second(struct tune_session *session, int threads, int64_t now_ns)
{
    const struct tuner *const tuner = &session->tuner;
    struct tune_second second = {
        .rate = tuner->rate.known,
        .reserved = session->is_reserving ? tune_holds_reserved(&session->holds) : tuner_granted(tuner),
        .tuned = session->is_reserving && !session->is_off ? session->holds.count : tuner->count,
        .threads = threads,
        .is_limited = tuner_is_limited(tuner),
        .is_off = session->is_off,
    };
    for (int i = 0; i < tuner->count; i++)
        add_thread(session, &second, tuner->threads[i].id, now_ns);
    session->second_ns = now_ns;
    tune_report_second(&session->report, &second, now_ns);
}

bool tune_session_tick(struct tune_session *session, int64_t tick, int64_t tick_ns, int64_t now_ns)
{
    const int threads = process_watch_poll(session->watch);
    if (!threads)
        return false;
    if (tick % TICKS_UPDATE == 0) {
        if (is_detection_due(session, now_ns))
            detect(session, now_ns);
        update(session, tick_ns, now_ns);
        if (session->request->with_check && session->is_reserving)
            compare(session, now_ns);
    }
    if (tick % TICKS_SECOND == 0) {
        try_starving(session, now_ns);
        tune_holds_free_halted(&session->holds, &session->tuner, session->watch, now_ns);
        report_second(session, threads, now_ns);
    }
    if (tick % TICKS_FORGET == 0)
        process_watch_forget(session->watch, now_ns - kept_ns);
    return true;
}
