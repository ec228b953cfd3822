/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim_options.h"

#include "build_facts.h"
#include "ns.h"
#include "shown_value.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SETUP = 1, RUNS_MAX = 100000, QUEUE_MAX = 500, LABELS_MAX = 100000, MACHINE_MAX = 1000 };

enum key {
    KEY_DROP = 256,
    KEY_RULE,
    KEY_BASE,
    KEY_STRICT,
    KEY_SKIP,
    KEY_WINDOW,
    KEY_CLAIRVOYANT,
    KEY_TOLERANCE,
    KEY_STATES,
    KEY_QUEUE,
    KEY_HEAD_START,
    KEY_DRAW_AHEAD,
    KEY_DRAW,
    KEY_FLIP,
    KEY_REFUSE,
    KEY_SUPPLY,
    KEY_THREADS,
    KEY_NICE,
    KEY_SLICE,
    KEY_ROWS_AHEAD,
    KEY_ALONE,
    KEY_DEMAND,
    KEY_SCALE,
    KEY_NOISE,
    KEY_SPEED,
    KEY_RUNS,
    KEY_SEED,
    KEY_DEGRADE,
    KEY_DEGRADED,
    KEY_ROWS,
};

const char *argp_program_version = "dlex-bench-sim " PROGRAM_VERSION " (" DLEX_COMMIT ")";

static const char doc[] =
    "Simulates playing a film with dlex-play's own decisions, in virtual time. TRACE comes from dlex-qoe --trace. Prints the "
    "figures of each run as JSON.\v"
    "TIME is a number with a unit: 50ms, 1.5s, 80us. The same options and seed give the same figures.\n"
    "\n"
    "SUPPLY is cbs:15/40 (a reservation of 15 ms in each 40 for both threads), cbs-divided:15/40 (each thread has its part of "
    "it, as in dlex-play), quota:15/40, fair:500ms (a fair share beside three programs, each idle so long on average and busy "
    "for 300 ms), or part:0.4 (of the CPU). All of these are of one CPU, with one codec thread. "
    "fair:2/8 is a whole machine: a fair share of 2 CPUs beside 8 programs that always compute.\n"
    "\n"
    "Exit status: 0 done, 1 bad option, 2 the trace cannot be used.";

static const struct argp_option option_table[] = {
    {"drop", KEY_DROP, "POLICY", 0, "none, heuristic, vlc or deadline (default)", 1},
    {"deadline-rule", KEY_RULE, "RULE", 0, "paper, slack or plan (default)", 1},
    {"deadline-base", KEY_BASE, "TIME", 0, "as in dlex-play", 1},
    {"strict", KEY_STRICT, NULL, 0, "plan: rather lose pictures than show them late", 1},
    {"skip-to-key", KEY_SKIP, "WHEN", 0, "plan: auto (default) or never", 1},
    {"window", KEY_WINDOW, "X/Y", 0, "plan: as in dlex-play", 1},
    {"degrade", KEY_DEGRADE, "WHEN", 0, "plan: auto or never (default)", 1},
    {"clairvoyant", KEY_CLAIRVOYANT, "AIM", 0,
     "instead of a policy, look for the schedule with the fewest drops (drops) or the least error (rmse), all costs and the "
     "supply being known", 1},
    {"tolerance", KEY_TOLERANCE, "TIME", 0, "clairvoyant: no picture is presented later than this (40ms)", 1},
    {"states", KEY_STATES, "N", 0, "clairvoyant: look further from so many states before each packet (200)", 1},
    {"queue", KEY_QUEUE, "PICTURES", 0, "how many pictures may wait (25); 0: one thread decodes and presents", 2},
    {"head-start", KEY_HEAD_START, "PICTURES", 0, "with a queue: the clock waits for so many, up to 300 ms (6)", 2},
    {"draw-ahead", KEY_DRAW_AHEAD, "TIME", 0, "with a queue: draw so long before a picture is due (20ms)", 2},
    {"draw", KEY_DRAW, "TIME", 0, "CPU time of drawing a picture (2.9ms)", 2},
    {"flip", KEY_FLIP, "TIME", 0, "CPU time of flipping a drawn picture to the screen (0ms)", 2},
    {"refuse", KEY_REFUSE, "TIME", 0, "CPU time of a packet whose picture is refused (80us)", 2},
    {"degraded", KEY_DEGRADED, "PART:ERROR", 0, "a decode without the loop filter takes this part of a whole one; its picture, and "
     "each that refers to it, has this error in 16-bit units (0.87:150)", 2},
    {"supply", KEY_SUPPLY, "SUPPLY", 0, "CPU time of the player (quota:15/40); see below", 3},
    {"threads", KEY_THREADS, "N", 0, "of fair:CPUS/PROGRAMS: decode with so many codec threads (1)", 3},
    {"nice", KEY_NICE, "N", 0, "of fair:CPUS/PROGRAMS: the nice value of the player's threads (0)", 3},
    {"slice", KEY_SLICE, "TIME", 0, "of fair:CPUS/PROGRAMS: how long a thread runs beside others (3ms)", 3},
    {"rows-ahead", KEY_ROWS_AHEAD, "PART", 0, "with codec threads: the part of a reference that is decoded before a picture that refers to "
     "it begins (0.2)", 3},
    {"alone", KEY_ALONE, NULL, 0, "nothing runs beside the player. Otherwise a reservation has rt-app's task of 3 ms in each 8 "
     "before it, and a quota also that of 20 in each 200", 3},
    {"demand", KEY_DEMAND, "PART", 0, "scale all costs so that decoding and presenting everything needs this part of the supply, as "
     "far as rt-app leaves it: 1.2 is too much by a fifth", 3},
    {"scale", KEY_SCALE, "FACTOR", 0, "multiply all costs (1)", 3},
    {"noise", KEY_NOISE, "PART", 0, "standard deviation of each cost (0.03)", 3},
    {"speed", KEY_SPEED, "PART", 0, "most by which a whole run is faster or slower (0.05)", 3},
    {"runs", KEY_RUNS, "N", 0, "number of runs (1)", 4},
    {"seed", KEY_SEED, "N", 0, "seed of the first run; each has the next one (1)", 4},
    {"rows", KEY_ROWS, "FILE", 0, "write the pictures of the first run in the form of frames.csv", 4},
    {0},
};

