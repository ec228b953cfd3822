/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/scoped.h: resources that are released when the block that acquired them is aborted.
 *
 *     dlex_try_within_rel(DLEX_MS(12)) {
 *         char *text = dlex_scoped_malloc(size);
 *         int fd = dlex_scoped_open(path, O_RDONLY, 0);
 *         parse(text, read(fd, text, size));   // abandoned here: fd is closed, text is freed
 *         dlex_scoped_close(fd);
 *         dlex_scoped_free(text);
 *     } dlex_handle dlex_when(dlex_deadline_violation) {
 *         use_defaults();
 *     } dlex_end
 *
 * The functions here do the acquisition in a protected section and the release in the finally part of
 * seed 000 (section 5.2, last listing) without the bookkeeping in between.
 *
 * THE RULES
 *
 * Each function that acquires makes the acquisition and its record in one protected section: no
 * violation falls between them, so nothing is lost and nothing is released twice. When a block is left
 * by an exception or a violation, what was acquired in its body and is still on record is released,
 * newest first, before its finally part, in a protected section. When a body ends in any other way (its
 * end, dlex_return, return, break), its resources pass to the block around it. When the outermost block
 * ends so, they belong to the program, which releases them by the plain function (free, close, fclose)
 * or by the one here. Outside all blocks every function here is the plain call and nothing is recorded.
 * For all this a shielded block is a block like others.
 *
 * Until then only the functions here may release a resource that is on record or take it off the
 * record: free(p) of memory on record would be followed by a second free. The variable that holds a
 * resource need not survive the jump, since the record does not depend on it. A handler or finally part
 * must not touch the resource, as it has been released.
 *
 * A resource belongs to the thread that acquired it. Another thread may use it, but must not release it
 * through these functions. When a thread ends inside a block (pthread_exit, cancellation), the
 * resources of its open blocks are released, unless the code of the block was compiled with
 * -fexceptions: then the unwinding has already closed the blocks, and the resources belong to the
 * program. A forked child has a record of its own.
 *
 * Release functions run with the guard held, on the stack of the block. They must not throw, and the
 * time that they take delays the handler. errno is kept.
 *
 * Cost: a record is one small allocation; releasing searches from the newest. None of these functions
 * is safe in a signal handler. There is one exception to "never lost": memory for the record itself may
 * be lacking; then nothing is acquired, and the function fails with ENOMEM.
 */
#ifndef DLEX_SCOPED_H
#define DLEX_SCOPED_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include <dlex/within.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Do what malloc, calloc and realloc do; NULL with errno ENOMEM when there is no memory. The old memory
 * of a realloc must come from here (or be NULL, or from outside all blocks); after a failure it is
 * still on record. size 0 releases, as with realloc, and returns NULL. */
DLEX_API void *dlex_scoped_malloc(size_t size);
DLEX_API void *dlex_scoped_calloc(size_t count, size_t size);
DLEX_API void *dlex_scoped_realloc(void *memory, size_t size);
/* Frees any memory of the malloc family, on record or not; memory may be NULL. */
DLEX_API void dlex_scoped_free(void *memory);

/* Does what open(path, flags, mode) does: returns a descriptor, or -1 with errno. */
DLEX_API int dlex_scoped_open(const char *path, int flags, mode_t mode);
/* Puts a descriptor on record that the caller has from elsewhere: make both calls in one section of
 * dlex_try_within_disable. Returns fd, or -1 with errno ENOMEM: fd is then open and not on record. A
 * negative fd is returned as it is, so that dlex_scoped_fd(socket(...)) needs no test between. */
DLEX_API int dlex_scoped_fd(int fd);
/* Does what close(fd) does, with fd on record or not: returns 0, or -1 with errno. */
DLEX_API int dlex_scoped_close(int fd);

/* Do what fopen and fclose do. When the block is aborted the stream is closed, and what it holds in its
 * buffer is written. The calls on the stream in between need libdlex-guard or protected sections. */
DLEX_API FILE *dlex_scoped_fopen(const char *path, const char *mode);
DLEX_API int dlex_scoped_fclose(FILE *stream);

/*
 * Does what pthread_mutex_lock does; returns its error codes, and ENOMEM. Waiting is interruptible: at
 * the deadline of an open block the violation is taken, without the mutex. (This is not so where
 * violations are held back: in a protected section, in a cooperative block, or while libdlex-guard
 * counts another mutex. Nor is it so, before Linux 5.14, for a mutex with priority inheritance.)
 * EOWNERDEAD means that the mutex is held and on record.
 *
 * When the block is aborted, the mutex is unlocked. What it guards may then be half changed: change it
 * in a protected section, or link with libdlex-guard, which does not let anything abort a thread while
 * the thread holds a mutex, including those locked here.
 */
DLEX_API int dlex_scoped_mutex_lock(pthread_mutex_t *mutex);
DLEX_API int dlex_scoped_mutex_unlock(pthread_mutex_t *mutex);

/*
 * For any pair of functions: calls acquire(arg) and, if the result is not NULL, records that
 * release(result) undoes it. Returns the result; NULL when acquire failed, or, with errno ENOMEM and
 * nothing acquired, for lack of memory. acquire runs in a protected section: it should not take long,
 * nor throw.
 */
DLEX_API void *dlex_scoped_acquire(void *(*acquire)(void *arg), void *arg,
                                   void (*release)(void *resource));

/* Records that release(arg) is to be called when the block is aborted. Returns 0, or -ENOMEM. Outside
 * all blocks it does nothing and returns 0. */
DLEX_API int dlex_scoped_defer(void (*release)(void *arg), void *arg);

/* Takes the newest record of this pair off, without calling release. Returns whether there was
 * one. For memory the pair is (free, memory). */
DLEX_API int dlex_scoped_forget(void (*release)(void *arg), void *arg);

/* Takes the newest record of this pair off, if there is one, and calls release(arg), in one
 * protected section. */
DLEX_API void dlex_scoped_release(void (*release)(void *arg), void *arg);

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the library and to libdlex-guard.                                    */

/* One kind of lock: functions to wait for it without a time limit, and until a time. */
struct dlex_lock_kind_ {
    int (*in_time)(void *lock);
    int (*until)(void *lock, clockid_t clock, const struct timespec *time);
};

/* Takes the lock. Call it in one protected section of the caller's; the wait leaves the section at the
 * deadlines that may be delivered, and the section is open again when the function returns. time NULL:
 * no time-out; otherwise ETIMEDOUT is returned at that time of the clock. Returns what the functions of
 * the kind return. */
DLEX_API int dlex_wait_for_lock_(const struct dlex_lock_kind_ *kind, void *lock, clockid_t clock,
                                 const struct timespec *time);

/* In one protected section of the caller's: returns when a wait has to end, so that a violation can be
 * delivered by leaving the section. INT64_MAX: leaving it delivers nothing, ever. */
DLEX_API int64_t dlex_wait_limit_(void);
/* Leaves the section for a moment, which delivers what has expired. */
DLEX_API void dlex_wait_pause_(void);
/* Returns the time from now to time; if that does not fit an int64_t, as far as an int64_t goes. */
DLEX_API int64_t dlex_time_left_ns_(const struct timespec *time, const struct timespec *now);

#ifdef __cplusplus
}
#endif

#endif
