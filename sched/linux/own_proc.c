/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "own_proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The link /proc/self has the id that this process has in the namespace of /proc; it cannot be read if it has none there. */
bool own_proc_check(const char *program)
{
    char text[32];
    const ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    if (length > 0) {
        text[length] = '\0';
        if (strtol(text, NULL, 10) == getpid())
            return true;
    }
    fprintf(stderr, "%s: /proc does not show the processes of this PID namespace; mount its own one (unshare --mount-proc, or "
            "mount -t proc proc /proc)\n", program);
    return false;
}
