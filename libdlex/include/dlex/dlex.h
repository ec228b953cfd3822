/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex.h: timing constraints of soft real-time programs as exceptions, for C.
 *
 * libdlex implements the programming model of T. Cucinotta and D. Faggioli, "Handling Timing
 * Constraints Violations in Soft Real-Time Applications as Exceptions" (seed 000): a code segment gets
 * a deadline. Missing the deadline is an exception, handled where the constraint was stated.
 *
 *   dlex/exception.h   exceptions: types, try, finally, handle, when, throw, rethrow
 *   dlex/within.h      deadlines: try_within_rel, try_within_abs, protected sections, the contract
 *                      on what may be interrupted, and what the library knows of a violation
 *   dlex/trigger.h     expiring a block of another thread
 *   dlex/benchmark.h   measuring code segments instead of enforcing their constraints
 *   dlex/latency.h     how late the violations of the process were taken
 *   dlex/signal.h      the library's signal, signal handlers of the application, the signal mask
 *   dlex/version.h     the version of the headers and of the library
 *   dlex/scoped.h      resources that an aborted block gives back: memory, files, mutexes
 *
 * Needs gcc or clang, Linux, and POSIX.1-2008 declarations (-std=gnu11, or _POSIX_C_SOURCE 200809L).
 * Link with -ldlex (pkg-config dlex). It depends on nothing but libc.
 */
#ifndef DLEX_DLEX_H
#define DLEX_DLEX_H

#include <dlex/benchmark.h>
#include <dlex/exception.h>
#include <dlex/latency.h>
#include <dlex/signal.h>
#include <dlex/scoped.h>
#include <dlex/trigger.h>
#include <dlex/version.h>
#include <dlex/within.h>

#endif
