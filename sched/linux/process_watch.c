/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process_watch.h"

#include "switch_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* A player has some hundreds of jobs per second and thread at most. */
enum { EVENTS_FIRST = 256, FAMILY_MAX = 64, THOROUGH_POLLS = 5 };
enum { FILES_SPARE = 48, LISTED_MAX = 1024 };

struct watched_thread {
    pid_t process;
    pid_t id;                 /* 0: the place is free */
    char name[THREAD_NAME_SIZE];
    bool is_alive;            /* the ring is open */
    struct perf_ring ring;
    struct job_fold fold;
    struct thread_use use;
    struct thread_event *events;
    int64_t count;
    int64_t capacity;
};

struct process_watch {
    pid_t family[FAMILY_MAX]; /* the process first */
    int processes;
    bool with_descendants;
    bool is_outdated; /* threads may have started or ended, or changed their names, since /proc was read */
    int listed;       /* threads that /proc had then */
    int polls;        /* that have read /proc */
    int count;        /* of the places used so far */
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
    thread_use_add(&thread->use, at);
    if (job_fold_add(&thread->fold, at, &job))
        add_job(thread, &job);
}

struct listed_thread {
    pid_t process;
    pid_t id;
};

static void give_up(struct process_watch *watch, int error)
{
    watch->gaps.unwatched++;
    watch->gaps.error = error;
}

/* Returns the first free place, which may be the one after the last; WATCHED_THREADS_MAX if there is none. */
static int free_place(const struct process_watch *watch)
{
    int place = 0;
    while (place < watch->count && watch->threads[place].id)
        place++;
    return place;
}

/* True if an open file is among the last that this program may have: the caller needs some for reservations, and all for /proc. */
static bool is_among_last_files(int fd)
{
    struct rlimit files;
    return !getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < (rlim_t)fd + FILES_SPARE;
}

/*
 * Begins to watch a thread. A thread that ends meanwhile is not an error. When there was no file for one thread, no other is tried. What
 * the thread has started before it was watched is found at the next poll.
 */
static void adopt(struct process_watch *watch, struct listed_thread listed)
{
    struct perf_ring ring;
    const int place = free_place(watch);
    if (place == WATCHED_THREADS_MAX || (watch->gaps.unwatched && watch->gaps.error == -EMFILE)) {
        give_up(watch, place == WATCHED_THREADS_MAX ? 0 : -EMFILE);
        return;
    }
    const int error = switch_ring_open(&ring, listed.id);
    if (error) {
        if (error != -ESRCH)
            give_up(watch, error);
        return;
    }
    if (is_among_last_files(ring.fd)) {
        perf_ring_close(&ring);
        give_up(watch, -EMFILE);
        return;
    }
    struct watched_thread *const thread = &watch->threads[place];
    watch->count += place == watch->count;
    *thread = (struct watched_thread){.process = listed.process, .id = listed.id, .is_alive = true, .ring = ring};
    thread_list_name(listed.process, listed.id, thread->name);
    watch->is_outdated = true;
}

static bool is_watched(const struct process_watch *watch, pid_t id)
{
    for (int i = 0; i < watch->count; i++)
        if (watch->threads[i].is_alive && watch->threads[i].id == id)
            return true;
    return false;
}

static bool is_in(const struct listed_thread *listed, int count, pid_t id)
{
    for (int i = 0; i < count; i++)
        if (listed[i].id == id)
            return true;
    return false;
}

/* Takes the last records of a thread that has ended. It may have started others since the last poll. */
static void bury(struct process_watch *watch, struct watched_thread *thread)
{
    switch_ring_drain(&thread->ring, take_switch, thread);
    watch->gaps.lost_records += thread->ring.lost;
    perf_ring_close(&thread->ring);
    thread->is_alive = false;
    watch->is_outdated = true;
}

/* Lists all threads of the process and its family. Returns their number; 0 if the process has ended. */
static int list_all(const struct process_watch *watch, struct listed_thread *listed)
{
    pid_t ids[LISTED_MAX];
    int count = 0;
    for (int p = 0; p < watch->processes; p++) {
        const int threads = thread_list(watch->family[p], ids, LISTED_MAX - count);
        for (int i = 0; i < threads; i++)
            listed[count++] = (struct listed_thread){.process = watch->family[p], .id = ids[i]};
        if (!count)
            return 0;
    }
    return count;
}

/* A thread may take another name, and gets one with exec. One that has ended keeps its last. */
static void read_names(struct process_watch *watch)
{
    for (int i = 0; i < watch->count; i++) {
        struct watched_thread *const thread = &watch->threads[i];
        char name[THREAD_NAME_SIZE];
        if (thread->is_alive && strcmp(thread_list_name(thread->process, thread->id, name), "?"))
            strcpy(thread->name, name);
    }
}

