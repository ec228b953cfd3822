/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/block.h: the records that the macros of the other headers put into the program, and that the
 * library works on. All of it belongs to the macros: nothing here is an interface.
 */
#ifndef DLEX_BLOCK_H
#define DLEX_BLOCK_H

#include <dlex/version.h>

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

/* Tests what is declared, not what is requested: a header before this one may have settled it. */
#if defined __GLIBC__ && !defined sigsetjmp
#error "dlex needs POSIX.1-2008: compile with -std=gnu11, or with -D_POSIX_C_SOURCE=200809L"
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct dlex_type;

/* What was measured of the bodies of a call site (src/sites.h). Kept apart from the site, so that these
 * 22 KiB are zero pages and not a part of the program's file. */
struct dlex_samples_ {
    uint64_t words[5 + 2 * 1381];
};

struct dlex_measure_ {
    const char *file;
    const char *function;
    int line;
    int how; /* kind of constraint, and flags, as stated */
    struct dlex_samples_ *samples;
    struct dlex_measure_ *next; /* once linked, for ever */
    int linked;
};

/* A place in the source where blocks are opened. */
struct dlex_site_ {
    const char *where;               /* file:line */
    int finally;                     /* whether its block has a finally part, see DLEX_PROBE_ */
    struct dlex_measure_ *measure;   /* NULL: not in benchmark mode */
};

/* Where a block lives. Kept outside its record, because the record may be gone. */
struct dlex_place_ {
    struct dlex_block_ *block;
    uintptr_t frame;
    uintptr_t low;
    int outer_depth;
    uint64_t resource_mark;
};

struct dlex_block_ {
    sigjmp_buf env;
    struct dlex_block_ *outer;
    const struct dlex_block_ *enclosing; /* in the source; NULL: none; the block itself: unknown */
    struct dlex_block_ *floor;         /* blocks outside it are protected in the body */
    struct dlex_block_ *owner;         /* the block whose violation passes here; NULL: a plain exception */
    const struct dlex_type *exception; /* NULL: none */
    const char *origin;                /* file:line that threw */
    struct dlex_site_ *site;
    sigjmp_buf *back;                  /* where dlex_return waits; NULL: no dlex_return waits */
    struct dlex_place_ inner;          /* the place of the block opened in the body, if that is still open */
    uintptr_t seal;                    /* shows whether the record was overwritten */
    uint64_t resource_mark;            /* number of the newest resource when it was opened */
    uintptr_t frame;                   /* stack frame of the function that opened it */
    uintptr_t low;                     /* lowest stack address that is certainly its own */
    int64_t limit_ns;                  /* its own limit, in the clock of its kind; INT64_MAX: none */
    int64_t deadline_ns;               /* earliest of this block and all around it */
    int64_t cpu_limit_ns;              /* likewise, in CPU time of the thread */
    int64_t check_ns;                  /* before this time nothing asynchronous expires in them */
    int64_t given_ns;                  /* benchmark mode: the limit that it would have had from now on */
    int64_t started_ns, started_cpu_ns; /* benchmark mode */
    int outer_depth;                   /* protected sections open outside this block */
    int outer_level;                   /* blocks open outside this block */
    int cooperative;                   /* depth of sections at which a checkpoint may throw */
    int how;                           /* kind of constraint, and flags */
    int phase;
    int handled;
    int mask_known;                    /* mask holds the signal mask to restore */
    uint32_t fp_control[2];
    sigset_t mask;
};

/*
 * NEW: not begun. PROBE: the first block of a site runs empty once, before it begins, so that the site
 * knows whether a finally part follows: when a body is left early it is too late to find out.
 */
enum { DLEX_NEW_, DLEX_PROBE_, DLEX_OPEN_, DLEX_HELD_, DLEX_DONE_ };
enum { DLEX_UNKNOWN_, DLEX_NO_FINALLY_, DLEX_FINALLY_ };

/* The state of a thread that the macros share with the library. */
struct dlex_guard_ {
    volatile int depth;   /* protected sections open */
    volatile int pending; /* an expiry waits for the end of a section */
    volatile int held;    /* mutexes that the thread holds, as far as libdlex-guard sees them */
    struct dlex_block_ *top; /* innermost open block; NULL: none is open */
    int64_t deadline_ns;     /* that of top, copied for the fastest access; INT64_MAX: none */
    int64_t cpu_limit_ns;
};

enum {
    DLEX_NO_LIMIT_, DLEX_ABS_, DLEX_REL_, DLEX_WCET_, DLEX_KINDS_ = 3,
    DLEX_COOPERATIVE_ = 4, DLEX_SHIELDED_ = 8, DLEX_MEASURED_ = 16,
};

#ifdef __cplusplus
}
#endif

#endif
