/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The folder in which this user's programs of dlex-sched keep their files until the machine is restarted. */
#ifndef SCHED_OWN_FOLDER_H
#define SCHED_OWN_FOLDER_H

enum { OWN_FOLDER_SIZE = 64 };

/*
 * Writes its path and makes the folder where it is missing: /run/dlex-sched for root, otherwise /run/user/UID/dlex-sched, or,
 * without such a folder, /dev/shm/dlex-sched-UID. No environment variable counts, because the caller may have more rights than
 * the one who set it. Returns 0, -EPERM if the folder belongs to another user or if others may write to it, or another negative
 * errno.
 */
int own_folder(char path[OWN_FOLDER_SIZE]);

#endif
