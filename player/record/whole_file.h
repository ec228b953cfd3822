/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file that appears whole or not at all: written under a temporary name beside its own, renamed at the end.
 * What is no regular file (a pipe, /dev/stdout) is written directly; - is standard output.
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

/* Returns 0 or a negative errno (-ENAMETOOLONG among them); nothing is open then. */
int whole_file_open(struct whole_file *file, const char *path);

/*
 * Closes and renames, replacing a file of that name. Returns 0, or a negative errno when anything since the opening could
 * not be written (disk full, …): the temporary is removed and an older file of that name is as it was.
 */
int whole_file_commit(struct whole_file *file);

/* Closes and removes the temporary. Harmless when nothing is open. */
void whole_file_abandon(struct whole_file *file);

#endif
