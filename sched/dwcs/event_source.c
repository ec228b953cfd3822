/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event_source.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { AT_ONCE = 16 }; /* more events of one member do not make it more urgent */

int event_source_open(struct event_source *source, enum event_source_kind kind, int pidfd, int file)
{
    *source = (struct event_source){.kind = kind, .file = -1};
    if (kind == EVENTS_OF_EVENTFD)
        source->file = file;
    if (kind != EVENTS_OF_SOCKET)
        return 0;
    source->file = (int)syscall(SYS_pidfd_getfd, pidfd, file, 0);
    return source->file < 0 ? -errno : 0;
}

void event_source_close(struct event_source *source)
{
    if (source->kind == EVENTS_OF_SOCKET && source->file >= 0)
        close(source->file);
    source->file = -1;
}

bool event_source_poll(const struct event_source *source, struct pollfd *polled)
{
    *polled = (struct pollfd){.fd = source->file, .events = POLLIN};
    return source->file >= 0 && !source->was_readable;
}

/* The member shares the eventfd: it may have made it a blocking one, and may read from it at this moment. */
static int take_count(int file)
{
    eventfd_t count;
    const struct iovec into = {.iov_base = &count, .iov_len = sizeof count};
    if (preadv2(file, &into, 1, -1, RWF_NOWAIT) != sizeof count)
        return 0;
    return count < AT_ONCE ? (int)count : AT_ONCE;
}

int event_source_take(struct event_source *source)
{
    struct pollfd polled = {.fd = source->file, .events = POLLIN};
    if (source->file < 0)
        return 0;
    if (source->kind == EVENTS_OF_EVENTFD)
        return take_count(source->file);
    const bool was_readable = source->was_readable;
    source->was_readable = poll(&polled, 1, 0) == 1;
    return source->was_readable && !was_readable;
}
