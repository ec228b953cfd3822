/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports what standard output has lost: its disk is full, nobody reads the pipe any more (where SIGPIPE is ignored), or the caller
 * has closed it (>&-). Programs print with stdio and need not look at each result.
 */
#ifndef CLI_STANDARD_OUTPUT_H
#define CLI_STANDARD_OUTPUT_H

/*
 * To be called first in main, before anything else is opened or given to atexit(3). From then on, whenever the program ends by
 * exit() or by its return from main (argp ends it after --help), what is still in the buffer is written. If that or an earlier
 * write failed, one sentence goes to standard error, and the program ends with `status` in place of 0. A program that printed nothing
 * has lost nothing. `program` is kept.
 *
 * A closed standard output becomes /dev/null, open for reading only, so that no file of the program gets its number: whatever is
 * printed there, also by commands that inherit it, fails with EBADF. The same goes for a closed standard error, whose messages would
 * be written into the first file of the program, and for a closed standard input, from which nothing can be read.
 */
void standard_output_begin(const char *program, int status);

/* Writes what is in the buffer. Returns 0 or a negative errno. The failure itself is reported at the end, by the function above. */
int standard_output_flush(void);

#endif
