/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int clip_path(char *path, size_t size, const char *name)
{
    const char *make = getenv("DLEX_MEDIA_MAKE");
    char command[4096];
    if (!make || snprintf(command, sizeof(command), "'%s' '%s'", make, name) >=
                     (int)sizeof(command))
        return -1;
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return -1;
    const char *line = fgets(path, size, pipe);
    if (pclose(pipe) || !line)
        return -1;
    path[strcspn(path, "\n")] = '\0';
    return 0;
}
