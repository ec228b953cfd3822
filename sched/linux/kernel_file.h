/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small files of /proc and /sys. */
#ifndef SCHED_KERNEL_FILE_H
#define SCHED_KERNEL_FILE_H

#include <stddef.h>

/* Reads the first line, without its end, into text. Returns text, or NULL if the file cannot be read. */
const char *kernel_file_line(const char *path, char *text, size_t size);

/* Returns the number that a file begins with, or `missing` if there is no such file or number. */
long kernel_file_number(const char *path, long missing);

#endif
