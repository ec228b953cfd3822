/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys from the terminal on stdin. There is one controlling terminal, so this is a singleton.
 *
 * Between start and stop keys arrive one by one and are not echoed; Ctrl-C, Ctrl-Z and Ctrl-\ keep
 * their meaning. When stdin is no terminal, or the process runs in the background, nothing happens
 * and no key ever comes; the process is never stopped by SIGTTIN or SIGTTOU. Coming back to the
 * foreground (fg after Ctrl-Z) is noticed by terminal_poll.
 *
 * Main thread, except for terminal_restore.
 */
#ifndef PLAYER_TERMINAL_H
#define PLAYER_TERMINAL_H

#include <stddef.h>

#include "input.h"

/* Also registers an atexit() handler that restores. Calling it twice is harmless. */
void terminal_start(void);

/* The next thing the user asked for, INPUT_NONE when there is nothing (more). Never blocks. */
enum input terminal_poll(void);

/* Gives the terminal back as it was. Harmless without start. */
void terminal_stop(void);

/*
 * The part of terminal_stop that a handler of a fatal signal may call: async-signal-safe, keeps
 * errno. What was typed and not read stays for the shell.
 */
void terminal_restore(void);

/*
 * The pure part: what the first key of bytes[0..size) means. Returns how many bytes that key took,
 * 0 when the bytes may be the beginning of a longer key (an arrow begins like the ESC key;
 * terminal_poll takes an ESC that stays alone for 50 ms as the ESC key). *input is INPUT_NONE for a
 * key that means nothing.
 */
size_t terminal_decode(const char *bytes, size_t size, enum input *input);

#endif
