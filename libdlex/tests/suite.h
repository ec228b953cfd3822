/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the main() of every test program does: run a suite of one name, and say with the exit code
 * whether all of it passed. How much is printed is up to CK_VERBOSITY. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>

/* libcheck takes a negative time as: leave it at your own limit (4 s, or CK_DEFAULT_TIMEOUT). */
#define SUITE_TIMEOUT_DEFAULT (-1.0)

/* Runs the tests of a list that ends in NULL, each for timeout_s seconds at most. Each is a case of
 * its own name, so that CK_RUN_CASE=NAME runs one alone. Returns the exit code for main. */
int suite_run(const char *name, double timeout_s, const TTest *const *tests);

/* Runs the tests of one case that the caller filled, and takes it over: for fixtures, for loops,
 * and for tests that must stay in this process (CK_NOFORK; usual is CK_FORK_GETENV). */
int suite_run_case(const char *name, TCase *tests, enum fork_status fork_status);

#endif
