/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "own_folder.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folder. Returns 0 if it is there and nobody else can change what is in it. */
static int require(const char *path)
{
    struct stat status;
    if (mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    if (lstat(path, &status))
        return -errno;
    const int others = S_IRWXG | S_IRWXO;
    return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & (mode_t)others) ? 0 : -EPERM;
}

int own_folder(char path[OWN_FOLDER_SIZE])
{
    const unsigned user = geteuid();
    if (user)
        snprintf(path, OWN_FOLDER_SIZE, "/run/user/%u/dlex-sched", user);
    else
        snprintf(path, OWN_FOLDER_SIZE, "/run/dlex-sched");
    const int error = require(path);
    if (error != -ENOENT && error != -EACCES && error != -EROFS)
        return error;
    snprintf(path, OWN_FOLDER_SIZE, "/dev/shm/dlex-sched-%u", user);
    return require(path);
}
