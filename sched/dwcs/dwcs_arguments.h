/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the command lines of dlex-sched-sim and dlex-sched-dwcs. A wrong argument is reported and ends the program. */
#ifndef SCHED_DWCS_ARGUMENTS_H
#define SCHED_DWCS_ARGUMENTS_H

#include "dwcs_server.h"

#include <argp.h>

enum {
    TASK_NAME_SIZE = 32, /* letters, digits, _ and - */
    TASK_SLOTS_MAX = 100000,
};

struct named_task {
    char name[TASK_NAME_SIZE];
    bool is_best_effort;
    struct dwcs_params params; /* of a real-time task */
};

/* Parses NAME,X/Y,T,C[,wc], with T and C in slots. */
void dwcs_argument_task(struct named_task *task, const char *arg, int64_t slot_ns, struct argp_state *state);

/* Takes the first characters of a text as a task's name. */
void dwcs_argument_name(struct named_task *task, const char *text, size_t length, struct argp_state *state);

/* Parses a list of rules, such as 1,2, and what Rule 4 means: paper, strict or safe. Both are sets of enum event_rules. */
unsigned dwcs_argument_rules(const char *arg, struct argp_state *state);
unsigned dwcs_argument_rule_4(const char *arg, struct argp_state *state);

/* Parses the window constraint X/Y of a task server. */
void dwcs_argument_server(struct dwcs_server_options *server, const char *arg, struct argp_state *state);

/* Parses a whole number for the option --name. */
int dwcs_argument_count(const char *arg, const char *name, int least, int most, struct argp_state *state);

#endif
