/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One CPU under DWCS in virtual time, with or without event scheduling (seed 001, sections 3.2 and 4). The scheduler decides
 * at the beginning of each slot, as at the timer interrupts of the seed's Linux, and whenever the process that runs goes to
 * sleep or finishes a frame. What happens within a slot is seen at the next decision.
 *
 * A process is endless or plays frames. A player works on a frame, then sleeps for sleep_ns ("displays a frame and sleeps for a
 * certain amount of time"); a timer wakes it at the first slot from then on. Whenever a frame can begin, an event with the
 * player as its sink is due, like those of the seed's QoS module. The seed gives no costs of frames: these are ours.
 *
 * The run-queue delay of a frame is the time from when it could begin until it began. Its response time is the time from when
 * it could begin until it was finished. Costs depend on the seed, the task and the frame only, so that two runs with different
 * rules play the same frames.
 *
 * Times are int64_t ns from the beginning. The struct holds everything but the trace, and no call allocates.
 */
#ifndef SLOT_SIM_H
#define SLOT_SIM_H

#include "dwcs_server.h"
#include "event_rules.h"

#include <stdbool.h>
#include <stdint.h>

enum { SLOT_TASKS = 32, SLOT_IDLE = -1 };

/* Costs are uniform in [cost_min_ns, cost_max_ns]; 0 < cost_min_ns <= cost_max_ns; sleep_ns > 0. */
struct slot_player {
    int64_t first_ns;    /* when the first frame can begin */
    int64_t sleep_ns;
    int64_t cost_min_ns;
    int64_t cost_max_ns;
};

struct slot_task {
    int process;               /* its id in the run queue */
    bool is_player;
    struct slot_player player;
    int64_t ready_ns;          /* when its current frame, or the next one if it sleeps, could begin */
    int64_t began_ns;          /* when the current frame began; < 0: it has not */
    int64_t left_ns;           /* CPU time that the current frame still needs; 0: it sleeps */
    int64_t frames;            /* begun */
    int64_t delay_sum_ns;
    int64_t delay_max_ns;
    int64_t finished;          /* frames */
    int64_t response_sum_ns;
};

struct slot_sim {
    struct dwcs dwcs;
    struct event_queue events;
    struct slot_task task[SLOT_TASKS];
    int tasks;
    int task_of[DWCS_CAPACITY];          /* by process id */
    unsigned rules;                      /* enum event_rules; with 0 no event is raised by players */
    const struct dwcs_server_options *server; /* NULL: no task server. The caller's */
    int64_t slot_ns;
    int64_t now_ns;
    uint64_t seed;
    int64_t delivered;                   /* events */
    int64_t swaps;                       /* of them, those that made another process run */
    int64_t lost;                        /* events that did not fit into the queue */
    /* The delays of this task's first frames are stored here, if trace is not NULL. The caller's. */
    int64_t *trace_ns;
    int trace_capacity;
    int traced_task;
};

/* slot_ns > 0. Sets the rules, server and trace to none. */
void slot_sim_init(struct slot_sim *sim, int64_t slot_ns, uint64_t seed);

/*
 * Adds a task before the first step. params: NULL for best effort. player: NULL for an endless task; both are copied.
 * Returns the index of the task, or -EINVAL or -ENOSPC.
 */
int slot_sim_add(struct slot_sim *sim, const struct dwcs_params *params, const struct slot_player *player);

/* Raises an event for a task. Returns 0 or -ENOBUFS. */
int slot_sim_raise(struct slot_sim *sim, int task, int64_t due_ns);

/*
 * Decides once and runs until the next decision. Returns the index of the task that ran, or SLOT_IDLE. An endless task and
 * an idle CPU run to the end of the slot.
 */
int slot_sim_step(struct slot_sim *sim);

/* Steps until end_ns. */
void slot_sim_run(struct slot_sim *sim, int64_t end_ns);

/* A number from 0 up to, but not including, 2^64, that depends on these three only. */
uint64_t slot_random(uint64_t seed, uint64_t task, uint64_t number);

#endif
