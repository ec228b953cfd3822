/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "perf_ring.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(const struct perf_event_attr *attributes, pid_t thread)
{
    const int fd = (int)syscall(SYS_perf_event_open, attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *attributes, pid_t thread, int pages)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *ring = (struct perf_ring){.fd = -1, .size = (size_t)pages * page};
    const int fd = open_event(attributes, thread);
    if (fd < 0)
        return fd;
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

int perf_ring_join(const struct perf_ring *ring, const struct perf_event_attr *attributes, pid_t thread)
{
    const int fd = open_event(attributes, thread);
    if (fd < 0 || !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
        return fd;
    const int error = -errno;
    close(fd);
    return error;
}

/* Copies a part of the ring, which may go on at its beginning. */
static void copy_out(const struct perf_ring *ring, uint64_t from, void *to, size_t size)
{
    const unsigned char *const records = (const unsigned char *)ring->pages + sysconf(_SC_PAGESIZE);
    const size_t at = from % ring->size;
    const size_t until_end = size < ring->size - at ? size : ring->size - at;
    memcpy(to, &records[at], until_end);
    memcpy((unsigned char *)to + until_end, records, size - until_end);
}

void perf_ring_drain(struct perf_ring *ring, perf_record_sink *sink, void *context)
{
    struct perf_event_mmap_page *const control = ring->pages;
    /* Acquire: the kernel writes the records before the head. */
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail; /* only we write it */
    while (tail < head) {
        union perf_record record;
        copy_out(ring, tail, &record.header, sizeof record.header);
        const size_t size = record.header.size;
        if (size < sizeof record.header)
            break; /* would be a fault of the kernel; do not loop for ever */
        copy_out(ring, tail, &record, size < sizeof record ? size : sizeof record);
        if (record.header.type == PERF_RECORD_LOST)
            ring->lost += (int64_t)record.gap.lost;
        sink(context, &record);
        tail += size;
    }
    /* Release: the kernel may overwrite the records from now on. */
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

void perf_rings_find_ended(const struct perf_ring *const *rings, int count, bool *has_ended)
{
    struct pollfd polled[PERF_RINGS_MAX];
    int places[PERF_RINGS_MAX];
    nfds_t opened = 0; /* poll refuses more places than the files that may be open, even if it is to ignore them */
    for (int i = 0; i < count; i++) {
        has_ended[i] = false;
        if (!rings[i]->pages)
            continue;
        places[opened] = i;
        polled[opened++] = (struct pollfd){.fd = rings[i]->fd};
    }
    if (poll(polled, opened, 0) <= 0)
        return;
    for (nfds_t i = 0; i < opened; i++)
        has_ended[places[i]] = polled[i].revents & POLLHUP;
}

void perf_ring_close(struct perf_ring *ring)
{
    if (ring->pages)
        munmap(ring->pages, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
    if (ring->fd >= 0)
        close(ring->fd);
    *ring = (struct perf_ring){.fd = -1};
}
