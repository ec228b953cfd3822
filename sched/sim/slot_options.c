/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "slot_options.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SETUP = 1, SLOTS_MAX = 100000, RUNS_MAX = 1000, SECONDS_MAX = 36000, DELAYS_MAX = 10000, PLAYERS_MAX = 30 };

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
    "work-conserving one (wc) may run on when nobody else needs the CPU. --best-effort and --task give tasks in their order. "
    "EVENT is NAME@SLOT, such as film@2.5, after its task. Experiments: figure-5, table-3, table-4 (and figure 6), table-5, "
    "table-6 (and figure 7), figure-8.\n"
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
    {"players", KEY_PLAYERS, "N", 0, "so many players (as many as in the paper)", 2},
    {"runs", KEY_RUNS, "N", 0, "number of runs (1)", 2},
    {"seed", KEY_SEED, "N", 0, "seed of the first run; each has the next one (1)", 2},
    {"seconds", KEY_SECONDS, "N", 0, "virtual time of each run (60)", 2},
    {"delays", KEY_DELAYS, "N", 0, "print the run-queue delays of so many frames of the first player (0)", 2},
    {0},
};

static int parse_count(const char *arg, const char *name, int least, int most, struct argp_state *state)
{
    char *end;
    const long value = strtol(arg, &end, 10);
    if (end == arg || *end || value < least || value > most)
        argp_error(state, "--%s=%s is not a whole number from %d to %d", name, arg, least, most);
    return (int)value;
}

static int find_task(const struct slot_options *options, const char *name, size_t length)
{
    for (int i = 0; i < options->tasks; i++)
        if (strlen(options->task[i].name) == length && !strncmp(options->task[i].name, name, length))
            return i;
    return -1;
}

/* Adds a task with this name and returns it. */
static struct slot_named_task *add_task(struct slot_options *options, const char *name, size_t length, struct argp_state *state)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (length == 0 || length >= SLOT_NAME_SIZE || strspn(name, letters) < length)
        argp_error(state, "%s does not begin with a name of 1 to %d letters and digits", name, SLOT_NAME_SIZE - 1);
    if (find_task(options, name, length) >= 0)
        argp_error(state, "there are two tasks %.*s", (int)length, name);
    if (options->tasks == SLOT_TASKS)
        argp_error(state, "there are more than %d tasks", SLOT_TASKS);
    struct slot_named_task *const task = &options->task[options->tasks++];
    memcpy(task->name, name, length);
    return task;
}

static void parse_task(struct slot_options *options, const char *arg, struct argp_state *state)
{
    const size_t length = strcspn(arg, ",");
    int x = 0, y = 0, period = 0, service = 0, end = 0;
    const int found = sscanf(arg + length, ",%d/%d,%d,%d%n", &x, &y, &period, &service, &end);
    const char *const rest = arg + length + end;
    const bool is_work_conserving = found == 4 && !strcmp(rest, ",wc");
    if (found != 4 || (*rest && !is_work_conserving))
        argp_error(state, "--task=%s is not a task such as film,1/4,2,1", arg);
    if (service < 1 || service > period || period > SLOTS_MAX || x < 0 || x > y || y > DWCS_Y_MAX)
        argp_error(state, "--task=%s: needs 1 <= C <= T <= %d and 0 <= X <= Y <= %d", arg, SLOTS_MAX, DWCS_Y_MAX);
    struct slot_named_task *const task = add_task(options, arg, length, state);
    task->params = (struct dwcs_params){
        .period_ns = period * SLOT_NS, .service_ns = service * SLOT_NS, .x = x, .y = y, .is_work_conserving = is_work_conserving,
    };
}

static void parse_event(struct slot_options *options, const char *arg, struct argp_state *state)
{
    const size_t length = strcspn(arg, "@");
    const int task = find_task(options, arg, length);
    if (task < 0)
        argp_error(state, "--event=%s: there is no such task before it", arg);
    char *end;
    const char *const text = arg[length] ? arg + length + 1 : arg + length;
    const double at = strtod(text, &end);
    if (end == text || *end || !(at >= 0 && at <= SLOTS_MAX))
        argp_error(state, "--event=%s is not an event such as film@2.5", arg);
    if (options->events == SLOT_EVENTS)
        argp_error(state, "there are more than %d events", SLOT_EVENTS);
    options->event[options->events++] = (struct slot_planned_event){task, llround(at * (double)SLOT_NS)};
}

static unsigned parse_rules(const char *arg, struct argp_state *state)
{
    unsigned rules = 0;
    for (const char *at = arg; *at; at += at[1] ? 2 : 1) {
        if (*at < '1' || *at > '5' || (at[1] && (at[1] != ',' || !at[2])))
            argp_error(state, "--rules=%s is not a list such as 1,2", arg);
        rules |= 1u << (*at - '0');
    }
    return rules;
}

static void parse_server(struct slot_options *options, const char *arg, struct argp_state *state)
{
    int end = 0;
    options->has_server = true;
    if (!arg)
        return;
    struct dwcs_server_options *const server = &options->server;
    if (sscanf(arg, "%d/%d%n", &server->x, &server->y, &end) != 2 || arg[end])
        argp_error(state, "--server=%s is not a window constraint such as 0/5", arg);
    if (server->x < 0 || server->x > server->y || server->y < 1 || server->y > DWCS_Y_MAX)
        argp_error(state, "--server=%s: needs 0 <= X <= Y and 1 <= Y <= %d", arg, DWCS_Y_MAX);
}

static int parse_experiment(const char *arg, struct argp_state *state)
{
    for (int i = 0; i < DWCS_EXPERIMENTS; i++)
        if (!strcmp(arg, dwcs_settings[i].name))
            return i;
    argp_error(state, "--experiment=%s is unknown; see --help", arg);
    return SLOT_ALL;
}

static unsigned parse_rule_4(const char *arg, struct argp_state *state)
{
    if (!strcmp(arg, "strict"))
        return EVENT_RULE_4_STRICT;
    if (!strcmp(arg, "safe"))
        return EVENT_RULE_4_SAFE;
    if (strcmp(arg, "paper"))
        argp_error(state, "--rule-4=%s is unknown; it is paper, strict or safe", arg);
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct slot_options *const options = state->input;
    switch (key) {
    case KEY_TASK: parse_task(options, arg, state); break;
    case KEY_BEST_EFFORT: add_task(options, arg, strlen(arg), state)->is_best_effort = true; break;
    case KEY_EVENT: parse_event(options, arg, state); break;
    case KEY_RULES: options->rules = parse_rules(arg, state); break;
    case KEY_RULE_4: options->rule_4 = parse_rule_4(arg, state); break;
    case KEY_SERVER: parse_server(options, arg, state); break;
    case KEY_SLOTS: options->slots = parse_count(arg, "slots", 1, SLOTS_MAX, state); break;
    case KEY_EXPERIMENT: options->experiment = parse_experiment(arg, state); break;
    case KEY_PLAYERS: options->players = parse_count(arg, "players", 1, PLAYERS_MAX, state); break;
    case KEY_RUNS: options->runs = parse_count(arg, "runs", 1, RUNS_MAX, state); break;
    case KEY_SEED: options->seed = parse_count(arg, "seed", 0, INT32_MAX - RUNS_MAX, state); break;
    case KEY_SECONDS: options->seconds = parse_count(arg, "seconds", 1, SECONDS_MAX, state); break;
    case KEY_DELAYS: options->delays = parse_count(arg, "delays", 0, DELAYS_MAX, state); break;
    case ARGP_KEY_ARG: argp_error(state, "%s is one argument too many", arg); break;
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
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return options;
}
