/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pman_shared.h"

#include "ns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 96 };

static const char folder[] = "/dev/shm";
static const uint32_t magic = 0x6e616d70;

int64_t pman_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

/* Users have names of their own. */
static void path_of(const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/dlex-pman-%u-%s", folder, (unsigned)geteuid(), name);
}

static int map(int file, struct pman_shared **shared)
{
    void *const memory = mmap(NULL, sizeof **shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (memory == MAP_FAILED)
        return -errno;
    *shared = memory;
    return 0;
}

void pman_shared_unmap(struct pman_shared *shared)
{
    munmap(shared, sizeof *shared);
}

static int init_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);
    if (error)
        return -error;
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    error = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (!error)
        error = pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return -error;
}

/* The memory is zero. */
static int fill(struct pman_shared *shared, const struct pman_table_options *options)
{
    int error = pman_table_init(&shared->table[0], options);
    if (!error)
        error = init_mutex(&shared->lock);
    if (!error)
        error = init_mutex(&shared->managing);
    shared->version = PMAN_SHARED_VERSION;
    shared->size = sizeof *shared;
    shared->magic = magic;
    return error;
}

/* True if another user has made a file with this path. Everybody may do so in the folder. */
static bool is_foreign(const char *path)
{
    struct stat status;
    return !lstat(path, &status) && status.st_uid != geteuid();
}

/* Gives a nameless file its name. */
static int publish(int file, const char *name)
{
    char from[32], to[PATH_SIZE];
    snprintf(from, sizeof from, "/proc/self/fd/%d", file);
    path_of(name, to);
    const int error = linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) ? -errno : 0;
    return error == -EEXIST && is_foreign(to) ? -EACCES : error;
}

/* The kernel checks the permissions; but root may open everything, and must not trust another user's table. */
static int check_file(int file)
{
    struct stat status;
    if (fstat(file, &status))
        return -errno;
    if (status.st_uid != geteuid())
        return -EACCES;
    return S_ISREG(status.st_mode) && status.st_size == (off_t)sizeof(struct pman_shared) ? 0 : -EPROTO;
}

static int check_memory(const struct pman_shared *shared)
{
    if (shared->magic != magic || shared->version != PMAN_SHARED_VERSION || shared->size != sizeof *shared)
        return -EPROTO;
    return pman_shared_is_closed(shared) ? -ESHUTDOWN : 0;
}

/* Returns the file of a table, or a negative errno. */
static int open_file(const char *name)
{
    char path[PATH_SIZE];
    if (!pman_is_name(name))
        return -EINVAL;
    path_of(name, path);
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return errno == ELOOP ? -EACCES : -errno;
    const int error = check_file(file);
    if (!error)
        return file;
    close(file);
    return error;
}

/* Maps a table if it is not closed. */
static int map_open(int file, struct pman_shared **shared)
{
    int error = map(file, shared);
    if (error)
        return error;
    error = check_memory(*shared);
    if (error)
        pman_shared_unmap(*shared);
    return error;
}

int pman_shared_open(struct pman_shared **shared, const char *name)
{
    const int file = open_file(name);
    if (file < 0)
        return file;
    const int error = map_open(file, shared);
    close(file);
    return error;
}

static bool is_closed(int file)
{
    struct pman_shared *shared = NULL;
    const int error = map_open(file, &shared);
    if (!error)
        pman_shared_unmap(shared);
    return error == -ESHUTDOWN;
}

/* True if the path still means this file, and not one of a later table. */
static bool is_at(int file, const char *path)
{
    struct stat own, named;
    return !fstat(file, &own) && !lstat(path, &named) && own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

void pman_shared_unlink(const char *name)
{
    char path[PATH_SIZE];
    const int file = open_file(name);
    if (file < 0)
        return;
    path_of(name, path);
    /* Others may free the name, too, and a new table get it, between the look and the unlink. So each locks the file for both. */
    while (flock(file, LOCK_EX) && errno == EINTR)
        ;
    if (is_closed(file) && is_at(file, path))
        unlink(path);
    flock(file, LOCK_UN); /* a process that was forked meanwhile may have the file, too */
    close(file);
}

static int create_once(struct pman_shared **shared, const char *name, const struct pman_table_options *options)
{
    const int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0)
        return -errno;
    /* A full file system is an error now, and not a SIGBUS later. */
    int error = -posix_fallocate(file, 0, sizeof **shared);
    if (!error)
        error = map(file, shared);
    if (!error) {
        error = fill(*shared, options);
        if (!error)
            error = publish(file, name);
        if (error)
            pman_shared_unmap(*shared);
    }
    close(file);
    return error;
}

int pman_shared_create(struct pman_shared **shared, const char *name, const struct pman_table_options *options)
{
    if (!pman_is_name(name))
        return -EINVAL;
    pman_shared_unlink(name);
    return create_once(shared, name, options);
}

int pman_shared_lock(struct pman_shared *shared, bool *was_dead)
{
    const int error = pthread_mutex_lock(&shared->lock);
    *was_dead = error == EOWNERDEAD;
    if (*was_dead) {
        pthread_mutex_consistent(&shared->lock);
        shared->recoveries++;
    } else if (error) {
        return -error;
    }
    if (!__atomic_load_n(&shared->is_closed, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_unlock(&shared->lock);
    return -ESHUTDOWN;
}

void pman_shared_unlock(struct pman_shared *shared)
{
    pthread_mutex_unlock(&shared->lock);
}
