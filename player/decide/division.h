/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a reservation's budget is divided between the thread that presents and the one that decodes ahead, learnt while playing. What
 * presenting does not need is lost to decoding, because the kernel does not lend it. The functions are pure; times are in ns.
 *
 * At the beginning the presenter has 22 %: drawing took 13 to 16 % of the CPU time of both on three films of 360 and 1080 lines, and a
 * picture that is flipped late is seen late. From then on it has what one picture takes, times the pictures in a period: by the most
 * costly of the last pictures but one, and a margin. The most costly one does not count, because the host may have halted the machine
 * meanwhile. That is at most 22 %, and at least 5 %. It has more, up to one half, only where the mean needs more.
 *
 * Where 11 of 40 ms were reserved for a trailer, a simulation with 22 % lost 16 of 500 pictures, and with 14 % none or one.
 */
#ifndef PLAYER_DIVISION_H
#define PLAYER_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

/* Costs are remembered for so many pictures, or twice as many. */
enum { DIVISION_PICTURES = 64 };

struct division_block {
    int64_t most_ns, second_ns; /* what its two most costly pictures took */
    int64_t least_gap_ns;       /* 0: none is known */
};

/* Zeroed at the beginning. */
struct division {
    int64_t pictures;
    double mean_ns, mean_gap_ns; /* of about the last DIVISION_PICTURES */
    struct division_block now, before;
    int64_t decided_ns; /* 0: not yet */
};

/* Returns the presenter's part of a budget before anything is known. */
int64_t division_first_ns(int64_t runtime_ns);

/*
 * A picture was shown. cpu_ns: the CPU time of drawing and showing it. It counts for the mean at most twice as much as those before.
 * gap_ns: how long after the picture before it was due; <= 0: not known.
 */
void division_learn(struct division *division, int64_t cpu_ns, int64_t gap_ns);

/*
 * Returns whether the division of a reservation (CPU time runtime_ns in each period_ns) is to change now, and sets *part_ns, which is the
 * presenter's part, to what it should be. It decides once a second, and leaves small differences alone. Call it after each picture.
 */
bool division_decide(struct division *division, int64_t runtime_ns, int64_t period_ns, int64_t now_ns, int64_t *part_ns);

#endif
