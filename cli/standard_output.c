/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    /* stdio may have written by itself, when its buffer was full. Then nobody knows the errno. */
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", program_name, first_error ? ": " : "",
            first_error ? strerror(first_error) : "");
    _exit(status ? status : lost_status);
}

static void open_if_closed(void)
{
    if (fcntl(STDOUT_FILENO, F_GETFD) >= 0)
        return;
    const int fd = open("/dev/null", O_RDONLY);
    if (fd < 0 || fd == STDOUT_FILENO)
        return;
    dup2(fd, STDOUT_FILENO); /* standard input is closed, too */
    close(fd);
}

void standard_output_begin(const char *program, int status)
{
    program_name = program;
    lost_status = status;
    open_if_closed();
    on_exit(check_at_exit, NULL);
}
