/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What brings the events of a member: an eventfd, a socket of the member, or its wake-ups, which its owner sees. */
#ifndef SCHED_EVENT_SOURCE_H
#define SCHED_EVENT_SOURCE_H

#include <poll.h>
#include <stdbool.h>

enum event_source_kind { EVENTS_NONE, EVENTS_OF_WAKE_UPS, EVENTS_OF_EVENTFD, EVENTS_OF_SOCKET };

struct event_source {
    enum event_source_kind kind;
    int file;          /* the eventfd, or a copy of the socket; -1: none */
    bool was_readable; /* a socket, at the last look */
};

/*
 * file: EVENTS_OF_EVENTFD: an eventfd, which stays the caller's (Linux 5.8); EVENTS_OF_SOCKET: the number that the socket, or
 * any other file, has in the process of the pidfd. Returns 0 or a negative errno: -EBADF (that process has no such file), -EPERM.
 */
int event_source_open(struct event_source *source, enum event_source_kind kind, int pidfd, int file);

void event_source_close(struct event_source *source);

/* Fills in what to wait for. Returns false if there is nothing. A socket that is readable is not waited for: it would not end. */
bool event_source_poll(const struct event_source *source, struct pollfd *polled);

/* Returns how many events have come: what was written to the eventfd; 1 when the socket has become readable. Never waits. */
int event_source_take(struct event_source *source);

#endif
