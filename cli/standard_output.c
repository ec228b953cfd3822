/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What a help text or a report may have, so that all of it is written by standard_output_flush, which keeps the errno. stdio's own
 * buffer has 4 KiB, and the help of dlex-play has more.
 */
enum { BUFFER_SIZE = 1 << 16 };

static char buffer[BUFFER_SIZE];
static const char *program_name;
static int lost_status;
static int first_error; /* errno of the first flush that failed; 0: none */

int standard_output_flush(void)
{
    if (!fflush(stdout))
        return 0;
    const int error = errno;
    if (!first_error)
        first_error = error;
    return -error;
}

/* Was registered first, so that it runs last: _exit() leaves nothing undone. */
static void check_at_exit(int status, void *unused)
{
    (void)unused;
    if (!standard_output_flush() && !ferror(stdout))
        return;
    /* stdio has written by itself if its buffer was full. Then nobody knows the errno. */
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", program_name, first_error ? ": " : "",
            first_error ? strerror(first_error) : "");
    _exit(status ? status : lost_status);
}

/* In this order, the first free number is that of the closed stream. */
static void open_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0)
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void standard_output_begin(const char *program, int status)
{
    program_name = program;
    lost_status = status;
    open_closed_streams();
    setvbuf(stdout, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof buffer);
    on_exit(check_at_exit, NULL);
}
