/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs `dlex-sched tune` from its options to its exit code: starts and ends, signals, and what remains if something is not
 * allowed.
 */
#ifndef SCHED_TUNE_RUN_H
#define SCHED_TUNE_RUN_H

#include "tune_session.h"

/*
 * Tunes the player of a request until it ends or a signal (SIGINT, SIGTERM, SIGHUP, SIGQUIT) arrives, and takes all
 * reservations back. Messages begin with `program`. Returns the exit code: the command's own, or 128 and the number of the
 * signal that ended it, 126 or 127 if it could not be started; for a process EXIT_DONE, or EXIT_IMPOSSIBLE if it cannot be
 * watched or the record not be written. A command is not started if the record cannot be created (EXIT_IMPOSSIBLE); if writing
 * fails later, its code is returned all the same. It may be called once.
 */
int tune_run(const char *program, const struct tune_request *request);

#endif
