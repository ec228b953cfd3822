/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of libdlex share. Times here are long against a scheduler's whims: a test may
 * take longer on a busy machine, and must not fail on one. */
#ifndef DLEX_TESTING_H
#define DLEX_TESTING_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include <dlex/dlex.h>

#include "suite.h"

#define MS INT64_C(1000000)
/* Long enough to enter a section or an island in, also on a machine that others load. */
#define SOON (100 * MS)
#define HOUR (3600 * 1000 * MS)

/* Computes until the clock reaches the time; the honest victim of a deadline. */
void burn_until(int64_t time_ns);
void burn(int64_t ns);
/* Where a violation must wait (a section, a finally part, an island for the blocks outside): computes
 * until the deadline has passed and the thread was told so, however long that takes. */
void outlast(int64_t deadline_ns);

/* A log of what ran, as letters: what a test expects is one string. It survives jumps. */
void log_clear(void);
void log_mark(char letter);
const char *log_text(void);

/* Runs the body in a protected section of a block with a deadline SOON, and returns the log of it:
 * 'p' when the body has ended, 'o' when the block is left, which only the end of the section may
 * do; 'x' if the block went on after it. If the body ends early the section outlasts the deadline. */
const char *log_of_protected(void (*body)(int64_t deadline_ns));

#endif
