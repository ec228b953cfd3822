/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gate_overhead.h"

#include <stdio.h>

#include "timed_process.h"

enum { TURN_PACKETS = 25 }; /* short compared with changes of the machine's load, long compared with a start */

enum { PRISTINE, GATED, BUILDS };

static int take_turns(struct timed_process *processes, size_t packet_count, int first)
{
    for (size_t done = 0; done < packet_count; done += TURN_PACKETS, first = !first) {
        const size_t left = packet_count - done;
        const size_t packets = left < TURN_PACKETS ? left : TURN_PACKETS;
        if (timed_process_decode(&processes[first], packets) < 0 ||
            timed_process_decode(&processes[!first], packets) < 0)
            return -1;
    }
    return 0;
}

static int run_pair(struct gate_overhead *overhead, int index)
{
    const char *const programs[BUILDS] = {
        [PRISTINE] = overhead->pristine_program,
        [GATED] = overhead->gated_program,
    };
    struct timed_process processes[BUILDS] = {0};
    int ret = 0;
    for (int i = 0; i < BUILDS && !ret; i++)
        ret = timed_process_start(&processes[i], programs[i], overhead->clip);
    size_t packet_count = processes[PRISTINE].packet_count;
    if (overhead->packet_count && overhead->packet_count < packet_count)
        packet_count = overhead->packet_count;
    if (!ret)
        ret = take_turns(processes, packet_count, index % 2);
    overhead->pictures = processes[PRISTINE].pictures;
    if (ret < 0) {
        fprintf(stderr, "dlex-bench-decode: %s could not be decoded; see above\n", overhead->clip);
    } else if (processes[GATED].pictures != overhead->pictures || !overhead->pictures) {
        fprintf(stderr,
                "dlex-bench-decode: %d pictures without gate, %d with it; the gate is broken\n",
                overhead->pictures, processes[GATED].pictures);
        ret = -1;
    }
    overhead->pairs[index] = (struct overhead_pair){
        .gated_ns = processes[GATED].cpu_ns,
        .pristine_ns = processes[PRISTINE].cpu_ns,
    };
    for (int i = 0; i < BUILDS; i++)
        timed_process_stop(&processes[i]);
    return ret;
}

int overhead_measure(struct gate_overhead *overhead)
{
    double ratios[OVERHEAD_MOST_PAIRS];
    for (int i = 0; i < overhead->pair_count; i++) {
        if (run_pair(overhead, i) < 0)
            return -1;
        ratios[i] = (double)overhead->pairs[i].gated_ns / overhead->pairs[i].pristine_ns;
        fprintf(stderr, "pair %d of %d: %.4f\n", i + 1, overhead->pair_count, ratios[i]);
    }
    overhead->ratio = stats_bootstrap_median(ratios, overhead->pair_count, overhead->seed);
    overhead->spread_low = ratios[0]; /* the bootstrap left them sorted */
    overhead->spread_high = ratios[overhead->pair_count - 1];
    return 0;
}
