/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pman_deaths.h"

#include "manager_thread.h"
#include "pman_change.h"
#include "pman_services.h"
#include "process_start.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOK_AGAIN_MS = 1000 };

/* A process that is watched. */
struct watched {
    pid_t pid;      /* 0: none */
    uint64_t start; /* as in the slot */
    int fd;
};

struct pman_deaths {
    struct pman_shared *shared;
    pthread_t thread;
    int event;           /* wakes the thread */
    uint32_t must_end;   /* atomic */
    uint32_t pids;       /* shared->pids when the thread was woken last; the manager's */
    bool is_incomplete;  /* there was no file to watch some process with; the thread's */
    struct watched watched[PMAN_CAPACITY]; /* by index in the table; the thread's */
};

static int open_pid(pid_t pid)
{
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : fd;
}

static void forget(struct watched *watched)
{
    if (watched->pid)
        close(watched->fd);
    *watched = (struct watched){0};
}

/* Watches the process of an entry. It may have ended; its id may even mean another process. */
static void watch(struct pman_deaths *deaths, int index, pid_t pid, uint64_t start)
{
    struct watched *const watched = &deaths->watched[index];
    if (watched->pid == pid && watched->start == start)
        return;
    forget(watched);
    if (!pid)
        return;
    const int fd = open_pid(pid);
    if (fd >= 0 && process_lives(pid, start)) {
        *watched = (struct watched){pid, start, fd};
        return;
    }
    deaths->is_incomplete |= fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || fd == -ESRCH)
        pman_services_bury(deaths->shared, pid, start);
}

/* Compares what is watched with the table. */
static void look(struct pman_deaths *deaths)
{
    pid_t pid[PMAN_CAPACITY] = {0};
    uint64_t start[PMAN_CAPACITY] = {0};
    struct pman_change change;
    if (pman_change_begin(&change, deaths->shared))
        return;
    for (int i = 0; i < change.before->used; i++) {
        pid[i] = change.before->process[i].pid;
        start[i] = deaths->shared->slot[i].start;
    }
    pman_change_end(&change, -ECANCELED); /* nothing changes */
    deaths->is_incomplete = false;
    for (int i = 0; i < PMAN_CAPACITY; i++)
        watch(deaths, i, pid[i], start[i]);
}

static void bury_ended(struct pman_deaths *deaths, const struct pollfd *polled, const int *index, int count)
{
    for (int i = 0; i < count; i++) {
        struct watched *const watched = &deaths->watched[index[i]];
        if (!polled[i].revents)
            continue;
        pman_services_bury(deaths->shared, watched->pid, watched->start);
        forget(watched);
    }
}

static void *run(void *context)
{
    struct pman_deaths *const deaths = context;
    while (!__atomic_load_n(&deaths->must_end, __ATOMIC_ACQUIRE)) {
        struct pollfd polled[PMAN_CAPACITY + 1] = {{.fd = deaths->event, .events = POLLIN}};
        int index[PMAN_CAPACITY];
        int count = 0;
        eventfd_t unused;
        for (int i = 0; i < PMAN_CAPACITY; i++) {
            if (!deaths->watched[i].pid)
                continue;
            index[count++] = i;
            polled[count] = (struct pollfd){.fd = deaths->watched[i].fd, .events = POLLIN};
        }
        const int ready = poll(polled, (nfds_t)count + 1, deaths->is_incomplete ? LOOK_AGAIN_MS : -1);
        if (ready < 0)
            continue; /* interrupted */
        bury_ended(deaths, polled + 1, index, count);
        if (!ready || (polled[0].revents && !eventfd_read(deaths->event, &unused)))
            look(deaths);
    }
    return NULL;
}

static int make(struct pman_deaths *made, int priority)
{
    const int self = open_pid(getpid()); /* is it possible at all? */
    if (self < 0)
        return self;
    close(self);
    made->event = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK); /* 1: looks at the table at once */
    if (made->event < 0)
        return -errno;
    const int error = manager_thread_start(&made->thread, priority, run, made);
    if (error)
        close(made->event);
    return error;
}

int pman_deaths_create(struct pman_deaths **deaths, struct pman_shared *shared, int priority)
{
    struct pman_deaths *const made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    made->shared = shared;
    made->pids = __atomic_load_n(&shared->pids, __ATOMIC_RELAXED);
    const int error = make(made, priority);
    if (error) {
        free(made);
        return error;
    }
    *deaths = made;
    return 0;
}

void pman_deaths_look(struct pman_deaths *deaths)
{
    const uint32_t pids = __atomic_load_n(&deaths->shared->pids, __ATOMIC_RELAXED);
    if (pids == deaths->pids)
        return;
    deaths->pids = pids;
    eventfd_write(deaths->event, 1);
}

void pman_deaths_destroy(struct pman_deaths **deaths)
{
    struct pman_deaths *const ended = *deaths;
    if (!ended)
        return;
    __atomic_store_n(&ended->must_end, 1, __ATOMIC_RELEASE);
    eventfd_write(ended->event, 1);
    pthread_join(ended->thread, NULL);
    for (int i = 0; i < PMAN_CAPACITY; i++)
        forget(&ended->watched[i]);
    close(ended->event);
    free(ended);
    *deaths = NULL;
}
