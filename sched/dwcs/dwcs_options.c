/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_options.h"

#include "ns.h"
#include "shown_value.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOT_MS_MAX = 1000, SECONDS_MAX = 1000000, PRIORITY_DEFAULT = 17 };

enum key {
    KEY_SLOT = 256,
    KEY_LEAVE,
    KEY_TASK,
    KEY_BEST_EFFORT,
    KEY_COMMAND,
    KEY_PID,
    KEY_EVENTS,
    KEY_RULES,
    KEY_RULE_4,
    KEY_SERVER,
    KEY_CPU,
    KEY_PRIORITY,
    KEY_SECONDS,
};

static const char doc[] =
    "Runs processes on one CPU under DWCS (Dynamic Window-Constrained Scheduling), with events, by SCHED_FIFO, and prints a line "
    "of JSON a second. `dlex sched dwcs FILE` reads them from a file and shows this as a table. Needs the right to real-time "
    "priorities; `dlex-sched doctor` says what would allow it.\v"
    "TASK is NAME,X/Y,T,C[,wc], in slots: the task wants C slots of CPU time in each period of T slots and may miss X of Y "
    "periods; a work-conserving one (wc) may run on when no other task needs the CPU. Each task is a command or a process that runs "
    "already. Commands run without capabilities, under sudo as the user who called it. HOW says what a task's events are: wake (it "
    "can run again), eventfd (a command writes to the file descriptor whose number is in DLEX_DWCS_EVENT), or socket:N (its file "
    "descriptor N becomes readable).\n"
    "\n"
    "It ends after --seconds, when no process is left, or by SIGINT, SIGTERM or SIGHUP. Then the commands end, and other "
    "processes are as they were before; also if it is killed.\n"
    "\n"
    "Exit status: 0 done, 1 wrong option, 2 the processes cannot be scheduled.";

static const struct argp_option option_table[] = {
    {"slot", KEY_SLOT, "MS", 0, "length of a slot (10); before the tasks", 1},
    {"leave", KEY_LEAVE, "MS", 0, "leave so much of the end of each slot to ordinary threads (0)", 1},
    {"task", KEY_TASK, "TASK", 0, "a real-time task", 1},
    {"best-effort", KEY_BEST_EFFORT, "NAME", 0, "a task without attributes", 1},
    {"command", KEY_COMMAND, "NAME,COMMAND", 0, "run this shell command as the task", 2},
    {"pid", KEY_PID, "NAME,PID", 0, "this process is the task", 2},
    {"events", KEY_EVENTS, "NAME,HOW", 0, "what the task's events are (none)", 2},
    {"rules", KEY_RULES, "LIST", 0, "the rules of event scheduling that apply: some of 1,2,3,4,5 (all)", 3},
    {"rule-4", KEY_RULE_4, "HOW", 0, "paper: with >= (default); strict: with > as printed; safe: only if all before the sink still "
     "have time", 3},
    {"server", KEY_SERVER, "X/Y", OPTION_ARG_OPTIONAL, "add the task server, by its rule or with this window constraint", 3},
    {"cpu", KEY_CPU, "N", 0, "the CPU (0)", 4},
    {"priority", KEY_PRIORITY, "N", 0, "of the chosen task, 1 to 97 (17); the dispatcher needs the two above it", 4},
    {"seconds", KEY_SECONDS, "S", 0, "end after so many seconds", 4},
    {0},
};

/* Returns the task with the name before the comma. *rest becomes what follows. */
static struct dwcs_task_options *find(struct dwcs_options *options, const char *arg, const char **rest, struct argp_state *state)
{
    const size_t length = strcspn(arg, ",");
    if (!arg[length] || !arg[length + 1])
        argp_error(state, "%s: after the name, a comma and a value are missing", shown_value(arg));
    *rest = arg + length + 1;
    for (int i = 0; i < options->tasks; i++)
        if (strlen(options->task[i].task.name) == length && !strncmp(options->task[i].task.name, arg, length))
            return &options->task[i];
    argp_error(state, "there is no task %.*s before this option", shown_length(length), arg);
    return &options->task[0];
}

static void add_task(struct dwcs_options *options, const struct named_task *task, struct argp_state *state)
{
    for (int i = 0; i < options->tasks; i++)
        if (!strcmp(options->task[i].task.name, task->name))
            argp_error(state, "there are two tasks %s", task->name);
    if (options->tasks == GUARD_CAPACITY)
        argp_error(state, "there are more than %d tasks", GUARD_CAPACITY);
    options->task[options->tasks++].task = *task;
}

static void parse_task(struct dwcs_options *options, const char *arg, struct argp_state *state)
{
    struct named_task task;
    dwcs_argument_task(&task, arg, options->dispatch.slot_ns, state);
    add_task(options, &task, state);
}

static void parse_best_effort(struct dwcs_options *options, const char *arg, struct argp_state *state)
{
    struct named_task task = {.is_best_effort = true};
    dwcs_argument_name(&task, arg, strlen(arg), state);
    add_task(options, &task, state);
}

