/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file that appears completely or not at all. It is written under a temporary name in the same directory and renamed
 * at the end. If the path is not a regular file (a pipe, /dev/stdout), it is written directly; - is standard output.
 */
#ifndef PLAYER_WHOLE_FILE_H
#define PLAYER_WHOLE_FILE_H

#include <limits.h>
#include <stdio.h>

struct whole_file {
    FILE *out; /* the caller writes here; NULL when nothing is open */
    char path[PATH_MAX];
    char temporary[PATH_MAX];
};

/* Returns 0, or a negative errno (for example -ENAMETOOLONG); nothing is open then. */
int whole_file_open(struct whole_file *file, const char *path);

/*
 * Closes and renames, replacing a file of that name. Returns 0, or a negative errno when anything since the opening could
 * not be written (disk full, …). The temporary file is then removed, and an older file of that name is unchanged.
 */
int whole_file_commit(struct whole_file *file);

/* Closes and removes the temporary file. Harmless when nothing is open. */
void whole_file_abandon(struct whole_file *file);

#endif
