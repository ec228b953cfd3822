/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MAKE_NOT_HERE = 3 }; /* exit code of media/make */

int clip_path(char *path, size_t size, const char *name)
{
    char command[256];
    snprintf(command, sizeof(command), "exec \"$DLEX_MEDIA_MAKE\" '%s'", name);
    setenv("DLEX_MEDIA_MAKE", MEDIA_MAKE, 1); /* through the environment: the path may contain any characters */
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return -1;
    const char *line = fgets(path, size, pipe);
    const int status = pclose(pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == MAKE_NOT_HERE)
        return 1;
    if (status || !line)
        return -1;
    path[strcspn(path, "\n")] = '\0';
    return 0;
}
