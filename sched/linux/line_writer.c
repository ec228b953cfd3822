/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "line_writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool line_writer_takes_more(int file)
{
    struct pollfd polled = {.fd = file, .events = POLLOUT};
    return poll(&polled, 1, 0) == 1;
}

/* A pipe that takes anything takes so much at once. Returns 0 or a negative errno. */
static int write_some(struct line_writer *writer)
{
    size_t done = 0;
    int error = 0;
    while (done < writer->size && !error && line_writer_takes_more(writer->file)) {
        const size_t left = writer->size - done;
        const ssize_t got = write(writer->file, writer->unwritten + done, left < PIPE_BUF ? left : PIPE_BUF);
        if (got >= 0)
            done += (size_t)got;
        else if (errno != EINTR)
            error = -errno;
    }
    writer->size -= done;
    memmove(writer->unwritten, writer->unwritten + done, writer->size);
    return error == -EAGAIN ? 0 : error;
}

/* A file that the caller has closed takes nothing, but the caller wants the work all the same. */
static int lose_what_is_closed(struct line_writer *writer, int error)
{
    if (error != -EBADF)
        return error;
    writer->is_lost = true;
    writer->size = 0;
    return 0;
}

int line_writer_put(struct line_writer *writer, const char *line, size_t size, bool must_keep)
{
    if (writer->is_lost)
        return 0;
    const int error = writer->size ? write_some(writer) : 0;
    if (error || (writer->size && !must_keep))
        return lose_what_is_closed(writer, error);
    char *const both = realloc(writer->unwritten, writer->size + size);
    if (!both)
        return -ENOMEM;
    memcpy(both + writer->size, line, size);
    writer->unwritten = both;
    writer->size += size;
    return lose_what_is_closed(writer, write_some(writer));
}

int line_writer_end(struct line_writer *writer, int stop)
{
    struct pollfd polled[] = {{.fd = writer->file, .events = POLLOUT}, {.fd = stop, .events = POLLIN}};
    int error = writer->is_lost ? -EBADF : writer->size ? write_some(writer) : 0;
    while (writer->size && !error && (poll(polled, 2, -1) >= 0 || errno == EINTR) && !polled[1].revents)
        error = write_some(writer);
    free(writer->unwritten);
    *writer = (struct line_writer){.file = writer->file};
    return error;
}
