/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reservation.h"

#include "kernel_file.h"
#include "thread_policy.h"
#include "timer_slack.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool may_run_everywhere(pid_t thread)
{
    cpu_set_t cpus;
    return sched_getaffinity(thread, sizeof cpus, &cpus) || CPU_COUNT(&cpus) >= sysconf(_SC_NPROCESSORS_ONLN);
}

/* Returns what a refusal of sched_setattr(2) means for this thread. */
static enum reservation_answer answer_to(int error, struct reservation *reservation)
{
    const pid_t thread = reservation->entry.thread.thread;
    reservation->error = error;
    switch (-error) {
    case 0: return RESERVATION_DONE;
    case ESRCH: return RESERVATION_GONE;
    case EBUSY: return RESERVATION_FULL;
    case EINVAL: return RESERVATION_PERIOD;
    case EPERM:
        if (!thread_policy_is_privileged())
            return RESERVATION_NO_RIGHT;
        return may_run_everywhere(thread) ? RESERVATION_NO_DOMAIN : RESERVATION_PINNED;
    default: return RESERVATION_FAILED;
    }
}

/* Records the change and makes it. Fails with RESERVATION_FAILED if it cannot be recorded. */
static enum reservation_answer set(struct reservation *reservation, struct undo_journal *journal, const struct reserve *wanted)
{
    const struct thread_policy policy = {
        .kind = THREAD_DEADLINE, .runtime_ns = wanted->budget_ns, .period_ns = wanted->period_ns, .reclaims = wanted->reclaims,
    };
    const struct undo_given given = {.budget_ns = wanted->budget_ns, .period_ns = wanted->period_ns};
    reservation->error = undo_journal_note(journal, &reservation->entry, &given);
    if (reservation->error)
        return RESERVATION_FAILED;
    const int error = thread_ref_check(&reservation->entry.thread);
    if (error)
        return answer_to(error, reservation);
    const enum reservation_answer answer = answer_to(thread_policy_set(reservation->entry.thread.thread, &policy), reservation);
    if (answer != RESERVATION_DONE)
        return answer;
    undo_entry_changed(&reservation->entry);
    reservation->given = *wanted;
    return answer;
}

/* Finds out whether the thread can be changed at all, and what it has now. */
static enum reservation_answer look_at(struct reservation *reservation, pid_t process, pid_t thread)
{
    struct undo_entry *const entry = &reservation->entry;
    int error = thread_ref_open(&entry->thread, process, thread);
    if (error)
        return error == -ESRCH ? RESERVATION_GONE : answer_to(error, reservation);
    if (!thread_ref_may_change(process))
        return RESERVATION_FOREIGN;
    error = thread_ordinary_get(thread, &entry->before);
    entry->timer_slack_ns = timer_slack_get(thread);
    return error == -EINVAL ? RESERVATION_TAKEN : answer_to(error, reservation);
}

enum reservation_answer reservation_give(struct reservation *reservation, struct undo_journal *journal, pid_t process,
                                         pid_t thread, const struct reserve *wanted)
{
    *reservation = (struct reservation){.error = 0};
    enum reservation_answer answer = look_at(reservation, process, thread);
    if (answer == RESERVATION_DONE) {
        answer = set(reservation, journal, wanted);
        if (answer != RESERVATION_DONE && reservation->entry.place)
            undo_journal_done(journal, &reservation->entry);
    }
    if (answer != RESERVATION_DONE)
        thread_ref_close(&reservation->entry.thread);
    return answer;
}

static void let_go(struct reservation *reservation, struct undo_journal *journal)
{
    undo_journal_done(journal, &reservation->entry);
    thread_ref_close(&reservation->entry.thread);
    reservation->given.budget_ns = 0;
}

/* True if the thread has what was given. */
static bool is_as_given(const struct reservation *reservation)
{
    struct thread_policy now;
    return !thread_policy_get(reservation->entry.thread.thread, &now) && now.kind == THREAD_DEADLINE &&
           now.runtime_ns == reservation->given.budget_ns && now.period_ns == reservation->given.period_ns;
}

