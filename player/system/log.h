/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sentences for people, on stderr.
 *
 * log_error always speaks; log_note is silent under --quiet. A status line that stands on the terminal is cleared first.
 * Any thread may call them. What FFmpeg has to say goes the same way: errors only, the first few of a file, and always in a
 * protected section, so that an expiry in the gate never leaves stdio or FFmpeg's log in the middle.
 */
#ifndef PLAYER_LOG_H
#define PLAYER_LOG_H

#include <stdbool.h>

/* Once, before threads exist. */
void log_init(bool quiet);

/* A new file: FFmpeg may speak again. Main thread. */
void log_begin_file(void);

/* While on, FFmpeg's own sentences are left out. Main thread, before others exist. */
void log_mute_ffmpeg(bool on);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replaces the status line (main thread); "" clears it. Does nothing under --quiet or when stderr is no terminal. */
void log_status(const char *line);

/* Keeps the status line that is there now; what is printed next begins below it. Main thread. */
void log_status_ends(void);

#endif
