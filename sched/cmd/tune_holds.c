/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tune_holds.h"

#include "ns.h"
#include "thread_list.h"
#include "thread_policy.h"
#include "tune_report.h"

#include <stdio.h>
#include <unistd.h>

/* Each asks for a tenth less: down to a twentieth of what was wanted, before the next update. */
enum { ADMISSION_TRIES = 30 };

/* Looks, one in each second, and periods for which a thread stands still before it is freed. */
enum { HALTED_LOOKS = 2, HALTED_PERIODS = 3 };

int tune_holds_begin(struct tune_holds *holds)
{
    *holds = (struct tune_holds){.count = 0};
    int error = undo_journal_create(&holds->journal);
    if (error)
        return error;
    error = undo_guard_start(&holds->guard, &holds->journal);
    if (error)
        undo_journal_remove(&holds->journal);
    return error;
}

int tune_holds_guard_ended(struct tune_holds *holds)
{
    undo_guard_end(&holds->guard); /* closes its pipe */
    return undo_guard_start(&holds->guard, &holds->journal);
}

int tune_place_of(const struct process_watch *watch, int64_t id)
{
    for (int i = 0; i < process_watch_count(watch); i++)
        if (process_watch_id(watch, i) == id && process_watch_lives(watch, i))
            return i;
    return -1;
}

/* Lets the watch look for budgets that run out; budget_ns 0: there is none any more. */
static void note_use(struct process_watch *watch, int64_t id, int64_t now_ns, int64_t budget_ns, int64_t period_ns)
{
    const int place = tune_place_of(watch, id);
    if (place >= 0)
        thread_use_reserve(process_watch_use(watch, place), now_ns, budget_ns, period_ns);
}

static struct tune_hold *hold_of(struct tune_holds *holds, int64_t id)
{
    for (int i = 0; i < holds->count; i++)
        if (holds->list[i].id == id)
            return &holds->list[i];
    return NULL;
}

static void let_go(struct tune_holds *holds, struct tune_hold *hold, struct process_watch *watch, int64_t now_ns)
{
    reservation_take_back(&hold->reservation, &holds->journal);
    note_use(watch, hold->id, now_ns, 0, 0);
    *hold = holds->list[--holds->count];
}

void tune_holds_suspend(struct tune_holds *holds, struct process_watch *watch, int64_t now_ns)
{
    while (holds->count)
        let_go(holds, &holds->list[holds->count - 1], watch, now_ns);
}

bool tune_holds_leaves_alone(const struct tune_holds *holds, int64_t id, int64_t now_ns)
{
    for (int i = 0; i < holds->refused_count; i++)
        if (holds->refused[i].id == id && now_ns < holds->refused[i].until_ns)
            return true;
    return false;
}

/* Remembers the refusal in the place of an older one of this thread, or of the one that ends first. */
static void leave_alone(struct tune_holds *holds, int64_t id, int64_t now_ns)
{
    int place = 0;
    for (int i = 0; i < holds->refused_count; i++) {
        if (holds->refused[i].until_ns < holds->refused[place].until_ns)
            place = i;
        if (holds->refused[i].id == id) {
            place = i;
            break;
        }
    }
    if (holds->refused_count < TUNED_THREADS_MAX && (!holds->refused_count || holds->refused[place].id != id))
        place = holds->refused_count++;
    holds->refused[place] = (struct tune_refused){.id = id, .until_ns = now_ns + TUNE_LEFT_ALONE_NS};
}

/* Reports a refusal, each reason once. */
static void explain(struct tune_holds *holds, enum reservation_answer answer, const struct reservation *reservation)
{
    char text[RESERVATION_REASON_SIZE], name[THREAD_NAME_SIZE];
    if (answer == RESERVATION_GONE || holds->reasons & 1u << answer || !tune_report_has_reader())
        return;
    holds->reasons |= 1u << answer;
    const struct thread_ref *const thread = &reservation->entry.thread;
    fprintf(stderr, "dlex-sched: thread %d (%s) gets %s: %s\n", (int)thread->thread,
            thread_list_name(thread->process, thread->thread, name),
            answer == RESERVATION_FULL ? "less than it needs" : "no reservation", reservation_reason(answer, reservation, text));
}

static struct reserve wanted_for(const struct tune_holds *holds, const struct tuned_thread *thread)
{
    return (struct reserve){.budget_ns = thread->granted_ns, .period_ns = thread->budget.period_ns, .reclaims = holds->reclaims};
}

/* Brings one reservation to what the tuner grants, which is above 0. */
static enum reservation_answer bring(struct tune_holds *holds, const struct tuned_thread *thread, struct tune_hold **hold,
                                     pid_t process)
{
    const struct reserve wanted = wanted_for(holds, thread);
    if (*hold)
        return reservation_adapt(&(*hold)->reservation, &holds->journal, &wanted);
    struct tune_hold *const added = &holds->list[holds->count];
    const enum reservation_answer answer = reservation_give(&added->reservation, &holds->journal, process, (pid_t)thread->id,
                                                            &wanted);
    added->id = thread->id;
    added->running_ns = added->halted = 0;
    holds->count += answer == RESERVATION_DONE;
    *hold = added;
    return answer;
}

