/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracer.h: stops a function at each of its instructions and lets something happen there.
 *
 * One process, the leader, is single-stepped through the function once. At every stop the tracer
 * makes it clone itself, upsets the clone (moves its clocks, sends it the signal), and lets that
 * run on freely to the end, alone, while the leader stands. So each instruction costs one fork,
 * not a run from the start, and all clones come from the same run.
 *
 * For Linux on x86-64. Without the right to ptrace nothing can be done: -EPERM.
 */
#ifndef STEPS_TRACER_H
#define STEPS_TRACER_H

#include <stdbool.h>
#include <stdint.h>

/* What a clone leaves behind. */
struct report {
    char log[32];
    char complaint[96]; /* empty: all is well */
};

/* What happens at an instruction. */
struct upset {
    int64_t wall_ns, cpu_ns; /* where the clocks go, after their start; 0: they stay */
    enum { UPSET_DUE, UPSET_ALWAYS, UPSET_MUTE } signal; /* as the timer would, anyway, not at all */
};

struct walk {
    void (*run)(void);                     /* stepped through, first to last instruction */
    void (*prepare)(void);                 /* before it, at full speed */
    void (*check)(struct report *report);  /* after it, in leader and clones: fills the report */
    struct upset upset;
    /* Told of each clone: where it came from as an offset in the program. false: stop the walk. */
    bool (*each)(void *arg, const struct report *report, uintptr_t where);
    void *arg;
};

/* Returns the number of instructions, or a negative errno value. */
int tracer_walk(const struct walk *walk);

#endif
