/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether two paths lead to one file. */
#ifndef CLI_SAME_FILE_H
#define CLI_SAME_FILE_H

#include <stdbool.h>

/*
 * True if the paths are equal, or are the same existing file (by device and inode: links count), or name the same file in the same
 * folder, which does not exist yet (links to it are followed). "-" is standard output. Neither path needs to exist.
 */
bool is_same_file(const char *a, const char *b);

#endif
