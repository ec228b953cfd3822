/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "syscall_watch.h"

#include "perf_ring.h"
#include "scheduling_right.h"
#include "thread_list.h"
#include "trace_point.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A ring has 8192 records of 16 bytes, for the 50 ms between two polls. Ten million events are 160 MB. */
enum { THREADS_MAX = PERF_RINGS_MAX, FAMILY_MAX = 64, RING_PAGES = 32, EVENTS_FIRST = 4096, EVENTS_MAX = 10000000 };

struct traced_thread {
    pid_t id;              /* 0: the place is free */
    struct perf_ring ring; /* of the entries */
    int exits;             /* the event of the exits, which writes into the same ring */
};

struct syscall_watch {
    pid_t family[FAMILY_MAX];
    int processes;
    bool with_descendants;
    int64_t enter_id, exit_id; /* of the trace points */
    struct traced_thread threads[THREADS_MAX];
    pid_t draining;            /* whose records are being read */
    struct syscall_event *events;
    int64_t count;
    int64_t capacity;
    int64_t lost;
    int error;                 /* why the last thread could not be watched */
};

static void add_event(void *context, const union perf_record *record)
{
    struct syscall_watch *const watch = context;
    if (record->header.type != PERF_RECORD_SAMPLE)
        return;
    if (watch->count == watch->capacity) {
        const int64_t capacity = watch->capacity ? 2 * watch->capacity : EVENTS_FIRST;
        struct syscall_event *const events =
            capacity > EVENTS_MAX ? NULL : realloc(watch->events, (size_t)capacity * sizeof *events);
        if (!events) {
            watch->lost++;
            return;
        }
        watch->events = events;
        watch->capacity = capacity;
    }
    watch->events[watch->count++] =
        (struct syscall_event){.time_ns = (int64_t)record->timed.time_ns, .thread = watch->draining};
}

static void drain(struct syscall_watch *watch, struct traced_thread *thread)
{
    watch->draining = thread->id;
    perf_ring_drain(&thread->ring, add_event, watch);
}

static void let_go(struct syscall_watch *watch, struct traced_thread *thread)
{
    drain(watch, thread);
    watch->lost += thread->ring.lost;
    perf_ring_close(&thread->ring);
    close(thread->exits);
    thread->id = 0;
}

/* Returns 0 or a negative errno. */
static int open_events(const struct syscall_watch *watch, struct traced_thread *thread, pid_t id)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attributes,
        .config = (uint64_t)watch->enter_id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TIME,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    const int error = perf_ring_open(&thread->ring, &attributes, id, RING_PAGES);
    if (error)
        return error;
    attributes.config = (uint64_t)watch->exit_id;
    thread->exits = perf_ring_join(&thread->ring, &attributes, id);
    if (thread->exits >= 0) {
        thread->id = id;
        return 0;
    }
    perf_ring_close(&thread->ring);
    return thread->exits;
}

static void adopt(struct syscall_watch *watch, pid_t id)
{
    struct traced_thread *place = NULL;
    for (int i = 0; i < THREADS_MAX; i++) {
        if (watch->threads[i].id == id)
            return;
        if (!watch->threads[i].id && !place)
            place = &watch->threads[i];
    }
    const int error = place ? open_events(watch, place, id) : -ENOSPC;
    if (error)
        watch->error = error;
}

/* Takes the events of all threads, and lets go of those that have ended. */
static void drain_all(struct syscall_watch *watch)
{
    const struct perf_ring *rings[THREADS_MAX];
    bool has_ended[THREADS_MAX];
    for (int i = 0; i < THREADS_MAX; i++)
        rings[i] = &watch->threads[i].ring;
    perf_rings_find_ended(rings, THREADS_MAX, has_ended);
    for (int i = 0; i < THREADS_MAX; i++) {
        if (has_ended[i])
            let_go(watch, &watch->threads[i]);
        else if (watch->threads[i].id)
            drain(watch, &watch->threads[i]);
    }
}

int syscall_watch_poll(struct syscall_watch *watch)
{
    pid_t ids[THREADS_MAX];
    int watched = 0;
    drain_all(watch);
    if (watch->with_descendants)
        watch->processes = thread_list_family(watch->family[0], watch->family, FAMILY_MAX);
    for (int p = 0; p < watch->processes; p++) {
        const int count = thread_list(watch->family[p], ids, THREADS_MAX);
        for (int i = 0; i < count; i++)
            adopt(watch, ids[i]);
    }
    for (int i = 0; i < THREADS_MAX; i++)
        watched += watch->threads[i].id != 0;
    return watched;
}

int syscall_watch_create(struct syscall_watch **watch, pid_t process)
{
    struct syscall_watch *created = calloc(1, sizeof *created);
    *watch = NULL;
    if (!created)
        return -ENOMEM;
    created->family[created->processes++] = process;
    created->enter_id = trace_point_id("raw_syscalls/sys_enter");
    created->exit_id = trace_point_id("raw_syscalls/sys_exit");
    int error = (int)(created->enter_id < 0 ? created->enter_id : created->exit_id < 0 ? created->exit_id : 0);
    if (!error && !syscall_watch_poll(created))
        error = created->error ? created->error : -ESRCH;
    if (error)
        syscall_watch_destroy(&created);
    *watch = created;
    return error;
}

void syscall_watch_family(struct syscall_watch *watch)
{
    watch->with_descendants = true;
}

int64_t syscall_watch_events(struct syscall_watch *watch, int64_t from_ns, const struct syscall_event **events)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < watch->count; i++)
        if (watch->events[i].time_ns >= from_ns)
            watch->events[kept++] = watch->events[i];
    watch->count = kept;
    *events = watch->events;
    return kept;
}

int64_t syscall_watch_lost(const struct syscall_watch *watch)
{
    int64_t lost = watch->lost;
    for (int i = 0; i < THREADS_MAX; i++)
        lost += watch->threads[i].id ? watch->threads[i].ring.lost : 0;
    return lost;
}

void syscall_watch_destroy(struct syscall_watch **watch)
{
    if (!*watch)
        return;
    for (int i = 0; i < THREADS_MAX; i++)
        if ((*watch)->threads[i].id)
            let_go(*watch, &(*watch)->threads[i]);
    free((*watch)->events);
    free(*watch);
    *watch = NULL;
}

/* A container often lacks the capabilities, so that root there may not either. */
static const char *who_may(void)
{
    if (geteuid() && (capability_is_in_reach(CAP_PERFMON) || capability_is_in_reach(CAP_SYS_ADMIN)))
        return "only root may watch system calls; run it with sudo";
    return "nobody may watch system calls here, because a capability is missing or a filter of system calls forbids it, as in a "
           "container; this cannot be changed here: run it outside of that";
}

const char *syscall_watch_remedy(int error, char text[SYSCALL_WATCH_REMEDY_SIZE])
{
    if (error == -ENOENT)
        snprintf(text, SYSCALL_WATCH_REMEDY_SIZE, "the kernel's trace points of system calls cannot be found; `sudo mount -t tracefs "
                 "tracefs /sys/kernel/tracing` shows them if the kernel has them (CONFIG_FTRACE_SYSCALLS)");
    else if (error == -EACCES || error == -EPERM)
        snprintf(text, SYSCALL_WATCH_REMEDY_SIZE, "%s", who_may());
    else if (error == -ESRCH)
        snprintf(text, SYSCALL_WATCH_REMEDY_SIZE, "there is no such process");
    else
        snprintf(text, SYSCALL_WATCH_REMEDY_SIZE, "its system calls cannot be recorded: %s", strerror(-error));
    return text;
}
