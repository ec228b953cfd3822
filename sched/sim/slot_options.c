/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shown_value.h"
#include "slot_options.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SETUP = 1, RUNS_MAX = 1000, SECONDS_MAX = 36000, DELAYS_MAX = 10000, PLAYERS_MAX = 30, FRAME_MS_MAX = 1000 };

enum key {
    KEY_TASK = 256,
    KEY_BEST_EFFORT,
    KEY_EVENT,
    KEY_RULES,
    KEY_RULE_4,
    KEY_SERVER,
    KEY_SLOTS,
    KEY_EXPERIMENT,
    KEY_PLAYERS,
    KEY_READING,
    KEY_COST,
    KEY_SLEEP,
    KEY_RUNS,
    KEY_SEED,
    KEY_SECONDS,
    KEY_DELAYS,
};

static const char doc[] =
    "Simulates one CPU under DWCS (Dynamic Window-Constrained Scheduling), with events, in virtual time, and prints JSON. With "
    "--task it prints who runs in each slot. Otherwise it plays the paper's experiments with video players, without events and "
    "with them, and prints the figures beside what the paper says.\v"
    "TASK is NAME,X/Y,T,C[,wc]: the task wants C slots of CPU time in each period of T slots and may miss X of Y periods; a "
    "work-conserving one (wc) may run on when no other task needs the CPU. --best-effort and --task give tasks in their order. "
    "EVENT is NAME@SLOT, such as film@2.5, after its task. Experiments: figure-5, table-3, table-4 (and figure 6), table-5, "
    "table-6 (and figure 7), figure-8. Readings of the paper that differ from ours: first-event (only the first event of the queue "
    "counts), by-deadline (players that have had C compete by their deadlines with the others), together (all periods begin "
    "together, and go on while a player sleeps).\n"
    "\n"
    "Exit status: 0 done, 1 bad option, 2 the result cannot be written.";

static const struct argp_option option_table[] = {
    {"task", KEY_TASK, "TASK", 0, "a real-time task", 1},
    {"best-effort", KEY_BEST_EFFORT, "NAME", 0, "a task without attributes", 1},
    {"event", KEY_EVENT, "EVENT", 0, "an event for a task", 1},
    {"rules", KEY_RULES, "LIST", 0, "the rules of event scheduling that apply: some of 1,2,3,4,5 (all)", 1},
    {"rule-4", KEY_RULE_4, "HOW", 0, "paper: with >= (default); strict: with > as printed; safe: only if all before the sink still "
     "have time", 1},
    {"server", KEY_SERVER, "X/Y", OPTION_ARG_OPTIONAL, "add the task server, by its rule or with this window constraint", 1},
    {"slots", KEY_SLOTS, "N", 0, "how many slots (20)", 1},
    {"experiment", KEY_EXPERIMENT, "NAME", 0, "only this experiment", 2},
    {"players", KEY_PLAYERS, "N", 0, "number of players (each from 1 to 10)", 2},
    {"reading", KEY_READING, "LIST", 0, "read the paper like this: some of first-event,by-deadline,together (none)", 2},
    {"cost", KEY_COST, "LOW-HIGH", 0, "CPU time of a frame in ms (the experiment's)", 2},
    {"sleep", KEY_SLEEP, "MS", 0, "how long a player sleeps after each frame (100)", 2},
    {"runs", KEY_RUNS, "N", 0, "number of runs (1)", 2},
    {"seed", KEY_SEED, "N", 0, "seed of the first run; each has the next one (1)", 2},
    {"seconds", KEY_SECONDS, "N", 0, "virtual time of each run (60)", 2},
    {"delays", KEY_DELAYS, "N", 0, "print the run-queue delays of so many frames of the first player (0)", 2},
    {0},
};

static int find_task(const struct slot_options *options, const char *name, size_t length)
{
    for (int i = 0; i < options->tasks; i++)
        if (strlen(options->task[i].name) == length && !strncmp(options->task[i].name, name, length))
            return i;
    return -1;
}

static void add_task(struct slot_options *options, const struct named_task *task, struct argp_state *state)
{
    if (find_task(options, task->name, strlen(task->name)) >= 0)
        argp_error(state, "there are two tasks %s", shown_value(task->name));
    if (options->tasks == SLOT_TASKS)
        argp_error(state, "there are more than %d tasks", SLOT_TASKS);
    options->task[options->tasks++] = *task;
}

static void parse_task(struct slot_options *options, const char *arg, struct argp_state *state)
{
    struct named_task task;
    dwcs_argument_task(&task, arg, SLOT_NS, state);
    add_task(options, &task, state);
}

static void parse_best_effort(struct slot_options *options, const char *arg, struct argp_state *state)
{
    struct named_task task = {.is_best_effort = true};
    dwcs_argument_name(&task, arg, strlen(arg), state);
    add_task(options, &task, state);
}

