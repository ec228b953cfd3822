/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refused values in messages: the kernel takes arguments of 128 KiB, which nobody reads. */
#ifndef CLI_SHOWN_VALUE_H
#define CLI_SHOWN_VALUE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the value, or if it is longer than 60 bytes, its beginning and its length. That text stays until the fourth call from now
 * on. One thread may call it.
 */
const char *shown_value(const char *value);

/*
 * Cuts the names of long options in argv[1] and later that are longer than 60 bytes: no program has such an option, and getopt and
 * argp print the whole name of one that does not exist. To be called before they parse. It ends with "--", or if the program takes a
 * command, with the first argument that is no option.
 */
void shown_option_names(char **argv, bool takes_command);

/* Returns how much of a text of this length a message shows with %.*s: at most 60 bytes. */
int shown_length(size_t length);

#endif
