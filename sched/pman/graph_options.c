/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "graph_options.h"

#include "ns.h"
#include "shown_value.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 6, PRIORITY_MAX = 99, NUMBER_MAX = 1000000 };

enum key {
    KEY_NAME = 256,
    KEY_TICK,
    KEY_DEADLINES,
    KEY_PRIORITY,
    KEY_PROCESS,
    KEY_AFTER,
    KEY_RECOVERY,
    KEY_WAITS,
    KEY_STOPS,
    KEY_RESTARTS,
    KEY_SECONDS,
    KEY_TICKS,
    KEY_LOG,
    KEY_TAKE_OVER,
    KEY_END,
};

static const char doc[] =
    "Runs a graph of processes under PMan: starts their commands, activates them at ticks, in order of precedence, and prints a "
    "line of JSON a second with what they do. `dlex sched pman FILE` reads the graph from a file and shows this as a table.\v"
    "PROCESS is NAME,PERIOD,PHASE,DELAY,DEADLINE,PRIORITY: period and phase in ticks, delay and deadline in ms, a priority of "
    "SCHED_FIFO, or 0. A command that waits calls pman_wait (dlex_pman(7)); it finds the names of the table and of itself in "
    "DLEX_PMAN and DLEX_PMAN_PROCESS. A command that stops sends itself SIGSTOP when it is ready, and again after each instance. "
    "Without a command, a process is attached from elsewhere.\n"
    "\n"
    "It ends after --seconds or --ticks, or by SIGINT, SIGTERM or SIGHUP; then the commands end, too. If it is killed, "
    "commands that wait keep sleeping, and --take-over continues with them.\n"
    "\n"
    "Exit status: 0 done, 1 wrong option, 2 the graph cannot be run.";

static const struct argp_option option_table[] = {
    {"name", KEY_NAME, "NAME", 0, "name of the table (dlex)", 1},
    {"tick", KEY_TICK, "MS", 0, "give a tick every MS; without it, another program gives the ticks, such as dlex-play --tick=NAME", 1},
    {"deadlines", KEY_DEADLINES, "HOW", 0, "timer: notice a miss when it happens (default); tick: at ticks, as in the paper", 1},
    {"manager-priority", KEY_PRIORITY, "N", 0, "SCHED_FIFO priority (one above the highest of the processes)", 1},
    {"process", KEY_PROCESS, "PROCESS", 0, "add a process", 2},
    {"after", KEY_AFTER, "NAME,NAME", 0, "release the first process only when the second one has finished", 2},
    {"recovery", KEY_RECOVERY, "NAME,NAME", 0, "activate the second process when the first one misses a deadline", 2},
    {"waits", KEY_WAITS, "NAME,COMMAND", 0, "run this shell command, which waits, as the process", 2},
    {"stops", KEY_STOPS, "NAME,COMMAND", 0, "run this shell command, which stops itself, as the process", 2},
    {"restarts", KEY_RESTARTS, "NAME", 0, "start its command again when it has ended", 2},
    {"seconds", KEY_SECONDS, "S", 0, "end after so many seconds", 3},
    {"ticks", KEY_TICKS, "N", 0, "end after so many ticks", 3},
    {"log", KEY_LOG, "FILE", 0, "write all ticks, releases, starts, misses and ends as CSV", 3},
    {"take-over", KEY_TAKE_OVER, NULL, 0, "continue with a table whose manager was killed", 4},
    {"end", KEY_END, NULL, 0, "end a table whose manager was killed", 4},
    {0},
};

/* Parses a number of least to most. */
static double parse_number(const char *arg, const char *what, double least, double most, struct argp_state *state)
{
    char *end;
    const double value = strtod(arg, &end);
    if (end == arg || *end || !(value >= least && value <= most))
        argp_error(state, "%s: %s is not a number from %g to %g", what, shown_value(arg), least, most);
    return value;
}

static int64_t parse_whole(const char *arg, const char *what, double least, double most, struct argp_state *state)
{
    const double value = parse_number(arg, what, least, most, state);
    if (value != floor(value))
        argp_error(state, "%s: %s is not a whole number", what, shown_value(arg));
    return (int64_t)value;
}

static void copy_name(char name[PMAN_NAME_SIZE], const char *from, size_t length, struct argp_state *state)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (length == 0 || length >= PMAN_NAME_SIZE || strspn(from, letters) < length)
        argp_error(state, "%.*s is not a name of 1 to %d letters, digits, - and _", shown_length(length), from, PMAN_NAME_SIZE - 1);
    memcpy(name, from, length);
    name[length] = 0;
}

/* Returns the index of the process whose name these characters are. */
static int find(const struct graph_options *options, const char *name, size_t length, struct argp_state *state)
{
    for (int i = 0; i < options->processes; i++)
        if (strlen(options->process[i].name) == length && !strncmp(options->process[i].name, name, length))
            return i;
    argp_error(state, "there is no process %.*s before this option", shown_length(length), name);
    return 0;
}

