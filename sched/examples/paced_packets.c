/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of seed 004's Figure 3: it declares its workload once, and calls the scheduler before each packet. The packets
 * here are work of a given length. At the end it reports the laxities: how long before its deadline each packet was done.
 *
 * Build it with: cc paced_packets.c $(pkg-config --cflags --libs dlex-lbap)
 * Run it as: paced_packets RATE COST_MS PACKETS [PRIORITY [each]]
 * such as `paced_packets 15 28 200` or, as root, with the priority 30, `paced_packets 15 28 200 30`. Priority 0 is none. `each`
 * prints every laxity, in ns, as it is reported.
 */
#include <lbap.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void print_laxity(void *unused, int64_t laxity_ns)
{
    (void)unused;
    printf("%lld\n", (long long)laxity_ns);
}

static void process_packet(double cost_ms)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const double until_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + cost_ms;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < until_ms);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("Usage: paced_packets RATE COST_MS PACKETS [PRIORITY [each]]\n", stderr);
        return 1;
    }
    const double rate = strtod(argv[1], NULL), cost_ms = strtod(argv[2], NULL);
    const long packets = strtol(argv[3], NULL, 10);
    const struct sched_param priority = {.sched_priority = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 0};
    const struct lbap_workload workload = {.size_max_bytes = 65536, .period_ns = rate > 0 ? (int64_t)(1e9 / rate) : 0};
    struct lbap lbap;
    if (lbap_init(&lbap, &workload) < 0) {
        fprintf(stderr, "the rate %s is out of range\n", argv[1]);
        return 1;
    }
    if (argc > 5)
        lbap.event = print_laxity;
    if (priority.sched_priority && sched_setscheduler(0, SCHED_FIFO, &priority))
        perror("the priority is not set");
    for (long i = 0; i < packets; i++) {
        if (lbap_enforce(&lbap, 65536, NULL) < 0)
            return 1;
        process_packet(cost_ms);
    }
    lbap_poll(&lbap, 0); /* the laxity of the last packet */
    printf("laxity %.1f to %.1f ms, %lld of %lld packets too late\n", (double)lbap.laxities.least_ns / 1e6,
           (double)lbap.laxities.most_ns / 1e6, (long long)lbap.laxities.violations, (long long)lbap.laxities.count);
    return 0;
}
