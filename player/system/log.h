/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sentences for people, on stderr.
 *
 * log_error always prints; log_note prints nothing under --quiet. Both first clear a status line on the terminal. Any
 * thread may call them. FFmpeg's messages are printed the same way: errors only, the first few of a file. Printing them
 * is a protected section, so that an expiry in the gate never interrupts stdio or FFmpeg's log.
 */
#ifndef PLAYER_LOG_H
#define PLAYER_LOG_H

#include <stdbool.h>

/* Call once, before other threads exist. */
void log_init(bool quiet);

/* Call at a new file: FFmpeg's messages are printed again. Main thread. */
void log_begin_file(void);

/* While on, FFmpeg's own messages are not printed. Main thread, before other threads exist. */
void log_mute_ffmpeg(bool on);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replaces the status line; "" clears it. Does nothing under --quiet or if stderr is not a terminal. Main thread. */
void log_status(const char *line);

/* Keeps the present status line; the next output begins below it. Main thread. */
void log_status_ends(void);

#endif
