/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dlex-sched-sim: simulates DWCS and its events in virtual time. See slot_options.c for what it does, and `dlex-sched sim`. */
#include "slot_options.h"
#include "standard_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_DONE = 0, EXIT_UNWRITTEN = 2 };

static double ms_of(int64_t ns)
{
    return (double)ns / 1e6;
}

static void print_number(const char *key, double value)
{
    if (isfinite(value))
        printf("\"%s\": %.9g", key, value);
    else
        printf("\"%s\": null", key);
}

/* Runs the tasks of the command line, and prints who runs in each slot. */
static void print_slots(struct slot_sim *sim, const struct slot_options *options)
{
    printf(" \"slots\": [");
    for (int slot = 0; slot < options->slots; slot++) {
        const int task = slot_sim_step(sim);
        if (task == SLOT_IDLE)
            printf("%snull", slot ? ", " : "");
        else
            printf("%s\"%s\"", slot ? ", " : "", options->task[task].name);
    }
    printf("],\n");
}

static void print_tasks(const struct slot_sim *sim, const struct slot_options *options)
{
    printf(" \"tasks\": [");
    for (int i = 0; i < options->tasks; i++) {
        const struct dwcs_counts *const counts = &sim->dwcs.process[sim->task[i].process].counts;
        printf("%s\n  {\"name\": \"%s\", \"served\": %" PRId64 ", \"missed\": %" PRId64 ", \"violations\": %" PRId64 "}",
               i ? "," : "", options->task[i].name, counts->served, counts->missed, counts->violations);
    }
    printf("\n ],\n");
}

static void simulate_schedule(const struct slot_options *options)
{
    struct slot_sim sim;
    slot_sim_init(&sim, SLOT_NS, 0);
    sim.rules = options->rules | options->rule_4;
    sim.server = options->has_server ? &options->server : NULL;
    for (int i = 0; i < options->tasks; i++)
        slot_sim_add(&sim, options->task[i].is_best_effort ? NULL : &options->task[i].params, NULL);
    for (int i = 0; i < options->events; i++)
        slot_sim_raise(&sim, options->event[i].task, options->event[i].due_ns);
    printf("{\n \"format\": 1,\n ");
    print_number("utilisation", dwcs_utilisation(&sim.dwcs));
    printf(",\n");
    print_slots(&sim, options);
    dwcs_advance(&sim.dwcs, sim.now_ns); /* periods that end with the last slot */
    print_tasks(&sim, options);
    printf(" \"events\": %" PRId64 ",\n \"swaps\": %" PRId64 "\n}\n", sim.delivered, sim.swaps);
}

static struct dwcs_paper_options paper_options(const struct slot_options *options, int players, int run, bool has_events)
{
    return (struct dwcs_paper_options){
        .players = players, .has_events = has_events, .rule_4 = options->rule_4, .readings = options->readings,
        .cost_min_ns = options->cost_min_ns, .cost_max_ns = options->cost_max_ns, .sleep_ns = options->sleep_ns,
        .seed = (uint64_t)(options->seed + run), .duration_ns = options->seconds * INT64_C(1000000000),
    };
}

/* The delays are those of the first player's first frames; there may be fewer frames than options->delays. */
static void print_delays(const int64_t *delays_ns, int count)
{
    printf(", \"delays_ms\": [");
    for (int i = 0; i < count && delays_ns[i] >= 0; i++)
        printf("%s%.9g", i ? ", " : "", ms_of(delays_ns[i]));
    printf("]");
}

static void print_run(const struct slot_options *options, int experiment, struct dwcs_paper_options run, int64_t *delays_ns)
{
    struct dwcs_figures figures;
    for (int i = 0; i < options->delays; i++)
        delays_ns[i] = -1;
    run.trace_ns = delays_ns;
    run.trace_capacity = options->delays;
    dwcs_paper_run(experiment, &run, &figures); /* the number of players was checked */
    const struct dwcs_setting *const setting = &dwcs_settings[experiment];
    const bool is_papers = run.players >= setting->players_min && run.players <= setting->players_max;
    printf("\n  {\"experiment\": \"%s\", \"players\": %d, \"is_papers\": %s, \"seed\": %" PRIu64 ", \"has_events\": %s, ",
           setting->name, run.players, is_papers ? "true" : "false", run.seed, run.has_events ? "true" : "false");
    print_number("utilisation", figures.utilisation);
    printf(", \"frames\": %" PRId64 ", ", figures.frames);
    print_number("delay_ms_mean", ms_of(figures.delay_mean_ns));
    printf(", ");
    print_number("delay_ms_max", ms_of(figures.delay_max_ns));
    printf(", ");
    print_number("response_ms_mean", ms_of(figures.response_mean_ns));
    printf(", \"events\": %" PRId64 ", \"swaps\": %" PRId64, figures.events, figures.swaps);
    print_delays(delays_ns, options->delays);
    printf("}");
}

