/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process_watch.h"

#include "switch_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* A player has some hundreds of jobs per second and thread at most. */
enum { EVENTS_FIRST = 256 };

struct watched_thread {
    pid_t id;
    char name[THREAD_NAME_SIZE];
    bool is_alive;            /* the ring is open */
    struct switch_ring ring;
    struct job_fold fold;
    struct thread_event *events;
    int64_t count;
    int64_t capacity;
};

struct process_watch {
    pid_t process;
    int count; /* of the threads watched so far, dead ones included */
    struct watched_thread threads[WATCHED_THREADS_MAX];
    struct process_watch_gaps gaps;
};

/* Adds a job. Without memory the job is as lost as a record that the ring had no room for. */
static void add_job(struct watched_thread *thread, const struct thread_event *job)
{
    if (thread->count == thread->capacity) {
        const int64_t capacity = thread->capacity ? 2 * thread->capacity : EVENTS_FIRST;
        struct thread_event *const events = realloc(thread->events, (size_t)capacity * sizeof *events);
        if (!events) {
            thread->ring.lost++;
            return;
        }
        thread->events = events;
        thread->capacity = capacity;
    }
    thread->events[thread->count++] = *job;
}

static void take_switch(void *context, const struct thread_switch *at)
{
    struct watched_thread *const thread = context;
    struct thread_event job;
    if (job_fold_add(&thread->fold, at, &job))
        add_job(thread, &job);
}

static void give_up(struct process_watch *watch, int error)
{
    watch->gaps.unwatched++;
    watch->gaps.error = error;
}

/* Begins to watch a thread. A thread that ends meanwhile is no error. */
static void adopt(struct process_watch *watch, pid_t id)
{
    if (watch->count == WATCHED_THREADS_MAX) {
        give_up(watch, 0);
        return;
    }
    struct watched_thread *const thread = &watch->threads[watch->count];
    const int error = switch_ring_open(&thread->ring, id);
    if (error) {
        if (error != -ESRCH)
            give_up(watch, error);
        return;
    }
    thread->id = id;
    thread->is_alive = true;
    thread_list_name(watch->process, id, thread->name);
    watch->count++;
}

static bool is_watched(const struct process_watch *watch, pid_t id)
{
    for (int i = 0; i < watch->count; i++)
        if (watch->threads[i].is_alive && watch->threads[i].id == id)
            return true;
    return false;
}

static bool is_in(const pid_t *ids, int count, pid_t id)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Takes the last records of a thread that has ended. */
static void bury(struct process_watch *watch, struct watched_thread *thread)
{
    switch_ring_drain(&thread->ring, take_switch, thread);
    watch->gaps.lost_records += thread->ring.lost;
    switch_ring_close(&thread->ring);
    thread->is_alive = false;
}

int process_watch_poll(struct process_watch *watch)
{
    pid_t ids[WATCHED_THREADS_MAX];
    const int listed = thread_list(watch->process, ids, WATCHED_THREADS_MAX);
    const int count = listed < 0 ? 0 : listed;
    watch->gaps.unwatched = 0; /* the threads of now that are not watched */
    for (int i = 0; i < watch->count; i++) {
        struct watched_thread *const thread = &watch->threads[i];
        if (!thread->is_alive)
            continue;
        if (is_in(ids, count, thread->id))
            switch_ring_drain(&thread->ring, take_switch, thread);
        else
            bury(watch, thread);
    }
    for (int i = 0; i < count; i++)
        if (!is_watched(watch, ids[i]))
            adopt(watch, ids[i]);
    return count;
}

int process_watch_create(struct process_watch **watch, pid_t process)
{
    struct process_watch *const created = calloc(1, sizeof *created);
    *watch = NULL;
    if (!created)
        return -ENOMEM;
    created->process = process;
    const int threads = process_watch_poll(created);
    const int error = created->gaps.error && !created->count ? created->gaps.error : -ESRCH;
    if (threads && created->count) {
        *watch = created;
        return 0;
    }
    free(created);
    return error;
}

int process_watch_threads(const struct process_watch *watch, struct period_thread *threads, int most)
{
    const int count = watch->count < most ? watch->count : most;
    for (int i = 0; i < count; i++)
        threads[i] = (struct period_thread){.events = watch->threads[i].events, .count = watch->threads[i].count};
    return count;
}

pid_t process_watch_id(const struct process_watch *watch, int thread)
{
    return watch->threads[thread].id;
}

const char *process_watch_name(const struct process_watch *watch, int thread)
{
    return watch->threads[thread].name;
}

struct process_watch_gaps process_watch_gaps(const struct process_watch *watch)
{
    struct process_watch_gaps gaps = watch->gaps;
    for (int i = 0; i < watch->count; i++)
        if (watch->threads[i].is_alive)
            gaps.lost_records += watch->threads[i].ring.lost;
    return gaps;
}

void process_watch_destroy(struct process_watch **watch)
{
    if (!*watch)
        return;
    for (int i = 0; i < (*watch)->count; i++) {
        struct watched_thread *const thread = &(*watch)->threads[i];
        if (thread->is_alive)
            switch_ring_close(&thread->ring);
        free(thread->events);
    }
    free(*watch);
    *watch = NULL;
}
