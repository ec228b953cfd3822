/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event scheduling with DWCS: the process that DWCS selects, i, may give way to j, the sink of the first event that is due
 * (seed 001, section 3.2, Rules 1 to 5). The aim is to handle events soon without breaking a guarantee.
 *
 *   Rule 1  j = i: the event is delivered, and i runs.
 *   Rule 2  i is best-effort, or the CPU would be idle: j runs.
 *   Rule 3  i is work-conserving and has had its C in this period: j runs.
 *   Rule 4  neither i nor j has had its C, their deadlines are equal, and there is time for both before that:
 *           deadline - now - C_i - C_j >= 0: j runs.
 *   Rule 5  i is the task server: j runs, and a best-effort process if no event is due.
 *
 * The seed prints > in Rule 4. In its own experiment with this rule (Table 5: T = 20, C = 10) that can never be true, so
 * that >= is meant. EVENT_RULE_4_STRICT shows this. By the seed, "not been serviced yet" is the condition for Rule 4; we
 * read it as "less than C", and keep the whole C in the formula, which is on the safe side.
 *
 * Rule 4 looks at i and j only. A third process that comes after i and before j can lose its place in the period, and with it
 * DWCS's guarantee, even if the utilisation is 1 or less. EVENT_RULE_4_SAFE demands the same of all: j runs only if there is
 * time for it and for each process that would run before it. With this the same processes are served in each period as
 * without the event, in another order.
 *
 * What the seed leaves open, and our decisions: an event whose sink sleeps waits, and the next one is first. An idle CPU
 * counts as a best-effort process. The event is removed by every rule, not by Rules 1 to 3 only. A process that runs
 * because DWCS selected it receives its own first event even if other events come before it; otherwise that event would
 * later put the process before others for nothing. (The seed's pseudo-code looks at the first event only: EVENT_FIRST_ONLY.)
 * If the server is selected, no event is due and no best-effort process is runnable, DWCS selects another process and the
 * server's service stays unused.
 */
#ifndef SCHED_EVENT_RULES_H
#define SCHED_EVENT_RULES_H

#include "dwcs.h"
#include "event_queue.h"

#include <stdbool.h>

/* A set of rules. With 0, events are ignored. */
enum event_rules {
    EVENT_RULE_1 = 1 << 1,
    EVENT_RULE_2 = 1 << 2,
    EVENT_RULE_3 = 1 << 3,
    EVENT_RULE_4 = 1 << 4,
    EVENT_RULE_5 = 1 << 5,
    EVENT_RULES_ALL = EVENT_RULE_1 | EVENT_RULE_2 | EVENT_RULE_3 | EVENT_RULE_4 | EVENT_RULE_5,
    EVENT_RULE_4_STRICT = 1 << 6, /* beside EVENT_RULE_4: > instead of >= */
    EVENT_RULE_4_SAFE = 1 << 7,   /* beside EVENT_RULE_4: with regard to all processes, not to i and j only */
    EVENT_FIRST_ONLY = 1 << 8,    /* beside EVENT_RULE_1: a process that DWCS selects receives its event only if it is the first */
};

struct event_choice {
    int selected; /* by DWCS; DWCS_NONE: nobody */
    int runs;     /* DWCS_NONE: the CPU is idle */
    int rule;     /* by which an event is delivered, 1 to 5; 0: no event is */
    int64_t data; /* of the delivered event */
};

/*
 * Decides who runs at now_ns, and removes the event that is delivered by this. Call dwcs_advance before it, and
 * event_account when runs has run. No event may have a sink that is not in dwcs.
 */
struct event_choice event_choose(const struct dwcs *dwcs, struct event_queue *queue, unsigned rules, int64_t now_ns);

/* True if the event made another process run: what the seed's tables count as swaps. */
bool event_is_swap(const struct event_choice *choice);

/* Records that choice->runs has run for ran_ns. If it ran in the place of the task server, this is the server's service, too. */
void event_account(struct dwcs *dwcs, const struct event_choice *choice, int64_t ran_ns);

#endif
