/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "options.h"

#include "build_facts.h"
#include "codec_list.h"
#include "shown_value.h"

#include <argp.h>
#include <libavutil/parseutils.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *argp_program_version = "dlex-play " PROGRAM_VERSION " (" DLEX_COMMIT ")";

static const char doc[] =
    "Plays files. On a busy machine it aborts the decode of a picture when its deadline expires, if no other picture "
    "refers to it.\v"
    "TIME is a number of seconds or [HH:]MM:SS, and may have a fraction; 37ms and 200us are valid too.\n"
    "\n"
    "Keys: space or p pause, left and right seek 10 s, down and up seek 60 s, q or ESC quit.\n"
    "\n"
    "Exit status: 0 played to the end or quit by the user, 1 bad option or set-up, 2 nothing could be played, "
    "3 some files could not be played, or not to their end, 4 ended by a signal.";

enum key {
    KEY_AO = 256,
    KEY_VO,
    KEY_DROP,
    KEY_RULE,
    KEY_BASE,
    KEY_GAIN,
    KEY_STRICT,
    KEY_SKIP,
    KEY_WINDOW,
    KEY_DEGRADE,
    KEY_QUEUE,
    KEY_THREADS,
    KEY_SCHED,
    KEY_CPU,
    KEY_START,
    KEY_LENGTH,
    KEY_UNTIMED,
    KEY_FRAMEMD5,
    KEY_RECORD,
    KEY_CODECS,
    KEY_TICK,
    KEY_QUIET = 'q',
};

static const struct argp_option option_table[] = {
    {"drop", KEY_DROP, "POLICY", 0, "none, heuristic (mplayer's guess before each picture), vlc (VLC's guess; needs --queue) or deadline (default)", 1},
    {"deadline-rule", KEY_RULE, "RULE", 0, "paper (0.925 of a frame minus 1 % of the lag), slack (the time until the "
     "picture is due), or plan (as slack, and looks ahead for pictures to refuse; default)", 1},
    {"deadline-base", KEY_BASE, "TIME", 0, "paper: the base; slack, plan: the tolerance after the picture is due (50ms)", 1},
    {"deadline-gain", KEY_GAIN, "NUMBER", 0, "paper: the deadline is shorter by this fraction of the lag (0.01)", 1},
    {"strict", KEY_STRICT, NULL, 0, "plan: rather lose pictures than show them late", 1},
    {"skip-to-key", KEY_SKIP, "WHEN", 0, "plan: auto (when skipping to the next key picture loses less than going on; default) "
     "or never", 1},
    {"window", KEY_WINDOW, "X/Y", 0, "plan: lose at most X of any Y pictures in a row, as far as possible; violations are "
     "reported", 1},
    {"degrade", KEY_DEGRADE, "WHEN", 0, "plan: auto (when time is short, leave out the loop filter of H.264, HEVC and VP8) or never "
     "(default)", 1},
    {"queue", KEY_QUEUE, "AMOUNT", 0, "decode ahead up to so many pictures (50), so much time (1.5s) or memory (128MiB), or "
     "auto: the least of 2 s, 256 MiB and an eighth of the available memory (default); 0: each picture just in time", 1},
    {"threads", KEY_THREADS, "N", 0, "decode with N threads (1 to 16), or auto: twice as many as there are CPUs for it, "
     "and three more (default); with one where a reservation or --queue=0 holds one, with fewer under a quota or a priority", 1},
    {"ao", KEY_AO, "KIND", 0, "sound: pulse, null (an ideal device) or auto (default)", 2},
    {"vo", KEY_VO, "KIND", 0, "pictures: sdl, null (an ideal screen) or auto (default)", 2},
    {"sched", KEY_SCHED, "POLICY", 0, "scheduling of the threads that decode and present: other, fifo:PRIORITY, "
     "rr:PRIORITY, deadline:RUNTIME/PERIOD (ms), or rm[:guaranteed[:COST]]: by the film's rate among others", 3},
    {"cpu", KEY_CPU, "N", 0, "the threads that decode and present run on this CPU, the others on the other CPUs", 3},
    {"start", KEY_START, "TIME", 0, "begin at TIME", 4},
    {"length", KEY_LENGTH, "TIME", 0, "play for TIME, then end", 4},
    {"untimed", KEY_UNTIMED, NULL, 0, "play as fast as possible and without sound; deadlines still apply", 4},
    {"record", KEY_RECORD, "DIR", 0, "write run.json and frames.csv there (several files: DIR/1, DIR/2, ...)", 5},
    {"framemd5", KEY_FRAMEMD5, "FILE", 0, "write PTS and MD5 of each picture that is shown (- is standard output)", 5},
    {"codecs", KEY_CODECS, NULL, 0, "list the codecs whose decodes can be given up, and how, and exit", 5},
    {"tick", KEY_TICK, "NAME", 0, "give the graph of processes with this name (dlex sched pman) a tick at each picture that is shown", 5},
    {"quiet", KEY_QUIET, NULL, 0, "print no status line and no messages except errors", 5},
    {0},
};

