/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of the dispatcher share: processes that never sleep, and a dispatcher for them. */
#ifndef DWCS_HOGS_H
#define DWCS_HOGS_H

#include "dwcs_dispatch.h"

#define MS INT64_C(1000000)

/* CHANGES: how many policies may change in a slot; in one after a slot that was left too late; and in one in which a member ends. */
enum { HOGS = 3, PRIORITY = 41, SLOT_MS = 5, CHANGES = 2, CHANGES_IF_LATE = 3, CHANGES_AT_END = 4 };

extern pid_t hog[HOGS];

/* They die with the test. */
void start_hogs(void);
void end_hog(int number);
void end_hogs(void); /* those that are left */

/* Without SCHED_RESET_ON_FORK. */
int policy_of(pid_t pid);

/* The first CPU of this process. */
int first_cpu(void);

/* Makes a dispatcher of this PRIORITY on the first CPU. */
struct dwcs_dispatch *create(unsigned rules);

/* The same; each slot leaves so much to ordinary threads. */
struct dwcs_dispatch *create_leaving(unsigned rules, int64_t leave_ns);

/* Adds a hog, with periods of 10 slots. events: an eventfd, or -1. */
void add(struct dwcs_dispatch *dispatch, int number, int service, int x, int y, bool is_work_conserving, int events);

/* The present slot. Zero before the first one. */
struct slot {
    int64_t number;
    int64_t changes_before; /* of policies, until the slot began */
};

/* Makes one step, and checks that at most so many policies have changed in its slot. Returns how many members live. */
int step(struct dwcs_dispatch *dispatch, struct slot *slot, int changes);

/* Begins, and makes steps for so many slots. At most CHANGES policies change in each; or at most so many. */
void run_slots(struct dwcs_dispatch *dispatch, int64_t slots);
void run_slots_changing(struct dwcs_dispatch *dispatch, int64_t slots, int changes);

/* True if this account may have the priorities. */
bool has_right(void);

/* Says why a test is skipped, and returns the exit code for that. */
int skip(void);

#endif
