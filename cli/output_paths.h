/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refuses outputs that would overwrite what the program reads, or each other, before anything is opened. */
#ifndef CLI_OUTPUT_PATHS_H
#define CLI_OUTPUT_PATHS_H

#include <stdbool.h>

/* A file as the user named it. */
struct named_path {
    const char *name; /* such as "--csv"; NULL: an argument, or a file that the program finds itself */
    const char *path; /* NULL: not given; "-": standard output */
};

/*
 * Returns true if each output is another file than all inputs and all other outputs, by device and inode (is_same_file). Otherwise
 * returns false after a message to standard error. Devices such as /dev/null are never refused. The arrays end with an entry without
 * name and path; an entry that has a name only is passed over.
 */
bool output_paths_check(const char *program, const struct named_path *outputs, const struct named_path *inputs);

/*
 * The same for one output and the arguments of a command (up to NULL) that the program will run: files that the command is likely to
 * read. What follows the first = of an argument counts, too. A NULL output or command is fine.
 */
bool output_paths_check_command(const char *program, struct named_path output, char *const *command);

/*
 * For programs that measure long before they write: returns whether the file can be written, or false after a message. It is left
 * as it is, and not made. NULL: no file was asked for.
 */
bool output_paths_try(const char *program, const char *path);

#endif