static void parse_event(struct slot_options *options, const char *arg, struct argp_state *state)
{
    const size_t length = strcspn(arg, "@");
    const int task = find_task(options, arg, length);
    if (task < 0)
        argp_error(state, "--event=%s: there is no such task before it", shown_value(arg));
    char *end;
    const char *const text = arg[length] ? arg + length + 1 : arg + length;
    const double at = strtod(text, &end);
    if (end == text || *end || !(at >= 0 && at <= TASK_SLOTS_MAX))
        argp_error(state, "--event=%s is not an event such as film@2.5", shown_value(arg));
    if (options->events == SLOT_EVENTS)
        argp_error(state, "there are more than %d events", SLOT_EVENTS);
    options->event[options->events++] = (struct slot_planned_event){task, llround(at * (double)SLOT_NS)};
}

static int parse_experiment(const char *arg, struct argp_state *state)
{
    for (int i = 0; i < DWCS_EXPERIMENTS; i++)
        if (!strcmp(arg, dwcs_settings[i].name))
            return i;
    argp_error(state, "--experiment=%s is unknown; see --help", shown_value(arg));
    return SLOT_ALL;
}

const char *const slot_reading_names[SLOT_READINGS] = {"first-event", "by-deadline", "together"};

static unsigned parse_readings(const char *arg, struct argp_state *state)
{
    unsigned readings = 0;
    for (const char *name = arg; *name;) {
        const size_t length = strcspn(name, ",");
        int i = 0;
        while (i < SLOT_READINGS && (strlen(slot_reading_names[i]) != length || strncmp(name, slot_reading_names[i], length)))
            i++;
        if (i == SLOT_READINGS)
            argp_error(state, "--reading: %.*s is unknown; see --help", shown_length(length), name);
        readings |= 1u << i;
        name += length;
        if (*name == ',' && !*++name)
            argp_error(state, "--reading=%s ends with a comma", shown_value(arg));
    }
    return readings;
}

/* Parses the ms of a frame at text. Sets *end to the first character after them. Returns ns, or 0 if they are wrong. */
static int64_t parse_frame_ms(const char *text, char **end)
{
    const double ms = strtod(text, end);
    return *end > text && ms > 0 && ms <= FRAME_MS_MAX ? llround(ms * 1e6) : 0;
}

static void parse_cost(struct slot_options *options, const char *arg, struct argp_state *state)
{
    char *end;
    options->cost_min_ns = parse_frame_ms(arg, &end);
    options->cost_max_ns = *end == '-' ? parse_frame_ms(end + 1, &end) : 0;
    if (*end || options->cost_min_ns == 0 || options->cost_max_ns < options->cost_min_ns)
        argp_error(state, "--cost=%s is not a range of ms such as 9.8-14", shown_value(arg));
}

static void parse_sleep(struct slot_options *options, const char *arg, struct argp_state *state)
{
    char *end;
    options->sleep_ns = parse_frame_ms(arg, &end);
    if (*end || options->sleep_ns == 0)
        argp_error(state, "--sleep=%s is not a time in ms such as 100", shown_value(arg));
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct slot_options *const options = state->input;
    switch (key) {
    case KEY_TASK: parse_task(options, arg, state); break;
    case KEY_BEST_EFFORT: parse_best_effort(options, arg, state); break;
    case KEY_EVENT: parse_event(options, arg, state); break;
    case KEY_RULES: options->rules = dwcs_argument_rules(arg, state); break;
    case KEY_RULE_4: options->rule_4 = dwcs_argument_rule_4(arg, state); break;
    case KEY_SERVER:
        options->has_server = true;
        if (arg)
            dwcs_argument_server(&options->server, arg, state);
        break;
    case KEY_SLOTS: options->slots = dwcs_argument_count(arg, "slots", 1, TASK_SLOTS_MAX, state); break;
    case KEY_EXPERIMENT: options->experiment = parse_experiment(arg, state); break;
    case KEY_PLAYERS: options->players = dwcs_argument_count(arg, "players", 1, PLAYERS_MAX, state); break;
    case KEY_READING: options->readings = parse_readings(arg, state); break;
    case KEY_COST: parse_cost(options, arg, state); break;
    case KEY_SLEEP: parse_sleep(options, arg, state); break;
    case KEY_RUNS: options->runs = dwcs_argument_count(arg, "runs", 1, RUNS_MAX, state); break;
    case KEY_SEED: options->seed = dwcs_argument_count(arg, "seed", 0, INT32_MAX - RUNS_MAX, state); break;
    case KEY_SECONDS: options->seconds = dwcs_argument_count(arg, "seconds", 1, SECONDS_MAX, state); break;
    case KEY_DELAYS: options->delays = dwcs_argument_count(arg, "delays", 0, DELAYS_MAX, state); break;
    case ARGP_KEY_ARG: argp_error(state, "%s is one argument too many", shown_value(arg)); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

struct slot_options slot_options_parse(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
    struct slot_options options = {
        .rules = EVENT_RULES_ALL, .server = {.base_ns = SLOT_NS}, .slots = 20, .experiment = SLOT_ALL, .players = SLOT_ALL,
        .runs = 1, .seed = 1, .seconds = 60,
    };
    argp_err_exit_status = EXIT_SETUP;
    argv[0] = "dlex-sched-sim"; /* instead of the path by which it was called */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return options;
}