/* Prints the runs of an experiment with so many players. Returns whether there is something before the next one. */
static bool print_runs(const struct slot_options *options, int experiment, int players, bool has_before, int64_t *delays_ns)
{
    for (int run = 0; run < options->runs; run++) {
        for (int has_events = 0; has_events < 2; has_events++) {
            if (has_before)
                printf(",");
            print_run(options, experiment, paper_options(options, players, run, has_events), delays_ns);
            has_before = true;
        }
    }
    return has_before;
}

static void print_experiments(const struct slot_options *options, int64_t *delays_ns)
{
    bool has_before = false;
    printf(" \"runs\": [");
    for (int i = 0; i < DWCS_EXPERIMENTS; i++) {
        if (options->experiment != SLOT_ALL && options->experiment != i)
            continue;
        const int first = options->players == SLOT_ALL ? 1 : options->players;
        const int last = options->players == SLOT_ALL ? DWCS_PAPER_PLAYERS : options->players;
        for (int players = first; players <= last; players++)
            has_before = print_runs(options, i, players, has_before, delays_ns);
    }
    printf("\n ],\n");
}

static const char *const metric_names[] = {
    [DWCS_SWAPS_PERCENT] = "swaps_percent",
    [DWCS_MEAN_WITHOUT_MS] = "mean_without_ms",
    [DWCS_MEAN_WITH_MS] = "mean_with_ms",
    [DWCS_MAX_WITHOUT_MS] = "max_without_ms",
    [DWCS_MAX_WITH_MS] = "max_with_ms",
    [DWCS_REDUCTION_PERCENT] = "reduction_percent",
};

/* Prints what the seed says, and the same metric of each of our runs. */
static void print_claim(const struct slot_options *options, const struct dwcs_claim *claim)
{
    printf("  {\"where\": \"%s\", \"experiment\": \"%s\", \"players\": %d, \"metric\": \"%s\", ", claim->where,
           dwcs_settings[claim->experiment].name, claim->players, metric_names[claim->metric]);
    print_number("low", claim->low);
    printf(", ");
    print_number("high", claim->high);
    printf(", \"simulated\": [");
    for (int run = 0; run < options->runs; run++) {
        struct dwcs_figures figures[2];
        for (int has_events = 0; has_events < 2; has_events++) {
            const struct dwcs_paper_options one = paper_options(options, claim->players, run, has_events);
            dwcs_paper_run(claim->experiment, &one, &figures[has_events]);
        }
        const double value = dwcs_metric_of(claim->metric, &figures[0], &figures[1]);
        if (isfinite(value))
            printf("%s%.9g", run ? ", " : "", value);
        else
            printf("%snull", run ? ", " : "");
    }
    printf("]}");
}

/* Claims are about the seed's numbers of players. */
static void print_claims(const struct slot_options *options)
{
    const char *separator = "\n";
    printf(" \"claims\": [");
    for (int i = 0; i < dwcs_claim_count && options->players == SLOT_ALL; i++) {
        if (options->experiment != SLOT_ALL && options->experiment != (int)dwcs_claims[i].experiment)
            continue;
        printf("%s", separator);
        print_claim(options, &dwcs_claims[i]);
        separator = ",\n";
    }
    printf("\n ]\n}\n");
}

/* Prints how the experiments differ from ours. */
static void print_changes(const struct slot_options *options)
{
    const char *separator = "";
    printf(" \"readings\": [");
    for (int i = 0; i < SLOT_READINGS; i++) {
        if (!(options->readings & (1u << i)))
            continue;
        printf("%s\"%s\"", separator, slot_reading_names[i]);
        separator = ", ";
    }
    printf("],\n ");
    print_number("cost_ms_min", options->cost_min_ns > 0 ? ms_of(options->cost_min_ns) : NAN);
    printf(", ");
    print_number("cost_ms_max", options->cost_max_ns > 0 ? ms_of(options->cost_max_ns) : NAN);
    printf(", ");
    print_number("sleep_ms", options->sleep_ns > 0 ? ms_of(options->sleep_ns) : NAN);
    printf(",\n");
}

static void simulate_paper(const struct slot_options *options, int64_t *delays_ns)
{
    printf("{\n \"format\": 1,\n \"seconds\": %d,\n", options->seconds);
    print_changes(options);
    print_experiments(options, delays_ns);
    print_claims(options);
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-sched-sim", EXIT_UNWRITTEN);
    const struct slot_options options = slot_options_parse(argc, argv);
    int64_t *const delays_ns = calloc((size_t)options.delays + 1, sizeof *delays_ns);
    if (delays_ns && options.tasks > 0)
        simulate_schedule(&options);
    else if (delays_ns)
        simulate_paper(&options, delays_ns);
    free(delays_ns);
    if (!delays_ns) {
        fprintf(stderr, "dlex-sched-sim: out of memory\n");
        return EXIT_UNWRITTEN;
    }
    return EXIT_DONE;
}