static double parse_number(const char *arg, const char *name, double least, double most, struct argp_state *state)
{
    char *end;
    const double value = strtod(arg, &end);
    if (end == arg || *end || !(value >= least && value <= most))
        argp_error(state, "--%s=%s is not a number from %g to %g", name, shown_value(arg), least, most);
    return value;
}

static int parse_count(const char *arg, const char *name, int least, int most, struct argp_state *state)
{
    const double value = parse_number(arg, name, least, most, state);
    if (value != floor(value))
        argp_error(state, "--%s=%s is not a whole number", name, shown_value(arg));
    return (int)value;
}

/* Returns a time below an hour. */
static int64_t parse_time_ns(const char *arg, const char *name, struct argp_state *state)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {{"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}};
    char *end;
    const double value = strtod(arg, &end);
    for (size_t i = 0; end != arg && i < sizeof units / sizeof units[0]; i++)
        if (!strcmp(end, units[i].unit) && value >= 0 && value * (double)units[i].ns < 3600.0 * NS_PER_S)
            return llround(value * (double)units[i].ns);
    argp_error(state, "--%s=%s is not a time such as 40ms", name, shown_value(arg));
    return 0;
}

/* Returns the place of the word in the list, which ends in NULL. */
static int parse_word(const char *arg, const char *name, const char *const *words, struct argp_state *state)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(arg, words[i]))
            return i;
    argp_error(state, "--%s=%s is unknown; see --help", name, shown_value(arg));
    return 0;
}

static const char *const drop_words[] = {"none", "heuristic", "vlc", "deadline", NULL};
static const char *const rule_words[] = {"paper", "slack", "plan", NULL};
static const char *const skip_words[] = {"auto", "never", NULL};
static const char *const aim_words[] = {"drops", "rmse", NULL};

/* Parses "15/40": ms of each period. */
static void parse_budget(struct sim_options *options, const char *arg, struct argp_state *state)
{
    char *end;
    const double budget_ms = strtod(arg, &end);
    const double period_ms = *end == '/' ? strtod(end + 1, &end) : 0;
    if (*end || !(budget_ms >= 0.001 && budget_ms <= period_ms && period_ms <= 10000))
        argp_error(state, "--supply: %s is not a budget such as 15/40", shown_value(arg));
    options->budget_ns = llround(budget_ms * NS_PER_MS);
    options->period_ns = llround(period_ms * NS_PER_MS);
}

/* Parses "0.87:150". */
static struct degraded_decode parse_degraded(const char *arg, struct argp_state *state)
{
    char *end;
    struct degraded_decode degraded = {.part = strtod(arg, &end)};
    degraded.rmse_q16 = *end == ':' ? strtod(end + 1, &end) : -1;
    if (*end || !(degraded.part > 0 && degraded.part <= 1 && degraded.rmse_q16 >= 0 && degraded.rmse_q16 <= 65535))
        argp_error(state, "--degraded=%s is not a part of the cost and an error, such as 0.87:150", shown_value(arg));
    return degraded;
}