static void parse_pid(struct dwcs_options *options, const char *arg, struct argp_state *state)
{
    const char *rest;
    struct dwcs_task_options *const task = find(options, arg, &rest, state);
    task->pid = dwcs_argument_count(rest, "pid", 1, INT32_MAX, state);
}

static void parse_command(struct dwcs_options *options, const char *arg, struct argp_state *state)
{
    const char *rest;
    struct dwcs_task_options *const task = find(options, arg, &rest, state);
    task->command = rest;
}

static void parse_events(struct dwcs_options *options, const char *arg, struct argp_state *state)
{
    static const char socket[] = "socket:";
    const char *rest;
    struct dwcs_task_options *const task = find(options, arg, &rest, state);
    if (!strcmp(rest, "wake")) {
        task->events = EVENTS_OF_WAKE_UPS;
    } else if (!strcmp(rest, "eventfd")) {
        task->events = EVENTS_OF_EVENTFD;
    } else if (!strncmp(rest, socket, sizeof socket - 1)) {
        task->events = EVENTS_OF_SOCKET;
        task->socket = dwcs_argument_count(rest + sizeof socket - 1, "events=NAME,socket:", 0, INT32_MAX, state);
    } else {
        argp_error(state, "--events=%s is unknown; it is wake, eventfd or socket:N", shown_value(arg));
    }
}

static int64_t parse_ms(const char *name, const char *arg, int least, int most, struct argp_state *state)
{
    char *end;
    const double ms = strtod(arg, &end);
    if (end == arg || *end || !(ms >= least && ms <= most))
        argp_error(state, "--%s=%s is not a number from %d to %d", name, shown_value(arg), least, most);
    return llround(ms * (double)NS_PER_MS);
}

static int parse_cpu(const char *arg, struct argp_state *state)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    return dwcs_argument_count(arg, "cpu", 0, cpus > 0 && cpus < CPU_SETSIZE ? (int)cpus - 1 : CPU_SETSIZE - 1, state);
}

static void check(const struct dwcs_options *options, struct argp_state *state)
{
    if (!options->tasks)
        argp_error(state, "there is no --task or --best-effort");
    if (options->dispatch.leave_ns > options->dispatch.slot_ns / 2)
        argp_error(state, "--leave is more than half of a slot of %g ms", ns_to_ms(options->dispatch.slot_ns));
    for (int i = 0; i < options->tasks; i++) {
        const struct dwcs_task_options *const task = &options->task[i];
        if (!task->command == !task->pid)
            argp_error(state, "%s needs a --command or a --pid", task->task.name);
        if (task->pid && task->events == EVENTS_OF_EVENTFD)
            argp_error(state, "%s runs already, so it cannot have an eventfd", task->task.name);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct dwcs_options *const options = state->input;
    switch (key) {
    case KEY_SLOT:
        if (options->tasks)
            argp_error(state, "--slot must come before the tasks");
        options->dispatch.slot_ns = options->server.base_ns = parse_ms("slot", arg, 1, SLOT_MS_MAX, state);
        break;
    case KEY_LEAVE: options->dispatch.leave_ns = parse_ms("leave", arg, 0, SLOT_MS_MAX / 2, state); break;
    case KEY_TASK: parse_task(options, arg, state); break;
    case KEY_BEST_EFFORT: parse_best_effort(options, arg, state); break;
    case KEY_COMMAND: parse_command(options, arg, state); break;
    case KEY_PID: parse_pid(options, arg, state); break;
    case KEY_EVENTS: parse_events(options, arg, state); break;
    case KEY_RULES: options->dispatch.rules = dwcs_argument_rules(arg, state); break;
    case KEY_RULE_4: options->rule_4 = dwcs_argument_rule_4(arg, state); break;
    case KEY_SERVER:
        options->has_server = true;
        if (arg)
            dwcs_argument_server(&options->server, arg, state);
        break;
    case KEY_CPU: options->dispatch.cpu = parse_cpu(arg, state); break;
    case KEY_PRIORITY: options->dispatch.priority = dwcs_argument_count(arg, "priority", 1, 97, state) + 1; break;
    case KEY_SECONDS: options->seconds = dwcs_argument_count(arg, "seconds", 1, SECONDS_MAX, state); break;
    case ARGP_KEY_ARG: argp_error(state, "%s is one argument too many", shown_value(arg)); break;
    case ARGP_KEY_END: check(options, state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void dwcs_options_parse(struct dwcs_options *options, int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
    *options = (struct dwcs_options){
        .dispatch = {.slot_ns = 10 * NS_PER_MS, .rules = EVENT_RULES_ALL, .priority = PRIORITY_DEFAULT + 1},
        .server = {.base_ns = 10 * NS_PER_MS},
    };
    argp_err_exit_status = EXIT_USAGE;
    argv[0] = "dlex-sched-dwcs"; /* instead of the path by which it was called */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, options);
    options->dispatch.rules |= options->rule_4;
    if (options->has_server)
        options->dispatch.server = &options->server;
}
