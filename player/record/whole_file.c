/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns a stream that owns fd. On failure closes fd and returns NULL with the cause in errno. */
static FILE *stream_of(int fd)
{
    FILE *const out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out && fd >= 0) {
        const int cause = errno;
        close(fd);
        errno = cause;
    }
    return out;
}

static int open_standard_output(struct whole_file *file)
{
    strcpy(file->path, "-");
    strcpy(file->temporary, "-");
    file->out = stream_of(dup(STDOUT_FILENO));
    return file->out ? 0 : -errno;
}

static bool is_direct(const struct whole_file *file)
{
    return !strcmp(file->path, file->temporary);
}

static int open_temporary(struct whole_file *file)
{
    const int fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    file->out = stream_of(fd);
    if (file->out)
        return 0;
    const int ret = -errno;
    if (fd >= 0 && !is_direct(file))
        unlink(file->temporary);
    return ret;
}

int whole_file_open(struct whole_file *file, const char *path)
{
    file->out = NULL;
    if (!strcmp(path, "-"))
        return open_standard_output(file);
    struct stat facts;
    const bool exists = stat(path, &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode))
        return -EISDIR;
    const size_t size = sizeof file->path;
    char *const full = exists ? realpath(path, NULL) : NULL; /* a link is kept, and the file it points to is replaced */
    const int length = snprintf(file->path, size, "%s", full ? full : path);
    free(full);
    if (length >= (int)size ||
        snprintf(file->temporary, size, "%s.%ld.tmp", file->path, (long)getpid()) >= (int)size)
        return -ENAMETOOLONG;
    if (exists && !S_ISREG(facts.st_mode)) /* a pipe or a device: renaming would replace it */
        memcpy(file->temporary, file->path, size);
    return open_temporary(file);
}

int whole_file_commit(struct whole_file *file)
{
    int ret = ferror(file->out) ? -EIO : 0;
    if ((fflush(file->out) || fsync(fileno(file->out))) && errno != EINVAL)
        ret = -errno;
    if (fclose(file->out) && !ret)
        ret = -errno;
    file->out = NULL;
    if (is_direct(file))
        return ret;
    if (!ret && rename(file->temporary, file->path))
        ret = -errno;
    if (ret)
        unlink(file->temporary);
    return ret;
}

void whole_file_abandon(struct whole_file *file)
{
    if (!file->out)
        return;
    fclose(file->out);
    file->out = NULL;
    if (!is_direct(file))
        unlink(file->temporary);
}
