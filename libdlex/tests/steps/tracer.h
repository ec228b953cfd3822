/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracer.h: stops a function at each of its instructions and causes an event there.
 *
 * The tracer single-steps one process, the leader, through the function once. At every stop it makes the leader clone
 * itself, and upsets the clone: it moves the clone's clocks and sends it the signal. Then the clone runs to its end at
 * full speed, while the leader stays stopped. So each instruction costs one fork and not a run from the start, and all
 * clones come from the same run.
 *
 * Works on Linux on x86-64. Without the right to ptrace, tracer_walk returns -EPERM.
 */
#ifndef STEPS_TRACER_H
#define STEPS_TRACER_H

#include <stdbool.h>
#include <stdint.h>

/* The result of a clone. */
struct report {
    char log[32];
    char complaint[96]; /* empty: no error */
};

/* The event at an instruction. */
struct upset {
    int64_t wall_ns, cpu_ns; /* new times of the clocks, counted from their start; 0: unchanged */
    /* The signal is sent: when the timer is due, always, never, when a block is bound to the trigger, which is fired. With
     * UPSET_INTERRUPT nothing else happens than that SIGUSR1 is sent, for which the program has a handler. */
    enum { UPSET_DUE, UPSET_ALWAYS, UPSET_MUTE, UPSET_FIRE, UPSET_INTERRUPT } signal;
};

struct walk {
    void (*run)(void);                     /* this function is stepped through, from the first to the last instruction */
    void (*prepare)(void);                 /* runs before it, at full speed */
    void (*check)(struct report *report);  /* runs after it, in leader and clones: fills the report */
    struct upset upset;
    /* Called for each clone; where is the instruction, as an offset in the program. Returns false to stop the walk. */
    bool (*each)(void *arg, const struct report *report, uintptr_t where);
    void *arg;
};

/* Returns the number of instructions, or a negative errno value. */
int tracer_walk(const struct walk *walk);

#endif
