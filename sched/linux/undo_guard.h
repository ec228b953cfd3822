/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that takes all reservations back if the program that gave them is killed. It sleeps until then. Signals from a
 * terminal do not reach it, and it uses no file of the program but the journal. If both are killed, `dlex-sched repair`
 * remains.
 */
#ifndef SCHED_UNDO_GUARD_H
#define SCHED_UNDO_GUARD_H

#include "undo_journal.h"

#include <sys/types.h>

/* Begins as zero. */
struct undo_guard {
    pid_t pid; /* 0: there is none */
    int pipe;  /* the guard waits until its other end is closed, which is here */
};

/*
 * Starts the guard of a journal, which stays the caller's. The caller has one thread. Returns 0 or a negative errno. A caller
 * that waits for its children sees the guard end if somebody kills it, and starts another one.
 */
int undo_guard_start(struct undo_guard *guard, struct undo_journal *journal);

/*
 * Ends the guard: it undoes what the journal still has, which is nothing after undo_journal_undo. Returns when it has ended. A
 * guard that somebody has stopped goes on; one that does not end within some seconds is killed. The guard may be none.
 */
void undo_guard_end(struct undo_guard *guard);

#endif
