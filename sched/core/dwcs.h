/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dynamic Window-Constrained Scheduling: which process runs next (seed 001, section 3.2).
 *
 * A real-time process wants CPU time C in each period T, and may miss x of y periods. x/y is its window constraint. The
 * current window x'/y' says what is left of it: in the next y' periods the process may miss x'. A best-effort process has
 * no such attributes.
 *
 * Pure: time is an argument and nothing is allocated. All times are int64_t ns of one monotonic clock, which never goes
 * back. A struct dwcs is the run queue of one CPU. It holds no pointers, and one thread at a time may use it. An id is what
 * dwcs_add returned; it stays valid until dwcs_remove. An id that is not valid is a mistake of the caller (assert).
 *
 *     dwcs_init(&dwcs);
 *     const int film = dwcs_add(&dwcs, &(struct dwcs_params){.period_ns = T, .service_ns = C, .x = 1, .y = 5}, now_ns);
 *     at each scheduling decision:
 *         dwcs_advance(&dwcs, now_ns);              // ends periods
 *         dwcs_wake, dwcs_block                     // what has changed since the last decision
 *         const int id = dwcs_select(&dwcs);        // or event_choose, if there are events
 *         ... id runs for some time ...
 *         dwcs_run(&dwcs, id, ran_ns);
 *
 * The guarantee, as far as it is true. Let all processes begin together, with the same period, the same C, which T is a
 * multiple of, and the same y, and let none sleep past the end of a period. If dwcs_utilisation is at most 1, none misses more than x of its first y periods, of the next
 * y, and so on. Proof: all current windows have the same length y', and each process still needs m = y' - x' of its periods;
 * lowest x'/y' first is greatest m first. With k = T/C places in a period, "no m is above y', and their sum is at most k y'"
 * holds at the beginning. It stays true: at most k processes have m = y', and all of these run; if fewer than k have m > 0,
 * each of them runs, and none has more than y' - 1 left; else the sum falls by k.
 *
 * The seed and its reference [22] claim it for all y. That is false: with x/y of 7/14, 5/6, 5/6 and 5/6, T = C = 1, the
 * utilisation is 1, and the first process takes so many of the first slots that the others have two left for three. It is
 * also false for y consecutive periods that begin elsewhere, and for different periods: x/y and T of (1/2, 3), (0/1, 3) and
 * (1/2, 1), C = 1. And it is false if a process sleeps past the end of a period: its next one begins when it wakes, between the
 * others' periods. Mok and Wang (RTSS 2001) show that DWCS can fail at any utilisation; the authors' page says that it is
 * optimal for "canonical" constraints only. tests/sched/test_dwcs_guarantee.c has the examples.
 */
#ifndef SCHED_DWCS_H
#define SCHED_DWCS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DWCS_CAPACITY = 64,
    DWCS_NONE = -1,      /* no process: the CPU is idle */
    DWCS_Y_MAX = 1 << 20,
};

/* The deadline of a process that has no period now: it slept when its last one ended, or it is best-effort. */
#define DWCS_NO_DEADLINE INT64_MAX

enum dwcs_kind {
    DWCS_FREE,
    DWCS_REAL_TIME,
    DWCS_BEST_EFFORT,
    DWCS_SERVER, /* holds a place for sinks of events and for best-effort processes; see dwcs_server.h */
};

/* x = y = 0 means no window constraint: earliest deadline first. Its misses are counted, but there are no violations. */
struct dwcs_params {
    int64_t period_ns;       /* T > 0 */
    int64_t service_ns;      /* C: 0 < C <= T */
    int32_t x;               /* 0 <= x <= y */
    int32_t y;               /* at most DWCS_Y_MAX */
    bool is_work_conserving; /* may run on when it has had C and no other process needs the CPU to get its own C */
    /* Other readings of the seed, for simulations of its experiments. With them there is no guarantee. */
    bool keeps_rank;    /* work-conserving: having had C, it competes by its deadline with those that have had less */
    bool keeps_periods; /* its periods go on while it sleeps */
};

/* Periods. Those at whose end the process slept and in which it had not run are in none of these. */
struct dwcs_counts {
    int64_t served;     /* with C, or with all that the process wanted */
    int64_t missed;     /* with less */
    int64_t violations; /* missed while x' was 0 */
};

