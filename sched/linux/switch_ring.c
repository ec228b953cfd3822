/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "switch_ring.h"

#include "kernel_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * Two records of 16 bytes for each time that a thread has the CPU: 2048 records are enough for a second at 1000 switches per
 * second.
 */
enum { RING_PAGES = 8 };

int switch_ring_open(struct perf_ring *ring, pid_t thread)
{
    const struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TIME,
        .exclude_kernel = 1, /* without it, paranoid 2 refuses; switches are recorded all the same */
        .exclude_hv = 1,
        .sample_id_all = 1,
        .context_switch = 1,
        .comm = 1, /* a new name, and exec */
        .task = 1, /* a new thread or process, and the end of this one */
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return perf_ring_open(ring, &attributes, thread, RING_PAGES);
}

static enum switch_kind kind_of(const struct perf_event_header *header)
{
    if (!(header->misc & PERF_RECORD_MISC_SWITCH_OUT))
        return SWITCH_IN;
    return header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCH_PREEMPTED : SWITCH_BLOCKED;
}

/* Who gets the switches. */
struct receiver {
    switch_sink *sink;
    void *context;
    bool has_news; /* see switch_ring_drain */
};

static void pass_on(void *context, const union perf_record *record)
{
    struct receiver *const receiver = context;
    struct thread_switch at = {.kind = SWITCH_LOST};
    switch (record->header.type) {
    case PERF_RECORD_SWITCH:
        at = (struct thread_switch){.kind = kind_of(&record->header), .time_ns = (int64_t)record->timed.time_ns};
        break;
    case PERF_RECORD_LOST: receiver->has_news = true; break; /* there may have been some among the lost ones */
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: receiver->has_news = true; return;
    default: return; /* such as PERF_RECORD_THROTTLE */
    }
    receiver->sink(receiver->context, &at);
}

bool switch_ring_drain(struct perf_ring *ring, switch_sink *sink, void *context)
{
    struct receiver receiver = {.sink = sink, .context = context};
    perf_ring_drain(ring, pass_on, &receiver);
    return receiver.has_news;
}

const char *switch_ring_remedy(int error, char text[SWITCH_RING_REMEDY_SIZE])
{
    return switch_ring_remedy_under(error, kernel_file_number("/proc/sys/kernel/perf_event_paranoid", 2), text);
}

const char *switch_ring_remedy_under(int error, long paranoid, char text[SWITCH_RING_REMEDY_SIZE])
{
    if ((error == -EACCES || error == -EPERM) && paranoid > 2)
        snprintf(text, SWITCH_RING_REMEDY_SIZE, "kernel.perf_event_paranoid is %ld, which keeps users from observing their own "
                 "programs; `sudo sysctl kernel.perf_event_paranoid=2` allows it until the next start", paranoid);
    else if (error == -EACCES)
        snprintf(text, SWITCH_RING_REMEDY_SIZE, "the program belongs to another user; observe it as that user or as root");
    else if (error == -EPERM || error == -ENOMEM)
        snprintf(text, SWITCH_RING_REMEDY_SIZE, "too little memory may be locked; `sudo sysctl kernel.perf_event_mlock_kb=4096` "
                 "allows more");
    else if (error == -EMFILE)
        snprintf(text, SWITCH_RING_REMEDY_SIZE, "too many open files; `ulimit -n 4096` allows more");
    else
        snprintf(text, SWITCH_RING_REMEDY_SIZE, "perf_event_open: %s", strerror(-error));
    return text;
}
