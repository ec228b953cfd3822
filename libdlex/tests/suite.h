/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For the main() of every test program: runs a suite and returns the exit code, which says whether all
 * tests passed. CK_VERBOSITY sets how much is printed. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>

/* For tests that take milliseconds. A machine may stand still for longer than the 4 s that libcheck gives. */
#define SUITE_TIMEOUT_DEFAULT 30.0

/* For what is checked millions of times: libcheck writes down the place of each assertion, which takes some microseconds. */
#define suite_check(condition)                      \
    do {                                            \
        if (!(condition))                           \
            ck_abort_msg("not so: %s", #condition); \
    } while (0)

/* Runs the tests of a list that ends in NULL, each for timeout_s seconds at most. Each test is a
 * case with the name of the test, so CK_RUN_CASE=NAME runs it alone. Returns the exit code for main. */
int suite_run(const char *name, double timeout_s, const TTest *const *tests);

/* Runs the tests of one case that the caller filled, and takes ownership of the case. Use it for fixtures,
 * for loops, and for tests that must stay in this process (CK_NOFORK; the usual value is CK_FORK_GETENV). The caller
 * sets the time limit. */
int suite_run_case(const char *name, TCase *tests, enum fork_status fork_status);

#endif
