/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reservation.h"

#include "kernel_file.h"
#include "ns.h"
#include "scheduling_right.h"
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

enum reservation_answer reservation_answer_to(int error, struct reservation *reservation)
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
    reservation->wanted = *wanted;
    reservation->error = undo_journal_note(journal, &reservation->entry, &given);
    if (reservation->error)
        return RESERVATION_FAILED;
    const int error = thread_ref_check(&reservation->entry.thread);
    if (error)
        return reservation_answer_to(error, reservation);
    const int refusal = thread_policy_set(reservation->entry.thread.thread, &policy);
    const enum reservation_answer answer = reservation_answer_to(refusal, reservation);
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
        return error == -ESRCH ? RESERVATION_GONE : reservation_answer_to(error, reservation);
    if (!thread_ref_may_change(process))
        return RESERVATION_FOREIGN;
    error = thread_ordinary_get(thread, &entry->before);
    entry->timer_slack_ns = timer_slack_get(thread);
    return error == -EINVAL ? RESERVATION_TAKEN : reservation_answer_to(error, reservation);
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
        return reservation_answer_to(error, reservation);
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

/* Returns 95 % of sched_rt_period_us, the usual value of sched_rt_runtime_us. */
static long usual_runtime_us(void)
{
    return kernel_file_number("/proc/sys/kernel/sched_rt_period_us", 1000000) / 100 * 95;
}

/* Returns sched_rt_runtime_us; the usual value also if nothing is limited, or if the kernel does not say it. */
static long runtime_us(void)
{
    const long found_us = kernel_file_number("/proc/sys/kernel/sched_rt_runtime_us", -1);
    return found_us < 0 ? usual_runtime_us() : found_us;
}

/* These functions write a reason, and return what snprintf(3) does. */
static int say_full(char *text, size_t size)
{
    static const char *const what = "the kernel does not admit more, because together with the reservations of other programs "
                                    "it would exceed what can be reserved (kernel.sched_rt_runtime_us); end another one, "
                                    "reserve less with `--limit`, or free what killed runs have left with `dlex-sched repair`";
    if (runtime_us() >= usual_runtime_us())
        return snprintf(text, size, "%s", what);
    return snprintf(text, size, "%s; `sudo sysctl kernel.sched_rt_runtime_us=%ld` allows 95 %% of each CPU", what,
                    usual_runtime_us());
}

static int say_inside(char *text, size_t size)
{
    return snprintf(text, size, "nobody may reserve CPU time in this container (a user namespace); this cannot be changed "
                    "here: run it outside the container");
}

static int say_no_right(char *text, size_t size)
{
    const enum scheduling_lack lack = scheduling_lack();
    if (lack == SCHEDULING_INSIDE)
        return say_inside(text, size);
    if (lack == SCHEDULING_NO_NEW_RIGHTS)
        return snprintf(text, size, "this user may not reserve CPU time here, and cannot get new rights (no_new_privs), as in a "
                        "container or a service; this cannot be changed here: run it outside of that");
    if (lack == SCHEDULING_NO_CAPABILITY || !geteuid())
        return snprintf(text, size, "%s may not reserve CPU time here, because the capability CAP_SYS_NICE is missing, as in a "
                        "container; start the container with `--cap-add=SYS_NICE`, or run it outside of that", scheduling_who());
    return snprintf(text, size, "this user may not reserve CPU time; run it with sudo, or allow it to this program: `sudo "
                    "setcap cap_sys_nice+ep` with the path of dlex-sched");
}

