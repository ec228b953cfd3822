/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/version.h: the version of these headers, and of the library that runs.
 *
 *     #if DLEX_VERSION_NUMBER >= 200          // 0.2.0
 *     printf("compiled for libdlex %s, runs with %s\n", DLEX_VERSION, dlex_version());
 *
 * The numbers need not be equal: a program may run with a newer library of the same soname. What must
 * be equal is the layout of the records of blocks, see dlex/block.h: the first block checks that. The
 * structures that a program names, such as struct dlex_trigger, change only with the soname.
 */
#ifndef DLEX_VERSION_H
#define DLEX_VERSION_H

#ifndef __GNUC__
#error "dlex needs the cleanup attribute: compile with gcc or clang"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DLEX_API __attribute__((visibility("default")))

#define DLEX_VERSION_MAJOR 0
#define DLEX_VERSION_MINOR 1
#define DLEX_VERSION_PATCH 0

/* For comparisons by the preprocessor: 10203 is 1.2.3. */
#define DLEX_VERSION_NUMBER                                                                     \
    (DLEX_VERSION_MAJOR * 10000 + DLEX_VERSION_MINOR * 100 + DLEX_VERSION_PATCH)
/* A string literal, such as "1.2.3". */
#define DLEX_VERSION                                                                            \
    DLEX_TEXT_(DLEX_VERSION_MAJOR) "." DLEX_TEXT_(DLEX_VERSION_MINOR) "." DLEX_TEXT_(DLEX_VERSION_PATCH)

/* Returns DLEX_VERSION of the library that runs; a constant. Any thread, safe in signal handlers. */
DLEX_API const char *dlex_version(void);

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the macros.                                                          */

#define DLEX_TEXT2_(x) #x
#define DLEX_TEXT_(x)  DLEX_TEXT2_(x)

#ifdef __cplusplus
}
#endif

#endif
