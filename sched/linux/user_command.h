/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starts a command as the user who typed it, without the rights of this program. Under sudo that is the user who called sudo
 * (SUDO_UID; if there is no such user, nothing is started), with the home and the runtime folder that sudo took away (the sound
 * server and Wayland are found there). Capabilities are given up in any case: a command that root itself starts has none either.
 */
#ifndef SCHED_USER_COMMAND_H
#define SCHED_USER_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Exit codes, as those of env(1); to the last one the number of the signal that ended the command is added. */
enum { COMMAND_NOT_STARTED = 126, COMMAND_NOT_FOUND = 127, COMMAND_SIGNALED = 128 };

/*
 * Starts argv[0], searched in PATH, with this signal mask, in the process group of the caller so that the terminal's keys reach
 * it. What the caller does with signals must be what it inherited, because the command inherits that. Blocks until the command
 * runs. Returns 0 with its process id, or a negative errno: -ENOENT (no such command), -EACCES, -EPERM (the rights could not be
 * given up; nothing was run). The caller waits for the process.
 */
int user_command_start(char **argv, const sigset_t *mask, pid_t *process);

/* Returns the exit code for a status of waitpid(2): the command's own, or 128 and the number of the signal that ended it. */
int user_command_code(int status);

/*
 * Becomes the command instead of starting it: the same process id, and the same scheduling policy. Returns only on failure,
 * with a negative errno as above; the rights may be given up by then, so that the caller can do nothing more than to end.
 */
int user_command_become(char **argv);

/*
 * Becomes the user who called sudo, for good, and keeps only this capability (such as CAP_SYS_NICE), if it has it; programs that are
 * executed later have none. Where nobody has called sudo, it does nothing. Returns 0 or a negative errno, and then the caller must end.
 */
int user_command_keep_only(int capability);

/*
 * To be called first. Opens the standard files that are closed. Returns false after a message, and the program must end, if it was
 * installed setuid or setgid: then everybody could run commands as any user.
 */
bool user_command_begin(const char *program);

/*
 * Creates or empties a file with the rights of the user who typed the command, who owns a new one then: root's rights are no way
 * to write over a file that sudo's caller could not. *file is to be closed by the caller, and no command inherits it. Returns 0, or a
 * negative errno with *file unchanged, -EPERM also if sudo's user does not exist. One thread may call it.
 */
int user_command_create_file(FILE **file, const char *path);

#endif