/* Takes the records of all threads. Returns the number of threads that live. */
static int drain_all(struct process_watch *watch)
{
    int alive = 0;
    for (int i = 0; i < watch->count; i++) {
        struct watched_thread *const thread = &watch->threads[i];
        if (thread->is_alive && switch_ring_drain(&thread->ring, take_switch, thread))
            watch->is_outdated = true;
        alive += thread->is_alive;
    }
    return alive;
}

static void bury_ended(struct process_watch *watch)
{
    const struct perf_ring *rings[WATCHED_THREADS_MAX];
    bool has_ended[WATCHED_THREADS_MAX];
    for (int i = 0; i < watch->count; i++)
        rings[i] = &watch->threads[i].ring;
    perf_rings_find_ended(rings, watch->count, has_ended);
    for (int i = 0; i < watch->count; i++)
        if (has_ended[i])
            bury(watch, &watch->threads[i]);
}

/* Reads in /proc which threads there are now. */
static void look_up(struct process_watch *watch)
{
    struct listed_thread listed[LISTED_MAX];
    const bool is_thorough = watch->is_outdated || watch->polls % THOROUGH_POLLS == 0;
    watch->polls++;
    watch->is_outdated = false;
    if (watch->with_descendants && is_thorough)
        watch->processes = thread_list_family(watch->family[0], watch->family, FAMILY_MAX);
    watch->listed = list_all(watch, listed);
    watch->gaps.unwatched = 0; /* the threads of now that are not watched */
    for (int i = 0; i < watch->count; i++)
        if (watch->threads[i].is_alive && !is_in(listed, watch->listed, watch->threads[i].id))
            bury(watch, &watch->threads[i]);
    for (int i = 0; i < watch->listed; i++)
        if (!is_watched(watch, listed[i].id))
            adopt(watch, listed[i]);
    if (is_thorough)
        read_names(watch);
}

int process_watch_poll(struct process_watch *watch)
{
    bury_ended(watch);
    const int alive = drain_all(watch);
    if (watch->is_outdated || alive != watch->listed || !alive)
        look_up(watch);
    return watch->listed;
}

int process_watch_create(struct process_watch **watch, pid_t process)
{
    struct process_watch *const created = calloc(1, sizeof *created);
    *watch = NULL;
    if (!created)
        return -ENOMEM;
    created->family[created->processes++] = process;
    const int threads = process_watch_poll(created);
    const int error = created->gaps.error && !created->count ? created->gaps.error : -ESRCH;
    if (threads && created->count) {
        *watch = created;
        return 0;
    }
    free(created);
    return error;
}

void process_watch_family(struct process_watch *watch)
{
    watch->with_descendants = true;
    watch->is_outdated = true;
}

/* Returns the number of the first event that is not before this time. */
static int64_t first_since(const struct watched_thread *thread, int64_t from_ns)
{
    int64_t first = 0, end = thread->count;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (thread->events[middle].time_ns < from_ns)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

int process_watch_threads(const struct process_watch *watch, int64_t from_ns, struct period_thread *threads, int most)
{
    const int count = watch->count < most ? watch->count : most;
    for (int i = 0; i < count; i++) {
        const struct watched_thread *const thread = &watch->threads[i];
        const int64_t first = first_since(thread, from_ns);
        threads[i] = (struct period_thread){
            .events = first < thread->count ? &thread->events[first] : NULL, .count = thread->count - first,
        };
    }
    return count;
}

int process_watch_count(const struct process_watch *watch)
{
    return watch->count;
}

void process_watch_forget(struct process_watch *watch, int64_t before_ns)
{
    for (int i = 0; i < watch->count; i++) {
        struct watched_thread *const thread = &watch->threads[i];
        int64_t first = first_since(thread, before_ns);
        first -= first && thread->events[first - 1].end_ns >= before_ns; /* jobs follow each other: at most one is under way */
        thread->count -= first;
        if (thread->count)
            memmove(thread->events, &thread->events[first], (size_t)thread->count * sizeof *thread->events);
        if (thread->is_alive || thread->count)
            continue;
        free(thread->events);
        *thread = (struct watched_thread){.id = 0};
    }
}

pid_t process_watch_process(const struct process_watch *watch, int thread)
{
    return watch->threads[thread].process;
}

pid_t process_watch_id(const struct process_watch *watch, int thread)
{
    return watch->threads[thread].id;
}

bool process_watch_lives(const struct process_watch *watch, int thread)
{
    return watch->threads[thread].is_alive;
}

struct thread_use *process_watch_use(struct process_watch *watch, int thread)
{
    return &watch->threads[thread].use;
}

bool process_watch_unfinished(const struct process_watch *watch, int thread, int64_t now_ns, struct thread_event *job)
{
    return watch->threads[thread].is_alive && job_fold_unfinished(&watch->threads[thread].fold, now_ns, job);
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
            perf_ring_close(&thread->ring);
        free(thread->events);
    }
    free(*watch);
    *watch = NULL;
}
