/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "storm_run.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <dlex/dlex.h>

#include "heap_ledger.h"
#include "ns.h"

#define LOOK_NS  (50 * NS_PER_MS)
/* The longest deadline is 128 us; even so, a busy machine may need a while for it. */
#define STALL_NS (120 * NS_PER_S)

struct worker {
    pthread_t thread;
    struct storm_tools tools;
    uint64_t wanted;
    uint32_t seed;
    int err;
    _Atomic(int) kind; /* of the block that is open */
    atomic_ullong blocks;
    uint64_t aborts[STORM_KINDS];
    uint64_t left_pieces, not_aborted;
};

/*
 * Returns a time from 2 us upward. Short ones are as frequent as long ones; in a long one, the loop
 * has come far.
 */
static int64_t random_ns(uint32_t r)
{
    const int64_t shortest_ns = INT64_C(2000) << r % 6;
    return shortest_ns + r / 6 % shortest_ns;
}

static bool is_aborted(struct worker *w, enum storm_kind kind, int64_t ns, bool wcet)
{
    if (wcet) {
        dlex_try_within_wcet(ns) {
            storm_loop(kind, &w->tools);
        } dlex_handle dlex_when(dlex_wcet_violation) {
            return true;
        } dlex_end
    } else {
        dlex_try_within_rel(ns) {
            storm_loop(kind, &w->tools);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            return true;
        } dlex_end
    }
    return false;
}

static void storm_block(struct worker *w)
{
    const uint32_t r = storm_random(&w->tools);
    const enum storm_kind kind = r % STORM_KINDS;
    w->kind = kind;
    storm_loop_entered(kind);
    const bool aborted = is_aborted(w, kind, random_ns(r / 64), r / 8 % 4 == 0);
    w->left_pieces += storm_loop_left(kind, &w->tools);
    if (aborted)
        w->aborts[kind]++;
    else
        w->not_aborted++;
    atomic_fetch_add_explicit(&w->blocks, 1, memory_order_relaxed);
}

static void *storm_thread(void *worker)
{
    struct worker *const w = worker;
    w->err = dlex_thread_init();
    if (!w->err && storm_tools_init(&w->tools, w->seed) < 0)
        w->err = -errno;
    while (!w->err && w->blocks < w->wanted)
        storm_block(w);
    storm_tools_finish(&w->tools);
    return NULL;
}

static int descriptors_in_use(void)
{
    int n = 0;
    DIR *const dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* All these threads exist at the same time. So each has its own stack, with what belongs to it, and
 * libc keeps the stacks for later threads. */
static void *allocate_together(void *barrier)
{
    pthread_barrier_wait(barrier);
    free(malloc(1));
    pthread_barrier_wait(barrier);
    return NULL;
}

void storm_warm_up(int threads)
{
    pthread_t ids[STORM_THREADS_MAX];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    int n = 0;
    while (n < threads && pthread_create(&ids[n], NULL, allocate_together, &barrier) == 0)
        n++;
    while (n > 0)
        pthread_join(ids[--n], NULL);
    pthread_barrier_destroy(&barrier);
}

struct watch {
    uint64_t blocks[STORM_THREADS_MAX];
    int64_t moved_ns[STORM_THREADS_MAX];
};

/*
 * Returns how many blocks there have been. If a thread makes no progress, prints which and sets
 * *stalled.
 */
static uint64_t look_at(const struct worker *workers, int threads, struct watch *watch,
                        bool *stalled)
{
    const int64_t now_ns = dlex_now_ns();
    uint64_t all = 0;
    for (int i = 0; i < threads; i++) {
        const struct worker *const w = &workers[i];
        const uint64_t blocks = atomic_load_explicit(&w->blocks, memory_order_relaxed);
        if (blocks != watch->blocks[i] || blocks >= w->wanted || watch->moved_ns[i] == 0)
            watch->moved_ns[i] = now_ns;
        watch->blocks[i] = blocks;
        if (now_ns - watch->moved_ns[i] > STALL_NS) {
            fprintf(stderr, "storm: thread %d of %d made no progress for two minutes, in its block "
                            "%llu, of kind %s\n", i, threads, (unsigned long long)blocks,
                    storm_kind_names[w->kind]);
            *stalled = true;
        }
        all += blocks;
    }
    return all;
}

static void show(int threads, uint64_t done, uint64_t all)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%3d threads, %3d %% of %llu aborts ", threads,
                (int)(done * 100 / (all ? all : 1)), (unsigned long long)all);
}

/* Waits until all threads are done or one makes no progress. Returns true in the second case. */
static bool wait_for(struct worker *workers, int threads, uint64_t wanted, uint64_t before,
                     uint64_t all)
{
    struct watch watch = { .moved_ns = { 0 } };
    bool stalled = false;
    const struct timespec pause = { .tv_nsec = LOOK_NS };
    uint64_t done = 0;
    while (done < wanted && !stalled) {
        nanosleep(&pause, NULL);
        done = look_at(workers, threads, &watch, &stalled);
        show(threads, before + done, all);
        for (int i = 0; i < threads; i++)
            if (workers[i].err)
                return false;
    }
    return stalled;
}

static int start(struct worker *workers, int threads, uint64_t aborts, uint32_t seed)
{
    for (int i = 0; i < threads; i++) {
        workers[i].wanted = aborts / threads + ((uint64_t)i < aborts % threads);
        workers[i].seed = seed * 2654435761u + 40503u * (unsigned)(threads * 256 + i) + 1;
    }
    for (int i = 0; i < threads; i++) {
        const int err = pthread_create(&workers[i].thread, NULL, storm_thread, &workers[i]);
        if (err) {
            while (i > 0)
                pthread_join(workers[--i].thread, NULL);
            return -err;
        }
    }
    return 0;
}

static int collect(struct storm_result *result, struct worker *workers, int threads)
{
    int err = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        for (int kind = 0; kind < STORM_KINDS; kind++)
            result->aborts[kind] += workers[i].aborts[kind];
        result->left_pieces += workers[i].left_pieces;
        result->not_aborted += workers[i].not_aborted;
        err = err ? err : workers[i].err;
    }
    return err;
}

int storm_run(struct storm_result *result, int threads, uint64_t aborts, uint32_t seed,
              uint64_t before, uint64_t all)
{
    *result = (struct storm_result){ .threads = threads };
    const int64_t bytes = heap_ledger_in_use();
    const int descriptors = descriptors_in_use();
    const int64_t start_ns = dlex_now_ns();
    struct worker *const workers = calloc(threads, sizeof(*workers));
    if (!workers)
        return -ENOMEM;
    int err = start(workers, threads, aborts, seed);
    if (!err) {
        result->stalled = wait_for(workers, threads, aborts, before, all);
        if (result->stalled)
            return 0;
        err = collect(result, workers, threads);
    }
    free(workers);
    result->duration_ns = dlex_now_ns() - start_ns;
    result->leaked_bytes = heap_ledger_in_use() - bytes;
    result->leaked_descriptors = descriptors_in_use() - descriptors;
    return err;
}
