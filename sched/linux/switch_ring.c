/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "switch_ring.h"

#include "kernel_file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Two records of 16 bytes for each time that a thread has the CPU: 2048 records are enough for a second at 1000 switches per
 * second. An ordinary user may lock 516 KiB for rings (kernel.perf_event_mlock_kb), and more within RLIMIT_MEMLOCK.
 */
enum { RING_PAGES = 8 };
/* Longer records than this do not exist among those that are asked for. */
enum { RECORD_MAX = 64 };

/* With PERF_SAMPLE_TIME and sample_id_all, every record ends with the time. */
struct switch_record {
    struct perf_event_header header;
    uint64_t time_ns;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id;
    uint64_t lost;
};

/* Room for one record, with the alignment of each kind. */
union record {
    struct perf_event_header header;
    struct switch_record at;
    struct lost_record gap;
    unsigned char bytes[RECORD_MAX];
};

int switch_ring_open(struct switch_ring *ring, pid_t thread)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TIME,
        .exclude_kernel = 1, /* without it, paranoid 2 refuses; switches are recorded all the same */
        .exclude_hv = 1,
        .sample_id_all = 1,
        .context_switch = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *ring = (struct switch_ring){.fd = -1, .size = RING_PAGES * page};
    const int fd = (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    ring->pages = mmap(NULL, page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring->pages == MAP_FAILED) {
        const int error = -errno;
        close(fd);
        ring->pages = NULL;
        return error;
    }
    ring->fd = fd;
    return 0;
}

bool switch_ring_has_ended(const struct switch_ring *ring)
{
    struct pollfd recording = {.fd = ring->fd};
    return poll(&recording, 1, 0) > 0 && recording.revents & POLLHUP;
}

void switch_ring_close(struct switch_ring *ring)
{
    if (ring->pages)
        munmap(ring->pages, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
    if (ring->fd >= 0)
        close(ring->fd);
    *ring = (struct switch_ring){.fd = -1};
}

/* Copies a part of the ring, which may go on at its beginning. */
static void copy_out(const struct switch_ring *ring, uint64_t from, void *to, size_t size)
{
    const unsigned char *const records = (const unsigned char *)ring->pages + sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = records[(from + i) % ring->size];
}

static enum switch_kind kind_of(const struct perf_event_header *header)
{
    if (!(header->misc & PERF_RECORD_MISC_SWITCH_OUT))
        return SWITCH_IN;
    return header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCH_PREEMPTED : SWITCH_BLOCKED;
}

static void pass_on(struct switch_ring *ring, const union record *record, switch_sink *sink, void *context)
{
    struct thread_switch at = {.kind = SWITCH_LOST};
    switch (record->header.type) {
    case PERF_RECORD_SWITCH:
        at = (struct thread_switch){.kind = kind_of(&record->header), .time_ns = (int64_t)record->at.time_ns};
        break;
    case PERF_RECORD_LOST: ring->lost += (int64_t)record->gap.lost; break;
    default: return; /* such as PERF_RECORD_THROTTLE */
    }
    sink(context, &at);
}

void switch_ring_drain(struct switch_ring *ring, switch_sink *sink, void *context)
{
    struct perf_event_mmap_page *const control = ring->pages;
    /* Acquire: the kernel writes the records before the head. */
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail; /* only we write it */
    while (tail < head) {
        union record record;
        copy_out(ring, tail, &record.header, sizeof record.header);
        const size_t size = record.header.size;
        if (size < sizeof record.header)
            break; /* would be a fault of the kernel; do not loop for ever */
        copy_out(ring, tail, &record, size < sizeof record ? size : sizeof record);
        pass_on(ring, &record, sink, context);
        tail += size;
    }
    /* Release: the kernel may overwrite the records from now on. */
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

const char *switch_ring_remedy(int error, char text[SWITCH_RING_REMEDY_SIZE])
{
    const long paranoid = kernel_file_number("/proc/sys/kernel/perf_event_paranoid", 2);
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
