/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "own_proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char own_proc_remedy[] =
    "/proc does not show the processes of this PID namespace; mount its own one (unshare --mount-proc, or mount -t proc proc /proc)";

/* The link /proc/self has the id that this process has in the namespace of /proc; it cannot be read if it has none there. */
bool own_proc_is_shown(void)
{
    char text[32];
    const ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    return strtol(text, NULL, 10) == getpid();
}

bool own_proc_check(const char *program)
{
    const bool is_shown = own_proc_is_shown();
    if (!is_shown)
        fprintf(stderr, "%s: %s\n", program, own_proc_remedy);
    return is_shown;
}
