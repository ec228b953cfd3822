/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of this process by their ids, as the kernel lists them, and their names. All functions are thread-safe. */
#ifndef PLAYER_THREAD_LIST_H
#define PLAYER_THREAD_LIST_H

#include <sys/types.h>

enum { THREAD_NAME_SIZE = 16 };

/* Writes up to `most` ids into threads and returns how many; 0 if the kernel does not say. */
int thread_list(pid_t *threads, int most);

/* Writes the name of a thread of this process into name and returns it; "" if the thread has ended. */
const char *thread_name(pid_t thread, char name[THREAD_NAME_SIZE]);

/* Names a thread of this process. Longer names are cut off. Does nothing if the thread has ended. */
void thread_rename(pid_t thread, const char *name);

#endif