static int say_pinned(char *text, size_t size, int process)
{
    char cpus[64];
    if (!kernel_file_line("/sys/devices/system/cpu/online", cpus, sizeof cpus))
        snprintf(cpus, sizeof cpus, "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
    return snprintf(text, size, "it may not run on all CPUs, and the kernel reserves only for threads that may; `taskset -acp "
                    "%s %d` lets it run on all, unless it is in a cpuset with fewer (`cat /proc/%d/cpuset`)", cpus, process,
                    process);
}

static int say_no_domain(char *text, size_t size, int thread)
{
    if (!runtime_us())
        return snprintf(text, size, "the kernel reserves nothing, because kernel.sched_rt_runtime_us is 0; `sudo sysctl "
                        "kernel.sched_rt_runtime_us=%ld` allows 95 %% of each CPU", usual_runtime_us());
    if (scheduling_lack() == SCHEDULING_INSIDE)
        return say_inside(text, size);
    return snprintf(text, size, "the kernel reserves nothing where thread %d runs, as on an isolated CPU, or with the filter "
                    "of system calls of a container or a service; this cannot be changed here: run it outside of that", thread);
}

static int say_period(char *text, size_t size, const struct reserve *wanted)
{
    const long least_us = kernel_file_number("/proc/sys/kernel/sched_deadline_period_min_us", 100);
    const long most_us = kernel_file_number("/proc/sys/kernel/sched_deadline_period_max_us", 4194304);
    const long long period_ns = wanted->period_ns;
    if (period_ns > most_us * NS_PER_US)
        return snprintf(text, size, "the kernel allows no period above %ld us; `sudo sysctl "
                        "kernel.sched_deadline_period_max_us=%lld` allows this one", most_us,
                        (period_ns + NS_PER_US - 1) / NS_PER_US);
    if (period_ns < least_us * NS_PER_US)
        return snprintf(text, size, "the kernel allows no period below %ld us; `sudo sysctl "
                        "kernel.sched_deadline_period_min_us=%lld` allows this one", least_us, period_ns / NS_PER_US);
    return snprintf(text, size, "the kernel allows no budget of %.3f ms in %.3f ms; this cannot be changed here",
                    ns_to_ms(wanted->budget_ns), ns_to_ms(period_ns));
}

static int say_failed(char *text, size_t size, int error)
{
    const char *const remedy = error == -EMFILE ? "`ulimit -n 65536` before the start allows more"
                               : error == -ENOSPC ? "`df /run /dev/shm` shows which of them is full"
                                                  : "this cannot be changed here";
    return snprintf(text, size, "%s; %s", strerror(-error), remedy);
}

/* The reasons that name the thread or the process. */
static int say_whose(char *text, size_t size, enum reservation_answer answer, const struct thread_ref *at)
{
    switch (answer) {
    case RESERVATION_FOREIGN:
        return snprintf(text, size, "the program belongs to another user; only root may change it: `sudo dlex-sched tune "
                        "--pid=%d`", (int)at->process);
    case RESERVATION_TAKEN:
        return snprintf(text, size, "it has a real-time policy of its own already, or a reservation by another program, and "
                        "keeps that; `sudo chrt --other --pid 0 %d` takes it away", (int)at->thread);
    case RESERVATION_PINNED: return say_pinned(text, size, (int)at->process);
    case RESERVATION_NO_DOMAIN: return say_no_domain(text, size, (int)at->thread);
    case RESERVATION_GONE: return snprintf(text, size, "the thread has ended, which cannot be changed here");
    case RESERVATION_CHANGED:
        return snprintf(text, size, "somebody else has changed its policy, which now stays and cannot be changed here");
    default: return snprintf(text, size, "it has what was asked for");
    }
}

const char *reservation_reason(enum reservation_answer answer, const struct reservation *reservation,
                               char text[RESERVATION_REASON_SIZE])
{
    const size_t size = RESERVATION_REASON_SIZE;
    switch (answer) {
    case RESERVATION_FULL: say_full(text, size); break;
    case RESERVATION_NO_RIGHT: say_no_right(text, size); break;
    case RESERVATION_PERIOD: say_period(text, size, &reservation->wanted); break;
    case RESERVATION_FAILED: say_failed(text, size, reservation->error); break;
    default: say_whose(text, size, answer, &reservation->entry.thread);
    }
    return text;
}