const char *drop_policy_name(enum drop_policy policy)
{
    static const char *const names[] = {"none", "heuristic", "vlc", "deadline"};
    return names[policy];
}

const char *deadline_rule_name(enum deadline_rule rule)
{
    static const char *const names[] = {"paper", "slack", "plan"};
    return names[rule];
}

static const char *one_of(const char *arg, const char *a, const char *b, const char *c, const char *option,
                          struct argp_state *state)
{
    if (!strcmp(arg, a) || !strcmp(arg, b) || !strcmp(arg, c))
        return arg;
    argp_error(state, "--%s=%s is unknown; choose %s, %s or %s", option, shown_value(arg), a, b, c);
    return a;
}

static enum drop_policy parse_drop(const char *arg, struct argp_state *state)
{
    for (enum drop_policy policy = DROP_NONE; policy <= DROP_DEADLINE; policy++)
        if (!strcmp(arg, drop_policy_name(policy)))
            return policy;
    argp_error(state, "--drop=%s is unknown; choose none, heuristic, vlc or deadline", shown_value(arg));
    return DROP_NONE;
}

static enum deadline_rule parse_rule(const char *arg, struct argp_state *state)
{
    for (enum deadline_rule rule = RULE_PAPER; rule <= RULE_PLAN; rule++)
        if (!strcmp(arg, deadline_rule_name(rule)))
            return rule;
    argp_error(state, "--deadline-rule=%s is unknown; choose paper, slack or plan", shown_value(arg));
    return RULE_PLAN;
}

static bool parse_never(const char *arg, const char *option, struct argp_state *state)
{
    if (strcmp(arg, "auto") && strcmp(arg, "never"))
        argp_error(state, "--%s=%s is unknown; choose auto or never", option, shown_value(arg));
    return arg[0] == 'n';
}

static void parse_window(struct window *window, const char *arg, struct argp_state *state)
{
    if (window_parse(window, arg))
        argp_error(state, "--window=%s is no window; write X/Y, with Y from 1 to %d and X from 0 to Y: of any Y pictures in a row, "
                   "at most X may be lost", shown_value(arg), WINDOW_MAX);
}

static int64_t parse_time_ns(const char *arg, const char *option, struct argp_state *state)
{
    int64_t us = 0;
    if (av_parse_time(&us, arg, 1) < 0 || us < 0 || us > INT64_MAX / 4000)
        argp_error(state, "--%s=%s is not a time; write seconds, [HH:]MM:SS or e.g. 37ms", option, shown_value(arg));
    return us * 1000;
}

static int64_t parse_length_ns(const char *arg, struct argp_state *state)
{
    const int64_t length_ns = parse_time_ns(arg, "length", state);
    if (!length_ns)
        argp_error(state, "--length=%s plays nothing; write a longer time", shown_value(arg));
    return length_ns;
}

static const char *parse_path(const char *arg, const char *option, struct argp_state *state)
{
    if (!*arg)
        argp_error(state, "--%s= has no value; write a path after it", option);
    return arg;
}

static double parse_gain(const char *arg, struct argp_state *state)
{
    char *end;
    const double gain = strtod(arg, &end);
    if (end == arg || *end || !isfinite(gain) || gain < 0 || gain > 100)
        argp_error(state, "--deadline-gain=%s is not a number from 0 to 100", shown_value(arg));
    return gain;
}

/* Parses "rm", "rm:guaranteed" or "rm:guaranteed:28". Returns false for anything else. */
static bool parse_rate(struct rate_wish *wish, const char *arg)
{
    static const char guaranteed[] = "rm:guaranteed";
    *wish = (struct rate_wish){.is_guaranteed = !strncmp(arg, guaranteed, sizeof guaranteed - 1)};
    const char *const rest = wish->is_guaranteed ? arg + sizeof guaranteed - 1 : "";
    if (*rest == ':') {
        char *end;
        wish->cost_ms = strtod(rest + 1, &end);
        wish->is_asked = end != rest + 1 && !*end && wish->cost_ms > 0 && wish->cost_ms < 1000;
    } else {
        wish->is_asked = wish->is_guaranteed ? !*rest : !strcmp(arg, "rm");
    }
    return wish->is_asked;
}

static void parse_sched(struct placement *placement, const char *arg, struct argp_state *state)
{
    if (parse_rate(&placement->rate, arg))
        placement->policy = (struct thread_policy){.kind = THREAD_FIFO};
    else if (thread_policy_parse(&placement->policy, arg))
        argp_error(state, "--sched=%s is not a policy; write other, fifo:5, rr:5, deadline:15/40 (runtime/period in ms), rm, "
                   "rm:guaranteed or rm:guaranteed:28 (longest CPU time per picture in ms)", shown_value(arg));
    placement->has_policy = true;
}

static void parse_queue(struct queue_wish *wish, const char *arg, struct argp_state *state)
{
    if (queue_wish_parse(wish, arg))
        argp_error(state, "--queue=%s is no amount; write 0, auto, a number of pictures, or e.g. 1.5s or 128MiB", shown_value(arg));
}

