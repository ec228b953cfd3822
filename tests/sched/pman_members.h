/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of the library share: a table of their own, and processes of it. */
#ifndef PMAN_MEMBERS_H
#define PMAN_MEMBERS_H

#include "pman.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Waits up to 30 s for a condition, and looks at it once more often than it waits. */
#define EXPECT_SOON(condition) \
    do { \
        bool is_true_ = (condition); \
        for (int tries_ = 0; tries_ < 30000 && !is_true_; tries_++) { \
            members_pause(); \
            is_true_ = (condition); \
        } \
        ck_assert_msg(is_true_, "%s did not become true", #condition); \
    } while (0)

#define MS INT64_C(1000000)

/* 1 ms. */
void members_pause(void);

/* Makes a table with a name of this process, and ends those that killed tests have left. */
void members_begin(struct pman **pman, enum pman_deadlines deadlines);

/* The name of that table. */
const char *members_table(void);

/* Registers a process without a priority. */
void members_add(struct pman *pman, const char *name, struct pman_timing timing, const char *recovery);

/*
 * Starts a process that attaches itself under this name and waits for instances, each of which computes for work_us of CPU time. It
 * exits with the errno of the error that ended pman_wait, and dies with its parent.
 */
pid_t members_start(const char *name, int work_us);

/* Waits for the end of a process. Returns its exit code, or 1000 + the signal that ended it. */
int members_end(pid_t pid);

struct pman_statistics members_query(struct pman *pman, const char *name);

/* True if the process under this name waits in pman_wait, or has waited, and no instance runs. */
bool members_is_idle(struct pman *pman, const char *name);

/* How many programs of each kind a test kills: DLEX_TEST_KILLS, or 200. */
int members_kills(void);

/* A random number from 0 to limit - 1. DLEX_TEST_SEED selects which ones. */
long members_random(long limit);

#endif
