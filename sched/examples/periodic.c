/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A player without pictures, for tests and experiments with dlex-sched: works at a rate, for a time, in one or several threads.
 * Run as: periodic HZ CPU_MS SECONDS [THREADS [HZ_LATER [times]]]. With HZ_LATER the rate changes in the middle. `times` prints at the
 * end when the first thread's jobs were done, in ns (CLOCK_MONOTONIC). Exits with 3.
 */
#include "ns.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 128, JOBS_MAX = 100000, EXIT_PLAYED = 3 };

static double hz, cpu_ms, seconds, hz_later;
/* Of the first thread. Touched before it plays, so that nothing waits for memory then. */
static int64_t done_ns[JOBS_MAX];
static int done;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return ns_from_timespec(now);
}

static void work(void)
{
    const int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (int64_t)(cpu_ms * (double)NS_PER_MS);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
        ;
}

static void sleep_until(int64_t time_ns)
{
    const struct timespec time = ns_to_timespec(time_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* is_first: not NULL in the first thread. */
static void *play(void *is_first)
{
    const int64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
    double at_s = 0;
    while (at_s < seconds) {
        work();
        if (is_first && done < JOBS_MAX)
            done_ns[done++] = clock_ns(CLOCK_MONOTONIC);
        at_s += 1 / (at_s < seconds / 2 ? hz : hz_later);
        sleep_until(begun_ns + (int64_t)(at_s * (double)NS_PER_S));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    if (argc < 4)
        return 1;
    hz = strtod(argv[1], NULL);
    cpu_ms = strtod(argv[2], NULL);
    seconds = strtod(argv[3], NULL);
    const int count = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1;
    hz_later = argc > 5 ? strtod(argv[5], NULL) : hz;
    for (int i = 1; i < count && i < THREADS_MAX; i++)
        if (pthread_create(&threads[i], NULL, play, NULL))
            return 2;
    memset(done_ns, 1, sizeof done_ns);
    play(&done);
    for (int i = 1; i < count && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; argc > 6 && i < done; i++)
        printf("%lld\n", (long long)done_ns[i]);
    return EXIT_PLAYED;
}
