/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm_shared.h: what the threads of the storm share, and streams of records. */
#ifndef STORM_SHARED_H
#define STORM_SHARED_H

#include <stdint.h>
#include <stdio.h>

/* A record is of one length and written by one call, so that the position of the stream and each
 * record in it are whole, wherever the thread is aborted. */
/* A file full of records, so that a loop which is aborted after a seek leaves no gap. NULL: errno. */
FILE *storm_record_file(void);
void storm_record_write(FILE *stream, uint32_t number);
/* Reads one somewhere, and looks at it. */
void storm_record_read(FILE *stream, uint32_t number);
/* Looks at the position. */
void storm_record_check(FILE *stream);

/* Writes or reads, in two halves under flockfile, a record of the stream that all threads have. */
void storm_shared_stream_step(uint32_t number);

/* One use of one or two of the locks that all threads have. */
void storm_locks_step(uint32_t number);

#endif
