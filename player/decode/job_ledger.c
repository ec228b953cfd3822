/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "job_ledger.h"

#include "ns.h"
#include "thread_cpu.h"

#include <dlex/dlex.h>
#include <unistd.h>

void ledger_init(struct job_ledger *ledger)
{
    pthread_mutex_init(&ledger->lock, NULL);
    for (int i = 0; i < LEDGER_JOBS; i++)
        ledger->entries[i].number = JOB_UNKNOWN;
    for (int i = 0; i < CODEC_THREADS_MAX; i++)
        ledger->workers[i].number = JOB_UNKNOWN;
    ledger->current = ledger->entries;
    atomic_init(&ledger->asked, JOB_UNKNOWN);
}

void ledger_finish(struct job_ledger *ledger)
{
    pthread_mutex_destroy(&ledger->lock);
}

static struct ledger_entry *entry_of(struct job_ledger *ledger, int64_t number)
{
    struct ledger_entry *const entry = &ledger->entries[number < 0 ? 0 : number % LEDGER_JOBS];
    return number >= 0 && entry->number == number ? entry : NULL;
}

void ledger_begin(struct job_ledger *ledger, const struct decode_job *job, int64_t start_ns)
{
    struct ledger_entry *const entry = &ledger->entries[job->number % LEDGER_JOBS];
    pthread_mutex_lock(&ledger->lock);
    entry->number = job->number;
    entry->order = job->order;
    entry->start_ns = start_ns;
    entry->is_droppable = false;
    entry->cpu_ns = 0;
    entry->is_measured = false;
    pthread_mutex_unlock(&ledger->lock);
    atomic_store_explicit(&entry->verdict, VERDICT_NONE, memory_order_relaxed);
    atomic_store_explicit(&entry->fired_ns, NS_UNKNOWN, memory_order_relaxed);
    atomic_store_explicit(&ledger->asked, JOB_UNKNOWN, memory_order_relaxed);
    ledger->current = entry;
}

static struct ledger_entry *entry_in_charge(struct job_ledger *ledger, int64_t number)
{
    if (ledger->overlaps)
        return entry_of(ledger, number);
    atomic_store_explicit(&ledger->asked, number, memory_order_relaxed);
    return ledger->current;
}

/* The first thread that notices it says when. */
static void note_fired(struct ledger_entry *entry, int64_t now_ns)
{
    int64_t before = NS_UNKNOWN;
    atomic_compare_exchange_strong_explicit(&entry->fired_ns, &before, now_ns, memory_order_relaxed, memory_order_relaxed);
}

static void note_verdict(struct ledger_entry *entry, enum verdict verdict)
{
    atomic_store_explicit(&entry->verdict, (int)verdict, memory_order_relaxed);
}

static bool is_refused(struct ledger_entry *entry)
{
    if (!entry->order.give_up && !entry->order.refuse)
        return false;
    note_verdict(entry, VERDICT_SKIPPED);
    return true;
}

bool ledger_refuses(struct job_ledger *ledger, int64_t number)
{
    struct ledger_entry *const entry = entry_in_charge(ledger, number);
    return entry && is_refused(entry);
}

bool ledger_gives_up(struct job_ledger *ledger, int64_t number)
{
    struct ledger_entry *const entry = entry_in_charge(ledger, number);
    if (!entry)
        return false;
    if (is_refused(entry))
        return true;
    const struct decode_stop *const stop = ledger->stop;
    const bool is_stopped = stop && decode_stop_is_requested(stop);
    if (!is_stopped && entry->order.deadline_ns == NO_DEADLINE)
        return false;
    const int64_t now_ns = dlex_now_ns();
    if (!is_stopped && now_ns < entry->order.deadline_ns)
        return false;
    note_fired(entry, now_ns);
    note_verdict(entry, VERDICT_ABORTED);
    return true;
}

void ledger_note_end(struct job_ledger *ledger, enum verdict verdict)
{
    note_fired(ledger->current, dlex_now_ns());
    if (verdict != VERDICT_NONE)
        note_verdict(ledger->current, verdict);
}