struct dwcs_process {
    enum dwcs_kind kind;
    struct dwcs_params params;
    int32_t x_now;         /* x' */
    int32_t y_now;         /* y' >= x' */
    int64_t deadline_ns;   /* when its current period ends, or DWCS_NO_DEADLINE */
    int64_t received_ns;   /* CPU time in the current period */
    bool is_served;        /* has had C in the current period */
    bool is_runnable;
    uint64_t turn;         /* order in which processes got their current deadline; best-effort ones: ran last */
    struct dwcs_counts counts;
};

struct dwcs {
    struct dwcs_process process[DWCS_CAPACITY]; /* by id */
    uint64_t turns;
};

void dwcs_init(struct dwcs *dwcs);

/*
 * Adds a runnable real-time process, whose first period begins at now_ns. There is no admission test: in overload DWCS
 * still bounds delays, so the caller decides what to do with a utilisation above 1. Returns its id, -EINVAL (attributes
 * outside their ranges) or -ENOSPC.
 */
int dwcs_add(struct dwcs *dwcs, const struct dwcs_params *params, int64_t now_ns);

/* Adds a runnable best-effort process. Returns its id or -ENOSPC. */
int dwcs_add_best_effort(struct dwcs *dwcs);

/* Removes a process. Its id may be given to another one. */
void dwcs_remove(struct dwcs *dwcs, int id);

/*
 * Ends every period that ends by now_ns, in order of time. A runnable process with less than C has missed its deadline
 * (Rule b), and its next period begins. A process that sleeps gets its next period when it wakes. If it ran in the period
 * that ends, it went to sleep because it wanted no more, which is no miss (Rule a). If it did not run either, its window
 * stays as it is. (The seed does not say what blocked processes mean; this is our decision.) With keeps_periods, the next
 * period of a process that sleeps begins at once.
 */
void dwcs_advance(struct dwcs *dwcs, int64_t now_ns);

/* Makes a process runnable. If it has no period, one begins at now_ns. Also ends the periods that end by now_ns. */
void dwcs_wake(struct dwcs *dwcs, int id, int64_t now_ns);

/* The process sleeps from now on. */
void dwcs_block(struct dwcs *dwcs, int id);

/*
 * Returns the process that runs next, or DWCS_NONE. First come real-time processes that have had less than C or keep their
 * rank, then work-conserving ones that have had C, then best-effort ones. Within each group the seed's Table 1 decides:
 * (1) earliest deadline, (2) lowest x'/y', (3) both 0: highest y', (4) both equal and not 0: lowest x', (5) first come, first
 * served: who got its current deadline first. A process gets the next deadline when it is served or misses the last one; of
 * those who miss it at the same time, the lowest id is first. The seed does not define (5); of several orders tried, only this
 * one agrees with its Figure 4(d). Best-effort processes take turns.
 */
int dwcs_select(const struct dwcs *dwcs);

/* As dwcs_select, among best-effort processes only. */
int dwcs_select_best_effort(const struct dwcs *dwcs);

/* As dwcs_select, among all processes but this one. */
int dwcs_select_without(const struct dwcs *dwcs, int id);

/* True if process a runs before process b, as in dwcs_select. */
bool dwcs_precedes(const struct dwcs *dwcs, int a, int b);

/*
 * Records that a process has run for ran_ns >= 0. When it reaches C for the first time in its period, its window is relaxed
 * (Rule a). All of ran_ns counts for the current period, so the caller records at period ends, or accepts that error.
 */
void dwcs_run(struct dwcs *dwcs, int id, int64_t ran_ns);

/*
 * Returns the least part of the CPU that the real-time processes need: the sum of (1 - x/y) C/T. The task server is not in
 * it.
 */
double dwcs_utilisation(const struct dwcs *dwcs);

/*
 * For dwcs_server.c: adds a runnable process of this kind without looking at its attributes. Returns its id or -ENOSPC.
 */
int dwcs_add_kind(struct dwcs *dwcs, enum dwcs_kind kind, const struct dwcs_params *params, int64_t now_ns);

#endif