static void parse_process(struct graph_options *options, char *arg, struct argp_state *state)
{
    char *field[FIELDS], *rest = arg;
    for (int i = 0; i < FIELDS; i++)
        field[i] = strsep(&rest, ",");
    if (!field[FIELDS - 1] || rest)
        argp_error(state, "--process needs NAME,PERIOD,PHASE,DELAY,DEADLINE,PRIORITY");
    if (options->processes == PMAN_CAPACITY)
        argp_error(state, "there are more than %d processes", PMAN_CAPACITY);
    for (int i = 0; i < options->processes; i++)
        if (!strcmp(options->process[i].name, field[0]))
            argp_error(state, "there are two processes %s", shown_value(field[0]));
    struct graph_process *const process = &options->process[options->processes++];
    *process = (struct graph_process){
        .timing = {
            .period = parse_whole(field[1], "period", 0, NUMBER_MAX, state),
            .phase = parse_whole(field[2], "phase", 0, NUMBER_MAX, state),
            .delay_ns = llround(parse_number(field[3], "delay", 0, NUMBER_MAX, state) * (double)NS_PER_MS),
            .deadline_ns = llround(parse_number(field[4], "deadline", 0, NUMBER_MAX, state) * (double)NS_PER_MS),
        },
        .priority = (int)parse_whole(field[5], "priority", 0, PRIORITY_MAX, state),
        .start = GRAPH_ELSEWHERE,
    };
    copy_name(process->name, field[0], strlen(field[0]), state);
}

/* Returns what follows the comma after the name of a process, whose index becomes *process. */
static const char *parse_name_and(struct graph_options *options, const char *arg, int *process, struct argp_state *state)
{
    const size_t length = strcspn(arg, ",");
    *process = find(options, arg, length, state);
    if (!arg[length] || !arg[length + 1])
        argp_error(state, "%s: after the name, a comma and a value are missing", shown_value(arg));
    return arg + length + 1;
}

static void parse_after(struct graph_options *options, const char *arg, struct argp_state *state)
{
    struct graph_edge edge;
    const char *const other = parse_name_and(options, arg, &edge.process, state);
    edge.predecessor = find(options, other, strlen(other), state);
    if (options->edges == GRAPH_EDGES)
        argp_error(state, "there are more than %d precedences", GRAPH_EDGES);
    options->edge[options->edges++] = edge;
}

static void parse_recovery(struct graph_options *options, const char *arg, struct argp_state *state)
{
    int process;
    const char *const other = parse_name_and(options, arg, &process, state);
    find(options, other, strlen(other), state);
    strcpy(options->process[process].recovery, other);
}

static void parse_command(struct graph_options *options, const char *arg, enum graph_start start, struct argp_state *state)
{
    int process;
    const char *const command = parse_name_and(options, arg, &process, state);
    if (options->process[process].command)
        argp_error(state, "%s has two commands", options->process[process].name);
    options->process[process].command = command;
    options->process[process].start = start;
}

static enum pman_deadlines parse_deadlines(const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "timer") && strcmp(arg, "tick"))
        argp_error(state, "--deadlines=%s is unknown; it is timer or tick", shown_value(arg));
    return strcmp(arg, "tick") ? PMAN_DEADLINES_TIMER : PMAN_DEADLINES_TICK;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct graph_options *const options = state->input;
    switch (key) {
    case KEY_NAME: copy_name(options->name, arg, strlen(arg), state); break;
    case KEY_TICK: options->tick_ns = llround(parse_number(arg, "--tick", 0.1, NUMBER_MAX, state) * (double)NS_PER_MS); break;
    case KEY_DEADLINES: options->deadlines = parse_deadlines(arg, state); break;
    case KEY_PRIORITY: options->manager_priority = (int)parse_whole(arg, "--manager-priority", 0, PRIORITY_MAX, state); break;
    case KEY_PROCESS: parse_process(options, arg, state); break;
    case KEY_AFTER: parse_after(options, arg, state); break;
    case KEY_RECOVERY: parse_recovery(options, arg, state); break;
    case KEY_WAITS: parse_command(options, arg, GRAPH_WAITS, state); break;
    case KEY_STOPS: parse_command(options, arg, GRAPH_STOPS, state); break;
    case KEY_RESTARTS: options->process[find(options, arg, strlen(arg), state)].restarts = true; break;
    case KEY_SECONDS: options->seconds = parse_number(arg, "--seconds", 0.1, NUMBER_MAX, state); break;
    case KEY_TICKS: options->ticks = parse_whole(arg, "--ticks", 1, NUMBER_MAX, state); break;
    case KEY_LOG: options->log = arg; break;
    case KEY_TAKE_OVER: options->mode = GRAPH_TAKE_OVER; break;
    case KEY_END: options->mode = GRAPH_END; break;
    case ARGP_KEY_ARG: argp_error(state, "%s is one argument too many", shown_value(arg)); break;
    case ARGP_KEY_END:
        if ((options->mode == GRAPH_RUN) != (options->processes > 0))
            argp_error(state, options->processes ? "--take-over and --end take no processes" : "there is no --process");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void graph_options_parse(struct graph_options *options, int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
    *options = (struct graph_options){.name = "dlex", .manager_priority = -1};
    argp_err_exit_status = EXIT_USAGE;
    argv[0] = "dlex-sched-pman"; /* instead of the path by which it was called */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, options);
}