void ledger_mark_droppable(struct job_ledger *ledger)
{
    ledger->current->is_droppable = true;
}

bool ledger_is_droppable(struct job_ledger *ledger, int64_t number)
{
    const struct ledger_entry *const entry = entry_of(ledger, number);
    return entry && entry->is_droppable;
}

/* Adds CPU time to a picture's. The caller holds the lock. */
static void charge(struct job_ledger *ledger, int64_t number, int64_t cpu_ns)
{
    struct ledger_entry *const entry = entry_of(ledger, number);
    if (!entry)
        return;
    entry->cpu_ns += cpu_ns;
    entry->is_measured = true;
}

/* Returns the place of the calling thread, or a free one; NULL if there are too many. The caller holds the lock. */
static struct ledger_worker *own_place(struct job_ledger *ledger)
{
    const pid_t self = gettid();
    for (int i = 0; i < CODEC_THREADS_MAX; i++)
        if (!ledger->workers[i].thread || ledger->workers[i].thread == self) {
            ledger->workers[i].thread = self;
            return &ledger->workers[i];
        }
    return NULL;
}

/*
 * A thread takes a picture's buffer after it has parsed the beginning of its packet. What it used since the picture before
 * came out is this picture's, then. If that has not come out yet, it is that picture's.
 */
void ledger_begin_picture(struct job_ledger *ledger, int64_t number)
{
    const int64_t now_ns = thread_cpu_ns();
    pthread_mutex_lock(&ledger->lock);
    struct ledger_worker *const worker = own_place(ledger);
    if (worker) {
        charge(ledger, worker->number == JOB_UNKNOWN ? number : worker->number, now_ns - worker->since_ns);
        worker->number = number;
        worker->since_ns = now_ns;
    }
    pthread_mutex_unlock(&ledger->lock);
}

/* A picture that has come out is complete, so its thread does not work on it any more. The caller holds the lock. */
static void end_picture(struct job_ledger *ledger, int64_t number)
{
    for (int i = 0; i < CODEC_THREADS_MAX && ledger->workers[i].thread; i++) {
        struct ledger_worker *const worker = &ledger->workers[i];
        if (worker->number != number)
            continue;
        const int64_t now_ns = thread_cpu_ns_of(worker->thread);
        charge(ledger, number, now_ns - worker->since_ns);
        worker->number = JOB_UNKNOWN;
        worker->since_ns = now_ns;
    }
}

struct picture_decode ledger_picture(struct job_ledger *ledger, int64_t number)
{
    struct picture_decode decode = {.is_known = false};
    pthread_mutex_lock(&ledger->lock);
    const struct ledger_entry *const entry = entry_of(ledger, number);
    if (entry) {
        end_picture(ledger, number);
        decode = (struct picture_decode){
            .is_known = true,
            .verdict = (enum verdict)atomic_load_explicit(&entry->verdict, memory_order_relaxed),
            .start_ns = entry->start_ns,
            .end_ns = dlex_now_ns(),
            .cpu_ns = entry->is_measured ? entry->cpu_ns : NS_UNKNOWN,
            .fired_ns = atomic_load_explicit(&entry->fired_ns, memory_order_relaxed),
        };
    }
    pthread_mutex_unlock(&ledger->lock);
    return decode;
}

struct gate_verdict ledger_verdict(struct job_ledger *ledger)
{
    return (struct gate_verdict){
        .number = atomic_load_explicit(&ledger->asked, memory_order_relaxed),
        .verdict = (enum verdict)atomic_load_explicit(&ledger->current->verdict, memory_order_relaxed),
    };
}

int64_t ledger_fired_ns(struct job_ledger *ledger)
{
    return atomic_load_explicit(&ledger->current->fired_ns, memory_order_relaxed);
}

void ledger_forget(struct job_ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    for (int i = 0; i < CODEC_THREADS_MAX && ledger->workers[i].thread; i++) {
        ledger->workers[i].number = JOB_UNKNOWN;
        ledger->workers[i].since_ns = thread_cpu_ns_of(ledger->workers[i].thread);
    }
    pthread_mutex_unlock(&ledger->lock);
}