static void parse_threads(struct threads_wish *wish, const char *arg, struct argp_state *state)
{
    if (threads_wish_parse(wish, arg))
        argp_error(state, "--threads=%s is no number of threads; write auto, or a number from 1 to %d", shown_value(arg),
                   CODEC_THREADS_MAX);
}

struct threads_place options_threads_place(const struct options *options)
{
    return (struct threads_place){
        .is_serial = options->queue.kind == QUEUE_NONE,
        .has_reservation = placement_is_reservation(&options->placement),
        .is_placed = options->placement.cpu >= 0 || placement_has_priority(&options->placement),
    };
}

/* Options may come in any order, so this is checked behind the last one. */
static void check_threads(const struct options *options, struct argp_state *state)
{
    const struct threads_place place = options_threads_place(options);
    const char *const refusal = threads_wish_refusal(&options->threads, &place);
    if (refusal)
        argp_error(state, "--threads=%d %s; use --threads=1 or auto", options->threads.count, refusal);
}

static void check_window(const struct policy_settings *policy, struct argp_state *state)
{
    if (policy->window.y > 0 && (policy->drop != DROP_DEADLINE || policy->rule != RULE_PLAN))
        argp_error(state, "--window=%d/%d needs --drop=deadline and --deadline-rule=plan, the default: other rules choose without "
                   "looking ahead", policy->window.x, policy->window.y);
}

/* Here if the amount alone decides; session.c knows how long pictures last. */
static void check_vlc_queue(const struct options *options, struct argp_state *state)
{
    const struct queue_wish *const queue = &options->queue;
    const bool is_short = queue->kind == QUEUE_NONE || (queue->kind == QUEUE_SPAN && queue->value < OPTIONS_VLC_QUEUE_MIN_NS);
    if (options->policy.drop == DROP_VLC && is_short)
        argp_error(state, "--drop=vlc needs a queue of at least 200 ms of pictures; give a larger --queue");
}

static int parse_cpu(const char *arg, struct argp_state *state)
{
    char *end;
    const long cpu = strtol(arg, &end, 10);
    if (end == arg || *end || cpu < 0 || cpu >= CPU_SETSIZE)
        argp_error(state, "--cpu=%s is not a CPU; write a number (the first CPU is 0)", shown_value(arg));
    return (int)cpu;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *const options = state->input;
    switch (key) {
    case KEY_DROP: options->policy.drop = parse_drop(arg, state); break;
    case KEY_RULE: options->policy.rule = parse_rule(arg, state); break;
    case KEY_BASE: options->policy.base_ns = parse_time_ns(arg, "deadline-base", state); break;
    case KEY_GAIN: options->policy.gain = parse_gain(arg, state); break;
    case KEY_AO: options->audio_kind = one_of(arg, "auto", "pulse", "null", "ao", state); break;
    case KEY_VO: options->video_kind = one_of(arg, "auto", "sdl", "null", "vo", state); break;
    case KEY_STRICT: options->policy.strict = true; break;
    case KEY_SKIP: options->policy.never_skips_to_key = parse_never(arg, "skip-to-key", state); break;
    case KEY_WINDOW: parse_window(&options->policy.window, arg, state); break;
    case KEY_DEGRADE: options->policy.degrades = !parse_never(arg, "degrade", state); break;
    case KEY_QUEUE: parse_queue(&options->queue, arg, state); break;
    case KEY_THREADS: parse_threads(&options->threads, arg, state); break;
    case KEY_SCHED: parse_sched(&options->placement, arg, state); break;
    case KEY_CPU: options->placement.cpu = parse_cpu(arg, state); break;
    case KEY_START: options->start_ns = parse_time_ns(arg, "start", state); break;
    case KEY_LENGTH: options->length_ns = parse_length_ns(arg, state); break;
    case KEY_UNTIMED: options->untimed = true; break;
    case KEY_FRAMEMD5: options->framemd5_path = parse_path(arg, "framemd5", state); break;
    case KEY_RECORD: options->record_dir = parse_path(arg, "record", state); break;
    case KEY_CODECS: codec_list_print(stdout); exit(EXIT_SUCCESS);
    case KEY_TICK: options->tick_table = arg; break;
    case KEY_QUIET: options->quiet = true; break;
    case ARGP_KEY_ARGS:
        options->files = state->argv + state->next;
        options->file_count = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        check_threads(options, state);
        check_window(&options->policy, state);
        check_vlc_queue(options, state);
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "no FILE given; name at least one file to play"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void options_parse(struct options *options, int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "FILE...", doc, NULL, NULL, NULL};
    *options = (struct options){
        .audio_kind = "auto",
        .video_kind = "auto",
        .queue = {.kind = QUEUE_AUTO},
        .policy = {.drop = DROP_DEADLINE, .rule = RULE_PLAN, .base_ns = -1, .gain = -1},
        .placement = {.cpu = -1},
    };
    argp_err_exit_status = 1;
    argv[0] = "dlex-play"; /* not the path that the program was called by */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, options);
}
