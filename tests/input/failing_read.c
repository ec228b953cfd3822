/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into the player: reading the file FAILING_FILE fails from the byte FAILING_AT on, as on a damaged disk.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_failing_file(int fd)
{
    const char *const name = getenv("FAILING_FILE");
    struct stat failing;
    struct stat own;
    return name && !stat(name, &failing) && !fstat(fd, &own) && failing.st_ino == own.st_ino && failing.st_dev == own.st_dev;
}

ssize_t read(int fd, void *buffer, size_t size)
{
    static ssize_t (*next)(int, void *, size_t);
    if (!next)
        next = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    if (is_failing_file(fd) && lseek(fd, 0, SEEK_CUR) >= atol(getenv("FAILING_AT"))) {
        errno = EIO;
        return -1;
    }
    return next(fd, buffer, size);
}
