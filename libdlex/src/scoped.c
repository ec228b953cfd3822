/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record of what is to be released: a list per thread, newest first, numbered. A block stores the
 * number of the newest record when it is opened; a record with a greater number was acquired in its
 * body. Numbers are used and not addresses, because a record may go while blocks that were opened after
 * it are open, and its memory may become that of another record.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <dlex/scoped.h>

#include "thread.h"

struct dlex_resource_ {
    struct dlex_resource_ *older;
    uint64_t number;
    void (*release)(void *arg);
    void *arg;
};

static void drop_until(struct thread_state *t, uint64_t number)
{
    while (t->resources && t->resources->number > number) {
        struct dlex_resource_ *const r = t->resources;
        t->resources = r->older;
        free(r);
    }
}

void dlex_scoped_unwind_(struct thread_state *t, uint64_t mark)
{
    const int saved_errno = errno;
    while (t->resources && t->resources->number > mark) {
        struct dlex_resource_ *const r = t->resources;
        t->resources = r->older;
        r->release(r->arg);
        free(r);
    }
    errno = saved_errno;
}

void dlex_scoped_end_(struct thread_state *t)
{
    if (t->level > 0)
        dlex_scoped_unwind_(t, t->outermost.resource_mark);
    drop_until(t, 0);
}

/* If no key is left in the process, each thread would leak, so the program aborts. */
static void watch_end(struct thread_state *t)
{
    if (dlex_watch_thread_end(t) == -EAGAIN)
        abort();
}

/* Makes a record, not yet in the list. First frees those that the end of an outermost block has left to
 * the program: if the newest is one of them, all are. */
static struct dlex_resource_ *make_record(struct thread_state *t)
{
    watch_end(t);
    if (t->resources && t->resources->number <= t->outermost.resource_mark)
        drop_until(t, 0);
    return malloc(sizeof(struct dlex_resource_));
}

static void record(struct thread_state *t, struct dlex_resource_ *r, void (*release)(void *),
                   void *arg)
{
    r->release = release;
    r->arg = arg;
    r->number = ++t->resource_count;
    r->older = t->resources;
    t->resources = r;
}

/* Returns the link to the newest record of this pair; NULL: there is none. */
static struct dlex_resource_ **find(struct thread_state *t, void (*release)(void *), void *arg)
{
    for (struct dlex_resource_ **at = &t->resources; *at; at = &(*at)->older)
        if ((*at)->arg == arg && (*at)->release == release)
            return at;
    return NULL;
}

static bool take_off(struct thread_state *t, void (*release)(void *), void *arg)
{
    struct dlex_resource_ **const at = find(t, release, arg);
    if (!at)
        return false;
    struct dlex_resource_ *const r = *at;
    *at = r->older;
    free(r);
    return true;
}

void *dlex_scoped_acquire(void *(*acquire)(void *), void *arg, void (*release)(void *))
{
    struct thread_state *t = &dlex_thread_state;
    if (!dlex_guard_.top)
        return acquire(arg);
    dlex_try_within_disable();
    struct dlex_resource_ *const r = make_record(t);
    void *const resource = r ? acquire(arg) : NULL;
    if (resource)
        record(t, r, release, resource);
    else
        free(r);
    dlex_try_within_enable();
    return resource;
}

int dlex_scoped_defer(void (*release)(void *), void *arg)
{
    struct thread_state *t = &dlex_thread_state;
    if (!dlex_guard_.top)
        return 0;
    dlex_try_within_disable();
    struct dlex_resource_ *const r = make_record(t);
    if (r)
        record(t, r, release, arg);
    dlex_try_within_enable();
    return r ? 0 : -ENOMEM;
}

int dlex_scoped_forget(void (*release)(void *), void *arg)
{
    dlex_try_within_disable();
    const bool found = take_off(&dlex_thread_state, release, arg);
    dlex_try_within_enable();
    return found;
}

void dlex_scoped_release(void (*release)(void *), void *arg)
{
    dlex_try_within_disable();
    take_off(&dlex_thread_state, release, arg);
    release(arg);
    dlex_try_within_enable();
}

static void *acquire_memory(void *size)
{
    return malloc(*(size_t *)size);
}

static void *acquire_zeroes(void *size)
{
    return calloc(1, *(size_t *)size);
}

void *dlex_scoped_malloc(size_t size)
{
    return dlex_scoped_acquire(acquire_memory, &size, free);
}

void *dlex_scoped_calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return dlex_scoped_acquire(acquire_zeroes, &total, free);
}

/* The record stays where it is in the list: the memory keeps its age. */
void *dlex_scoped_realloc(void *memory, size_t size)
{
    if (!memory)
        return dlex_scoped_malloc(size);
    if (size == 0) {
        dlex_scoped_free(memory);
        return NULL;
    }
    dlex_try_within_disable();
    struct dlex_resource_ **const at = find(&dlex_thread_state, free, memory);
    void *const moved = realloc(memory, size);
    if (moved && at)
        (*at)->arg = moved;
    dlex_try_within_enable();
    return moved;
}

void dlex_scoped_free(void *memory)
{
    dlex_scoped_release(free, memory);
}

static void close_fd(void *fd)
{
    close((int)(intptr_t)fd);
}

int dlex_scoped_fd(int fd)
{
    if (fd < 0 || dlex_scoped_defer(close_fd, (void *)(intptr_t)fd) == 0)
        return fd;
    errno = ENOMEM;
    return -1;
}

int dlex_scoped_open(const char *path, int flags, mode_t mode)
{
    dlex_try_within_disable();
    int fd = open(path, flags, mode);
    if (fd >= 0 && dlex_scoped_fd(fd) < 0) {
        close(fd);
        errno = ENOMEM;
        fd = -1;
    }
    dlex_try_within_enable();
    return fd;
}

int dlex_scoped_close(int fd)
{
    dlex_try_within_disable();
    take_off(&dlex_thread_state, close_fd, (void *)(intptr_t)fd);
    const int result = close(fd);
    dlex_try_within_enable();
    return result;
}

static void close_stream(void *stream)
{
    fclose(stream);
}

FILE *dlex_scoped_fopen(const char *path, const char *mode)
{
    dlex_try_within_disable();
    FILE *stream = fopen(path, mode);
    if (stream && dlex_scoped_defer(close_stream, stream) < 0) {
        fclose(stream);
        errno = ENOMEM;
        stream = NULL;
    }
    dlex_try_within_enable();
    return stream;
}

int dlex_scoped_fclose(FILE *stream)
{
    dlex_try_within_disable();
    take_off(&dlex_thread_state, close_stream, stream);
    const int result = fclose(stream);
    dlex_try_within_enable();
    return result;
}