/* Applies the tuner's decision on one thread. Returns false if the thread has left the tuner. */
static bool apply_one(struct tune_holds *holds, struct tuner *tuner, int number, struct process_watch *watch, int64_t now_ns)
{
    const struct tuned_thread *const thread = &tuner->threads[number];
    const int64_t id = thread->id;
    const int place = tune_place_of(watch, id);
    struct tune_hold *hold = hold_of(holds, id);
    const bool was_held = hold != NULL;
    const enum reservation_answer answer =
        place < 0 ? RESERVATION_GONE : bring(holds, thread, &hold, process_watch_process(watch, place));
    if (answer == RESERVATION_DONE) {
        note_use(watch, id, now_ns, thread->granted_ns, thread->budget.period_ns);
        return true;
    }
    if (place >= 0)
        explain(holds, answer, &hold->reservation);
    if (answer == RESERVATION_FULL) {
        holds->lacks_admission = true;
        return true;
    }
    if (was_held)
        let_go(holds, hold, watch, now_ns);
    if (answer != RESERVATION_GONE)
        leave_alone(holds, id, now_ns);
    tuner_remove(tuner, id);
    return false;
}

/* Returns whether the thread's reservation is to become smaller (or not larger). */
static bool is_decrease(struct tune_holds *holds, const struct tuned_thread *thread)
{
    const struct tune_hold *const hold = hold_of(holds, thread->id);
    return hold && (double)thread->granted_ns / (double)thread->budget.period_ns <=
                       (double)hold->reservation.given.budget_ns / (double)hold->reservation.given.period_ns;
}

static bool is_as_wanted(struct tune_holds *holds, const struct tuned_thread *thread)
{
    const struct tune_hold *const hold = hold_of(holds, thread->id);
    if (!hold)
        return thread->granted_ns == 0;
    const struct reserve wanted = wanted_for(holds, thread), *const given = &hold->reservation.given;
    return given->budget_ns == wanted.budget_ns && given->period_ns == wanted.period_ns && given->reclaims == wanted.reclaims;
}

/* Takes back what the tuner does not grant any more. */
static void drop_others(struct tune_holds *holds, const struct tuner *tuner, struct process_watch *watch, int64_t now_ns)
{
    for (int i = holds->count - 1; i >= 0; i--) {
        bool is_granted = false;
        for (int k = 0; k < tuner->count; k++)
            is_granted |= tuner->threads[k].id == holds->list[i].id && tuner->threads[k].granted_ns > 0;
        if (!is_granted)
            let_go(holds, &holds->list[i], watch, now_ns);
    }
}

/* What becomes smaller first, so that the others fit. */
static void apply_all(struct tune_holds *holds, struct tuner *tuner, struct process_watch *watch, int64_t now_ns)
{
    holds->lacks_admission = false;
    drop_others(holds, tuner, watch, now_ns);
    for (int decreases = 1; decreases >= 0; decreases--)
        for (int i = 0; i < tuner->count;) {
            const struct tuned_thread *const thread = &tuner->threads[i];
            const bool is_due = !is_as_wanted(holds, thread) && is_decrease(holds, thread) == decreases;
            i += !is_due || apply_one(holds, tuner, i, watch, now_ns);
        }
}

void tune_holds_apply(struct tune_holds *holds, struct tuner *tuner, struct process_watch *watch, int64_t now_ns)
{
    apply_all(holds, tuner, watch, now_ns);
    for (int tries = 0; holds->lacks_admission && tries < ADMISSION_TRIES; tries++) {
        tuner_refused(tuner, now_ns, tune_holds_reserved(holds));
        apply_all(holds, tuner, watch, now_ns);
    }
}

/* Looks whether the thread has stood still for too long. */
static bool is_halted(struct tune_hold *hold)
{
    const struct thread_ref *const thread = &hold->reservation.entry.thread;
    int64_t running_ns, waiting_ns;
    const bool is_known = thread_list_times(thread->process, thread->thread, &running_ns, &waiting_ns);
    struct thread_policy now;
    const bool stands = is_known && running_ns == hold->running_ns && thread_is_runnable(thread->thread) &&
                        !thread_policy_get(thread->thread, &now) && now.kind == THREAD_DEADLINE;
    hold->halted = stands ? hold->halted + 1 : 0;
    hold->running_ns = is_known ? running_ns : 0;
    return hold->halted >= HALTED_LOOKS && hold->halted * NS_PER_S >= HALTED_PERIODS * hold->reservation.given.period_ns;
}

void tune_holds_free_halted(struct tune_holds *holds, struct tuner *tuner, struct process_watch *watch, int64_t now_ns)
{
    char name[THREAD_NAME_SIZE];
    for (int i = holds->count - 1; i >= 0; i--) {
        struct tune_hold *const hold = &holds->list[i];
        const struct thread_ref *const thread = &hold->reservation.entry.thread;
        if (!is_halted(hold))
            continue;
        if (tune_report_has_reader())
            fprintf(stderr, "dlex-sched: thread %d (%s) did not run under its reservation, which was taken back; it may get another\n",
                    (int)thread->thread, thread_list_name(thread->process, thread->thread, name));
        tuner_remove(tuner, hold->id);
        let_go(holds, hold, watch, now_ns);
    }
}

double tune_holds_reserved(const struct tune_holds *holds)
{
    double sum = 0;
    for (int i = 0; i < holds->count; i++)
        sum += (double)holds->list[i].reservation.given.budget_ns / (double)holds->list[i].reservation.given.period_ns;
    return sum;
}

void tune_holds_end(struct tune_holds *holds, struct process_watch *watch, int64_t now_ns)
{
    if (!holds->journal.fd)
        return;
    tune_holds_suspend(holds, watch, now_ns);
    const int undone = undo_journal_undo(&holds->journal);
    if (undone >= 0)
        undo_journal_remove(&holds->journal);
    undo_guard_end(&holds->guard);
    if (undone < 0) {
        fputs("dlex-sched: a reservation could not be taken back; `dlex-sched repair` tries it again\n", stderr);
        close(holds->journal.fd);
        holds->journal.fd = 0;
    }
}