/* Returns RESERVATION_DONE if the reservation is still in force and may be changed. */
static enum reservation_answer look_again(struct reservation *reservation)
{
    const struct thread_ref *const thread = &reservation->entry.thread;
    const int error = thread_ref_check(thread);
    if (error)
        return answer_to(error, reservation);
    if (!is_as_given(reservation))
        return RESERVATION_CHANGED;
    return thread_ref_may_change(thread->process) ? RESERVATION_DONE : RESERVATION_FOREIGN;
}

enum reservation_answer reservation_adapt(struct reservation *reservation, struct undo_journal *journal,
                                          const struct reserve *wanted)
{
    enum reservation_answer answer = look_again(reservation);
    if (answer == RESERVATION_DONE)
        answer = set(reservation, journal, wanted);
    if (answer == RESERVATION_GONE || answer == RESERVATION_FOREIGN)
        reservation_take_back(reservation, journal); /* it may have called exec */
    else if (answer == RESERVATION_CHANGED)
        let_go(reservation, journal);
    return answer;
}

void reservation_take_back(struct reservation *reservation, struct undo_journal *journal)
{
    if (!reservation_is_held(reservation))
        return;
    const bool is_theirs = !thread_ref_check(&reservation->entry.thread) && !is_as_given(reservation);
    if (is_theirs || undo_restore(&reservation->entry) >= 0)
        let_go(reservation, journal);
    else /* the journal keeps it, for the guard and for a repair */
        thread_ref_close(&reservation->entry.thread);
    reservation->given.budget_ns = 0;
}

bool reservation_is_held(const struct reservation *reservation)
{
    return reservation->given.budget_ns > 0;
}

static const char *fixed_reason(enum reservation_answer answer)
{
    switch (answer) {
    case RESERVATION_GONE: return "the thread has ended";
    case RESERVATION_FULL: return "the kernel does not admit more, because together with the reservations of other programs it would "
                                  "exceed what can be reserved (kernel.sched_rt_runtime_us); end another one, or reserve less with "
                                  "--limit";
    case RESERVATION_NO_RIGHT: return "this user may not reserve CPU time; run it with sudo, or allow it to this program: `sudo setcap "
                                      "cap_sys_nice+ep` with the path of dlex-sched";
    case RESERVATION_FOREIGN: return "the program belongs to another user; only root may change it";
    case RESERVATION_TAKEN: return "it has a real-time policy of its own already, or a reservation by another program; it keeps that";
    case RESERVATION_CHANGED: return "somebody else has changed its policy, which now stays";
    default: return NULL;
    }
}

const char *reservation_reason(enum reservation_answer answer, const struct reservation *reservation,
                               char text[RESERVATION_REASON_SIZE])
{
    const char *const fixed = fixed_reason(answer);
    const int thread = (int)reservation->entry.thread.thread, process = (int)reservation->entry.thread.process;
    if (fixed)
        snprintf(text, RESERVATION_REASON_SIZE, "%s", fixed);
    else if (answer == RESERVATION_PINNED)
        snprintf(text, RESERVATION_REASON_SIZE, "it may not run on all CPUs, and the kernel reserves only for threads that may; `taskset "
                 "-acp 0-%ld %d` lets it run on all, or give its CPUs a root domain of their own (an exclusive cpuset)",
                 sysconf(_SC_NPROCESSORS_ONLN) - 1, process);
    else if (answer == RESERVATION_NO_DOMAIN)
        snprintf(text, RESERVATION_REASON_SIZE, "the kernel reserves nothing where thread %d runs: its root domain has no time for "
                 "reservations (kernel.sched_rt_runtime_us is %ld; 950000 is usual), it is in an exclusive cpuset, or this is a "
                 "container", thread,
                 kernel_file_number("/proc/sys/kernel/sched_rt_runtime_us", 0));
    else if (answer == RESERVATION_PERIOD)
        snprintf(text, RESERVATION_REASON_SIZE, "the kernel allows periods from %ld to %ld us (kernel.sched_deadline_period_min_us and "
                 "_max_us)", kernel_file_number("/proc/sys/kernel/sched_deadline_period_min_us", 100),
                 kernel_file_number("/proc/sys/kernel/sched_deadline_period_max_us", 4194304));
    else
        snprintf(text, RESERVATION_REASON_SIZE, "%s", strerror(-reservation->error));
    return text;
}
