/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record-cost: measures how much CPU time a record of a context switch costs the thread that is watched (switch_ring.h). A thread
 * sleeps often and shortly, with and without a ring, in turn. Prints JSON: ns of CPU time a switch, the least of all rounds, with
 * and without, and the difference. Exit status: 0; 2 after one sentence.
 */
#include "ns.h"
#include "standard_output.h"
#include "switch_ring.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS = 60,
    CHUNKS = 20,
    SLEEPS = 50,            /* between two looks into the ring, which must not overflow */
    SWITCHES_OF_SLEEP = 2,
    SLEEP_NS = 20000,
    EXIT_DONE = 0,
    EXIT_IMPOSSIBLE = 2,
};

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return ns_from_timespec(now);
}

static void count_switch(void *count, const struct thread_switch *at)
{
    *(int64_t *)count += at->kind != SWITCH_LOST;
}

/* Returns the CPU time of one round. ring may be NULL. Adds to *records. */
static int64_t sleep_often(struct perf_ring *ring, int64_t *records)
{
    const struct timespec pause = {.tv_nsec = SLEEP_NS};
    int64_t used_ns = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        const int64_t begun_ns = cpu_ns();
        for (int i = 0; i < SLEEPS; i++)
            nanosleep(&pause, NULL);
        used_ns += cpu_ns() - begun_ns;
        if (ring)
            switch_ring_drain(ring, count_switch, records);
    }
    return used_ns;
}

static void keep_least(int64_t *least, int64_t value)
{
    if (!*least || value < *least)
        *least = value;
}

int main(void)
{
    const double switches = (double)CHUNKS * SLEEPS * SWITCHES_OF_SLEEP;
    int64_t without_ns = 0, with_ns = 0, records = 0;
    standard_output_begin("record-cost", EXIT_IMPOSSIBLE);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct perf_ring ring;
        char text[SWITCH_RING_REMEDY_SIZE];
        keep_least(&without_ns, sleep_often(NULL, &records));
        const int error = switch_ring_open(&ring, gettid());
        if (error) {
            fprintf(stderr, "record-cost: %s\n", switch_ring_remedy(error, text));
            return EXIT_IMPOSSIBLE;
        }
        keep_least(&with_ns, sleep_often(&ring, &records));
        perf_ring_close(&ring);
    }
    if ((double)records < ROUNDS * switches / 2) {
        fprintf(stderr, "record-cost: only %lld records came\n", (long long)records);
        return EXIT_IMPOSSIBLE;
    }
    printf("{\"without_ns\": %.1f, \"with_ns\": %.1f, \"record_ns\": %.1f}\n", (double)without_ns / switches, (double)with_ns / switches,
           (double)(with_ns - without_ns) / switches);
    return EXIT_DONE;
}