/* Parses "2/8". Returns false if the text is no such pair. */
static bool parse_machine(struct sim_options *options, const char *arg)
{
    char *end;
    const long cpus = strtol(arg, &end, 10);
    const char *const programs_text = end + 1;
    if (end == arg || *end != '/')
        return false;
    const long programs = strtol(programs_text, &end, 10);
    options->playing.machine.cpus = (int)cpus;
    options->playing.machine.programs = (int)programs;
    return end != programs_text && !*end && cpus >= 1 && cpus <= MACHINE_MAX && programs >= 0 && programs <= MACHINE_MAX;
}

static void parse_supply(struct sim_options *options, const char *arg, struct argp_state *state)
{
    options->playing.machine.cpus = 0;
    if (!strncmp(arg, "fair:", 5) && strchr(arg, '/')) {
        options->supply = SIM_SUPPLY_MACHINE;
        options->supply_text = arg;
        if (!parse_machine(options, arg + 5))
            argp_error(state, "--supply=%s is not a number of CPUs and of programs, such as fair:2/8", shown_value(arg));
        return;
    }
    static const char *const kinds[] = {"cbs:", "cbs-divided:", "quota:", "fair:", "part:"};
    options->supply_text = arg;
    for (int kind = SIM_SUPPLY_RESERVATION; kind <= SIM_SUPPLY_PART; kind++) {
        const size_t length = strlen(kinds[kind]);
        if (strncmp(arg, kinds[kind], length))
            continue;
        options->supply = (enum sim_supply)kind;
        if (kind == SIM_SUPPLY_BURSTS)
            options->idle_ns = parse_time_ns(arg + length, "supply", state);
        else if (kind == SIM_SUPPLY_PART)
            options->part = parse_number(arg + length, "supply", 0.001, 1, state);
        else
            parse_budget(options, arg + length, state);
        return;
    }
    argp_error(state, "--supply=%s is unknown; it begins with cbs:, cbs-divided:, quota:, fair: or part:", shown_value(arg));
}

static void parse_window(struct window *window, const char *arg, struct argp_state *state)
{
    if (window_parse(window, arg))
        argp_error(state, "--window=%s is no window; write X/Y, with Y from 1 to %d and X from 0 to Y", shown_value(arg), WINDOW_MAX);
}

