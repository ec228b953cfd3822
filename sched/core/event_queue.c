/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event_queue.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void event_queue_init(struct event_queue *queue)
{
    queue->count = 0;
}

int event_raise(struct event_queue *queue, int sink, int64_t due_ns, int64_t data)
{
    if (queue->count == EVENT_CAPACITY)
        return -ENOBUFS;
    int at = queue->count++;
    for (; at > 0 && queue->event[at - 1].due_ns > due_ns; at--)
        queue->event[at] = queue->event[at - 1];
    queue->event[at] = (struct event){.sink = sink, .due_ns = due_ns, .data = data};
    return 0;
}

int event_due_for(const struct event_queue *queue, int sink, int64_t now_ns)
{
    for (int i = 0; i < queue->count && queue->event[i].due_ns <= now_ns; i++)
        if (queue->event[i].sink == sink)
            return i;
    return EVENT_NONE;
}

int event_count(const struct event_queue *queue, int sink)
{
    int count = 0;
    for (int i = 0; i < queue->count; i++)
        count += queue->event[i].sink == sink;
    return count;
}

void event_remove(struct event_queue *queue, int index)
{
    assert(index >= 0 && index < queue->count);
    queue->count--;
    memmove(&queue->event[index], &queue->event[index + 1], (size_t)(queue->count - index) * sizeof queue->event[0]);
}

int event_forget(struct event_queue *queue, int sink)
{
    int kept = 0;
    for (int i = 0; i < queue->count; i++)
        if (queue->event[i].sink != sink)
            queue->event[kept++] = queue->event[i];
    const int forgotten = queue->count - kept;
    queue->count = kept;
    return forgotten;
}
