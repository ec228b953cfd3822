/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commands of dlex-sched. Each parses its own options, prints to standard output, and returns the exit code. */
#ifndef SCHED_COMMANDS_H
#define SCHED_COMMANDS_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_USAGE = 1,      /* wrong option */
    EXIT_IMPOSSIBLE = 2, /* no such process, or not allowed */
};

/* argv[0] is the name to show in messages, such as "dlex-sched period". */
int period_command(int argc, char **argv);
int tune_command(int argc, char **argv);
int rm_command(int argc, char **argv);
int repair_command(int argc, char **argv);
int doctor_command(int argc, char **argv);

#endif
