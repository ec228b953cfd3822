/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm_shared.h: what the threads of the storm share, and streams of records. */
#ifndef STORM_SHARED_H
#define STORM_SHARED_H

#include <stdint.h>
#include <stdio.h>

/* All records have the same length, and each is written by one call. So the position of the stream
 * and each record in it are whole, wherever the thread is aborted. */
/*
 * Returns a file full of records, so that a loop which is aborted after a seek leaves no gap.
 * Returns NULL with errno on failure.
 */
FILE *storm_record_file(void);
void storm_record_write(FILE *stream, uint32_t number);
/* Reads one record, at a place given by number, and checks it. */
void storm_record_read(FILE *stream, uint32_t number);
/* Checks the position of the stream. */
void storm_record_check(FILE *stream);

/* Writes or reads a record of the stream that all threads share, under flockfile. It reads a record by one
 * call and writes one by two calls, so an abort between these two would leave half a record. */
void storm_shared_stream_step(uint32_t number);

/* Uses, once, one or two of the locks that all threads share. */
void storm_locks_step(uint32_t number);

#endif
