/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes lines to a file, such as a pipe to `less`, whose reader may stop reading at any time, and never waits for it (a terminal may make it wait): while an
 * earlier line is unwritten, whole later ones are left out. Not for a file that is written to in other ways as well.
 */
#ifndef SCHED_LINE_WRITER_H
#define SCHED_LINE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

struct line_writer {
    int file;       /* set by the caller, the rest zero */
    char *unwritten;
    size_t size;
    bool is_lost;   /* the file is closed */
};

/*
 * Writes a line, as far as the file takes it now, and keeps the rest for the next call. must_keep: it is not left out; the last
 * line, for example. Returns 0, or a negative errno: -ENOMEM, or an error of write(2), and then the file is of no more use. What is
 * put into a closed file (EBADF) is lost, and only line_writer_end returns the error: the work goes on.
 */
int line_writer_put(struct line_writer *writer, const char *line, size_t size, bool must_keep);

/* True if the file takes something now without a wait for its reader. */
bool line_writer_takes_more(int file);

/* Writes the rest, and waits for the reader; but not when the file `stop` can be read. Frees it in any case. Returns as above. */
int line_writer_end(struct line_writer *writer, int stop);

#endif
