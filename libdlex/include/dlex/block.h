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
#include <time.h>

/*
 * Tests what is declared, not what is requested: a header before this one may have settled it. A file that is not
 * there ends the compilation with one error; after #error compilers go on, and one for each missing name would
 * follow.
 */
#if !defined CLOCK_MONOTONIC || !defined SA_SIGINFO || (defined __GLIBC__ && !defined sigsetjmp) \
    || (defined __STRICT_ANSI__ && !defined __cplusplus && __STDC_VERSION__ + 0 < 199901L)
#include "dlex needs C11 and POSIX.1-2008: compile with -std=gnu11, or -std=c11 -D_POSIX_C_SOURCE=200809L"
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct dlex_type;
struct dlex_trigger;

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
    struct dlex_trigger *trigger;      /* only if how has DLEX_TRIGGERED_ */
    sigjmp_buf *back;                  /* where dlex_return waits; NULL: no dlex_return waits */
    struct dlex_place_ inner;          /* the place of the block opened in the body, if that is still open */
    uintptr_t seal;                    /* shows whether the record was overwritten */
    uint64_t resource_mark;            /* number of the newest resource when it was opened */
    uintptr_t frame;                   /* stack frame of the function that opened it */
    uintptr_t low;                     /* lowest stack address that is certainly its own */
    int64_t limit_ns;                  /* its own limit, in the clock of its kind; INT64_MAX: none */
    int64_t deadline_ns;               /* earliest of this block and all around it */
    int64_t cpu_limit_ns;              /* likewise, in CPU time of the thread; or DLEX_LOOK_ */
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
    uint32_t key_rights;               /* to memory with protection keys, when it was opened */
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
    DLEX_COOPERATIVE_ = 4, DLEX_SHIELDED_ = 8, DLEX_MEASURED_ = 16, DLEX_TRIGGERED_ = 32,
};

/* A value of cpu_limit_ns: no WCET is in force, but a block is bound to a trigger, so checkpoints have
 * to look. It is greater than every WCET, so that inner blocks inherit it as they inherit those. */
#define DLEX_LOOK_ (INT64_MAX - 1)

/*
 * Returns a number that differs when the records differ in size, order or meaning, in practice always.
 * The program computes it from the headers that it was compiled with, the library from its own. It is a
 * constant where the compiler optimises. A new member belongs into the list; a member or an enumerator
 * that keeps its place and changes its meaning needs another DLEX_MEANING_.
 */
#define DLEX_MEANING_ 1
#define DLEX_ADD_(number) layout = (layout ^ (uint64_t)(number)) * UINT64_C(0x100000001b3);
#define DLEX_MEMBER_(type, member) DLEX_ADD_(__builtin_offsetof(struct type, member))
static inline uint64_t dlex_layout_(void)
{
    uint64_t layout = DLEX_MEANING_;
    DLEX_ADD_(sizeof(struct dlex_samples_))

    DLEX_MEMBER_(dlex_measure_, file)
    DLEX_MEMBER_(dlex_measure_, function)
    DLEX_MEMBER_(dlex_measure_, line)
    DLEX_MEMBER_(dlex_measure_, how)
    DLEX_MEMBER_(dlex_measure_, samples)
    DLEX_MEMBER_(dlex_measure_, next)
    DLEX_MEMBER_(dlex_measure_, linked)
    DLEX_ADD_(sizeof(struct dlex_measure_))

    DLEX_MEMBER_(dlex_site_, where)
    DLEX_MEMBER_(dlex_site_, finally)
    DLEX_MEMBER_(dlex_site_, measure)
    DLEX_ADD_(sizeof(struct dlex_site_))

    DLEX_MEMBER_(dlex_place_, block)
    DLEX_MEMBER_(dlex_place_, frame)
    DLEX_MEMBER_(dlex_place_, low)
    DLEX_MEMBER_(dlex_place_, outer_depth)
    DLEX_MEMBER_(dlex_place_, resource_mark)
    DLEX_ADD_(sizeof(struct dlex_place_))

    DLEX_MEMBER_(dlex_block_, env)
    DLEX_MEMBER_(dlex_block_, outer)
    DLEX_MEMBER_(dlex_block_, enclosing)
    DLEX_MEMBER_(dlex_block_, floor)
    DLEX_MEMBER_(dlex_block_, owner)
    DLEX_MEMBER_(dlex_block_, exception)
    DLEX_MEMBER_(dlex_block_, origin)
    DLEX_MEMBER_(dlex_block_, site)
    DLEX_MEMBER_(dlex_block_, trigger)
    DLEX_MEMBER_(dlex_block_, back)
    DLEX_MEMBER_(dlex_block_, inner)
    DLEX_MEMBER_(dlex_block_, seal)
    DLEX_MEMBER_(dlex_block_, resource_mark)
    DLEX_MEMBER_(dlex_block_, frame)
    DLEX_MEMBER_(dlex_block_, low)
    DLEX_MEMBER_(dlex_block_, limit_ns)
    DLEX_MEMBER_(dlex_block_, deadline_ns)
    DLEX_MEMBER_(dlex_block_, cpu_limit_ns)
    DLEX_MEMBER_(dlex_block_, check_ns)
    DLEX_MEMBER_(dlex_block_, given_ns)
    DLEX_MEMBER_(dlex_block_, started_ns)
    DLEX_MEMBER_(dlex_block_, started_cpu_ns)
    DLEX_MEMBER_(dlex_block_, outer_depth)
    DLEX_MEMBER_(dlex_block_, outer_level)
    DLEX_MEMBER_(dlex_block_, cooperative)
    DLEX_MEMBER_(dlex_block_, how)
    DLEX_MEMBER_(dlex_block_, phase)
    DLEX_MEMBER_(dlex_block_, handled)
    DLEX_MEMBER_(dlex_block_, mask_known)
    DLEX_MEMBER_(dlex_block_, fp_control)
    DLEX_MEMBER_(dlex_block_, key_rights)
    DLEX_MEMBER_(dlex_block_, mask)
    DLEX_ADD_(sizeof(struct dlex_block_))

    DLEX_MEMBER_(dlex_guard_, depth)
    DLEX_MEMBER_(dlex_guard_, pending)
    DLEX_MEMBER_(dlex_guard_, held)
    DLEX_MEMBER_(dlex_guard_, top)
    DLEX_MEMBER_(dlex_guard_, deadline_ns)
    DLEX_MEMBER_(dlex_guard_, cpu_limit_ns)
    DLEX_ADD_(sizeof(struct dlex_guard_))
    return layout;
}

/*
 * Aborts with one sentence if the library's layout is another one. The macros call it at the first
 * block of each place, in C++ also at the first block of each file, before anything else of the library
 * sees the record: so it covers each file of a program and of a plug-in, with the shared and with the
 * static library. It costs later blocks nothing, in C++ one load. version: DLEX_VERSION of the caller.
 * where: file:line. Its own arguments must never change.
 */
DLEX_API void dlex_check_layout_(uint64_t layout, const char *version, const char *where)
    __attribute__((cold));

#ifdef __cplusplus
}
#endif

#endif
