/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that wait for their processes (seed 001, section 3). An event has a sink, the process that shall handle it, and a
 * delivery time, which its source chooses. The queue is in order of delivery time, then of arrival. (The seed does not say
 * the latter.) Events of the future wait in it, too.
 *
 * Pure, without pointers, for one thread at a time. Times are int64_t ns of the clock of dwcs.h.
 */
#ifndef SCHED_EVENT_QUEUE_H
#define SCHED_EVENT_QUEUE_H

#include <stdint.h>

enum { EVENT_CAPACITY = 256, EVENT_NONE = -1 };

struct event {
    int sink;       /* a process id of the same run queue */
    int64_t due_ns; /* its delivery time */
    int64_t data;   /* the source's, for the sink */
};

struct event_queue {
    struct event event[EVENT_CAPACITY]; /* the first one is next */
    int count;
};

void event_queue_init(struct event_queue *queue);

/* Adds an event. Returns 0, or -ENOBUFS if the queue is full; then nothing has changed. */
int event_raise(struct event_queue *queue, int sink, int64_t due_ns, int64_t data);

/* Returns the index of the first event of this sink that is due, or EVENT_NONE. */
int event_due_for(const struct event_queue *queue, int sink, int64_t now_ns);

/* Returns how many events of this sink wait. */
int event_count(const struct event_queue *queue, int sink);

/* Removes the event with this index, 0 <= index < count. */
void event_remove(struct event_queue *queue, int index);

/* Removes all events of a sink. Call it when the process ends. Returns how many there were. */
int event_forget(struct event_queue *queue, int sink);

#endif