static error_t parse_playing(int key, char *arg, struct argp_state *state)
{
    struct playing_setting *const playing = &((struct sim_options *)state->input)->playing;
    switch (key) {
    case KEY_DROP: playing->policy.drop = (enum drop_policy)parse_word(arg, "drop", drop_words, state); break;
    case KEY_RULE: playing->policy.rule = (enum deadline_rule)parse_word(arg, "deadline-rule", rule_words, state); break;
    case KEY_BASE: playing->policy.base_ns = parse_time_ns(arg, "deadline-base", state); break;
    case KEY_STRICT: playing->policy.strict = true; break;
    case KEY_SKIP: playing->policy.never_skips_to_key = parse_word(arg, "skip-to-key", skip_words, state) == 1; break;
    case KEY_WINDOW: parse_window(&playing->policy.window, arg, state); break;
    case KEY_DEGRADE: playing->policy.degrades = parse_word(arg, "degrade", skip_words, state) == 0; break;
    case KEY_DEGRADED: playing->degraded = parse_degraded(arg, state); break;
    case KEY_QUEUE: playing->queue = parse_count(arg, "queue", 0, QUEUE_MAX, state); break;
    case KEY_HEAD_START: playing->head_start = parse_count(arg, "head-start", 1, QUEUE_MAX, state); break;
    case KEY_DRAW_AHEAD: playing->draw_ahead_ns = parse_time_ns(arg, "draw-ahead", state); break;
    case KEY_DRAW: playing->draw_cpu_ns = parse_time_ns(arg, "draw", state); break;
    case KEY_FLIP: playing->flip_cpu_ns = parse_time_ns(arg, "flip", state); break;
    case KEY_REFUSE: playing->lesser.refusing_ns = parse_time_ns(arg, "refuse", state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void parse_trace(struct sim_options *options, const char *arg, struct argp_state *state)
{
    if (options->trace_path)
        argp_error(state, "%s is one argument too many; name one trace", shown_value(arg));
    options->trace_path = arg;
}

static void check(const struct sim_options *options, struct argp_state *state)
{
    if (!options->trace_path)
        argp_error(state, "no TRACE given; make one with dlex-qoe --trace");
    const struct policy_settings *const policy = &options->playing.policy;
    const bool plans = policy->drop == DROP_DEADLINE && policy->rule == RULE_PLAN && !options->is_clairvoyant;
    if (policy->window.y > 0 && !plans)
        argp_error(state, "--window needs rule plan, and no --clairvoyant");
    const bool has_machine = options->supply == SIM_SUPPLY_MACHINE;
    if ((options->playing.threads > 1 || options->playing.machine.weight != 1) && !has_machine)
        argp_error(state, "--threads and --nice need --supply=fair:CPUS/PROGRAMS");
    if (options->playing.threads > 1 && options->playing.queue == 0)
        argp_error(state, "--threads=%d needs a --queue, because several pictures are decoded at once", options->playing.threads);
    if (options->demand > 0 && has_machine)
        argp_error(state, "--demand needs a supply that does not depend on the player; use --scale");
    if (options->demand > 0 && options->scale != 1)
        argp_error(state, "--demand and --scale both set the costs; leave out one of them");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct sim_options *const options = state->input;
    switch (key) {
    case KEY_CLAIRVOYANT:
        options->is_clairvoyant = true;
        options->clairvoyant.least_rmse = parse_word(arg, "clairvoyant", aim_words, state) == 1;
        break;
    case KEY_TOLERANCE: options->clairvoyant_tolerance_ns = parse_time_ns(arg, "tolerance", state); break;
    case KEY_STATES: options->clairvoyant.states_max = parse_count(arg, "states", 1, LABELS_MAX, state); break;
    case KEY_SUPPLY: parse_supply(options, arg, state); break;
    case KEY_THREADS: options->playing.threads = parse_count(arg, "threads", 1, CODEC_WORK_MAX, state); break;
    case KEY_NICE: options->playing.machine.weight = fair_weight(parse_count(arg, "nice", -20, 19, state)); break;
    case KEY_SLICE: options->playing.machine.slice_ns = parse_time_ns(arg, "slice", state); break;
    case KEY_ROWS_AHEAD: options->playing.codec_order.ahead = parse_number(arg, "rows-ahead", 0, 1, state); break;
    case KEY_ALONE: options->is_alone = true; break;
    case KEY_DEMAND: options->demand = parse_number(arg, "demand", 0.01, 100, state); break;
    case KEY_SCALE: options->scale = parse_number(arg, "scale", 0.001, 1000, state); break;
    case KEY_NOISE: options->noise = parse_number(arg, "noise", 0, 1, state); break;
    case KEY_SPEED: options->speed = parse_number(arg, "speed", 0, 0.9, state); break;
    case KEY_RUNS: options->runs = parse_count(arg, "runs", 1, RUNS_MAX, state); break;
    case KEY_SEED: options->seed = parse_count(arg, "seed", 0, INT32_MAX, state); break;
    case KEY_ROWS: options->rows_path = arg; break;
    case ARGP_KEY_ARG: parse_trace(options, arg, state); break;
    case ARGP_KEY_END: check(options, state); break;
    default: return parse_playing(key, arg, state);
    }
    return 0;
}

struct sim_options sim_options_parse(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "TRACE", doc, NULL, NULL, NULL};
    struct sim_options options = {
        .clairvoyant = {.states_max = 200},
        .clairvoyant_tolerance_ns = 40 * NS_PER_MS,
        .playing = {
            .policy = {.drop = DROP_DEADLINE, .rule = RULE_PLAN, .base_ns = -1, .gain = -1},
            .lesser = {.refusing_ns = 80 * NS_PER_US, .passing_ns = 10 * NS_PER_US},
            .degraded = {.part = 0.87, .rmse_q16 = 150},
            .tolerance_ns = -1,
            .queue = 25,
            .head_start = 6,
            .head_start_max_ns = 300 * NS_PER_MS,
            .draw_ahead_ns = 20 * NS_PER_MS,
            .draw_cpu_ns = 2900 * NS_PER_US,
            .machine = {.weight = 1, .slice_ns = 3 * NS_PER_MS},
            .threads = 1,
            .codec_order = {.ahead = 0.2},
        },
        .supply = SIM_SUPPLY_QUOTA,
        .supply_text = "quota:15/40",
        .budget_ns = 15 * NS_PER_MS,
        .period_ns = 40 * NS_PER_MS,
        .scale = 1,
        .noise = 0.03,
        .speed = 0.05,
        .runs = 1,
        .seed = 1,
    };
    argp_err_exit_status = EXIT_SETUP;
    argv[0] = "dlex-bench-sim"; /* instead of the path by which it was called */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return options;
}
