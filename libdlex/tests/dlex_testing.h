/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of libdlex share. The times are long compared with scheduling delays: on a busy
 * machine a test may take longer, but must not fail. */
#ifndef DLEX_TESTING_H
#define DLEX_TESTING_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include <dlex/dlex.h>

#include "suite.h"

#define MS INT64_C(1000000)
/* Long enough to enter a section or an island before the deadline, also on a busy machine. */
#define SOON (100 * MS)
#define HOUR (3600 * 1000 * MS)

/* Rounds of destructors in which deadlines can interrupt. From GCC 13 on, AddressSanitizer blocks all signals when its own
 * destructor runs for the last time. */
#if defined __SANITIZE_ADDRESS__ && __GNUC__ >= 13
#define DESTRUCTOR_ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define DESTRUCTOR_ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS
#endif

/* Computes until the clock reaches the time. A deadline may interrupt it. */
void burn_until(int64_t time_ns);
void burn(int64_t ns);
/* For code in which a violation must wait: a section, a finally part, or an island for the blocks
 * outside. Computes until the deadline has passed and its signal has arrived, however long that takes. */
void outlast(int64_t deadline_ns);

/* A log of what ran, one letter for each step, so that a test compares one string. It survives jumps. */
void log_clear(void);
void log_mark(char letter);
const char *log_text(void);

/* Runs the body in a protected section of a block with the deadline SOON, and returns the log. It has
 * 'p' when the body has ended; 'o' when the violation left the block, which may happen only at the end
 * of the section; 'x' if the block went on after the section. If the body ends early, the section still
 * lasts longer than the deadline. */
const char *log_of_protected(void (*body)(int64_t deadline_ns));

#endif
