/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys from the terminal on stdin, and the width of the one on stderr. There is one controlling terminal, so this is a singleton.
 *
 * Between start and stop keys arrive one by one and are not echoed; Ctrl-C, Ctrl-Z and Ctrl-\ keep
 * their meaning. When stdin is not a terminal, or the process runs in the background, nothing
 * happens and no key ever comes. SIGTTIN and SIGTTOU never stop the process. terminal_poll notices
 * when the process comes back to the foreground (fg after Ctrl-Z).
 *
 * Main thread, except for terminal_restore.
 */
#ifndef PLAYER_TERMINAL_H
#define PLAYER_TERMINAL_H

#include <stddef.h>

#include "input.h"

/*
 * Starts reading keys. Also registers an atexit() handler that restores the terminal. Calling it
 * twice is harmless.
 */
void terminal_start(void);

/* Returns the user's next request, or INPUT_NONE when there is none (left). Never blocks. */
enum input terminal_poll(void);

/*
 * Returns the file descriptor that becomes readable when a key comes, so that a wait can end then; -1: terminal_poll, when it was
 * last called, did not read keys.
 */
int terminal_wake_fd(void);

/* Restores the terminal as it was before terminal_start. Harmless without terminal_start. */
void terminal_stop(void);

/*
 * The part of terminal_stop that a handler of a fatal signal may call: it is async-signal-safe and
 * keeps errno. Typed characters that were not read stay for the shell.
 */
void terminal_restore(void);

/*
 * Returns how many columns a line on stderr has now, as the kernel knows it; otherwise as the variable COLUMNS says; otherwise 80.
 * It costs one system call. Call it for each line that must fit: then SIGWINCH, which says that the width has changed, needs no
 * handler.
 */
int terminal_columns(void);

/*
 * Decodes the first key of bytes[0..size) into *input; this part is pure. Returns how many bytes
 * the key took, or 0 when the bytes may be the beginning of a longer key. (An arrow key begins with
 * the same byte as the ESC key; terminal_poll takes an ESC that stays alone for 50 ms as the ESC
 * key.) *input is INPUT_NONE for a key without a meaning.
 */
size_t terminal_decode(const char *bytes, size_t size, enum input *input);

#endif
