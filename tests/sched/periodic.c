/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A player without pictures, for the tests of dlex-sched: works at a rate, for a time, in one or several threads.
 * Run as: periodic HZ CPU_MS SECONDS [THREADS [HZ_LATER]]. With HZ_LATER the rate changes in the middle. Exits with 3.
 */
#include "ns.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 128, EXIT_PLAYED = 3 };

static double hz, cpu_ms, seconds, hz_later;

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

static void *play(void *unused)
{
    const int64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
    double at_s = 0;
    while (at_s < seconds) {
        work();
        at_s += 1 / (at_s < seconds / 2 ? hz : hz_later);
        sleep_until(begun_ns + (int64_t)(at_s * (double)NS_PER_S));
    }
    return unused;
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
    play(NULL);
    for (int i = 1; i < count && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    return EXIT_PLAYED;
}
