/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gate_overhead.h"

#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the program with its output going to fd. Returns its exit status, or -1. */
static int run_program(const char *program, const char *clip, const char *packets, int fd)
{
    char *const argv[] = {(char *)program, (char *)clip, (char *)packets, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    int failed = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn(&pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    if (failed || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_once(struct gate_overhead *overhead, const char *program, int64_t *cpu_ns)
{
    char packets[16] = "";
    if (overhead->packet_count)
        snprintf(packets, sizeof(packets), "%d", overhead->packet_count);
    FILE *output = tmpfile();
    if (!output)
        return -1;
    int pictures = 0;
    const int status =
        run_program(program, overhead->clip, packets[0] ? packets : NULL, fileno(output));
    rewind(output);
    const int fields = fscanf(output, "%" SCNd64 " %d", cpu_ns, &pictures);
    fclose(output);
    if (status || fields != 2 || !pictures) {
        fprintf(stderr, "dlex-bench-decode: %s cannot decode %s; see above\n", program,
                overhead->clip);
        return -1;
    }
    if (overhead->pictures && overhead->pictures != pictures) {
        fprintf(stderr, "dlex-bench-decode: %s decoded %d pictures, not %d; the builds differ\n",
                program, pictures, overhead->pictures);
        return -1;
    }
    overhead->pictures = pictures;
    return 0;
}

static int run_pair(struct gate_overhead *overhead, int index)
{
    struct overhead_pair *pair = &overhead->pairs[index];
    for (int i = 0; i < 2; i++) {
        const int gated = (index + i) % 2;
        const char *program = gated ? overhead->gated_program : overhead->pristine_program;
        if (run_once(overhead, program, gated ? &pair->gated_ns : &pair->pristine_ns) < 0)
            return -1;
    }
    return 0;
}

int overhead_measure(struct gate_overhead *overhead)
{
    double ratios[OVERHEAD_MOST_PAIRS];
    int64_t unused_ns;
    /* The first runs find neither programs nor clip in the page cache. */
    if (run_once(overhead, overhead->gated_program, &unused_ns) < 0 ||
        run_once(overhead, overhead->pristine_program, &unused_ns) < 0)
        return -1;
    for (int i = 0; i < overhead->pair_count; i++) {
        if (run_pair(overhead, i) < 0)
            return -1;
        ratios[i] = (double)overhead->pairs[i].gated_ns / overhead->pairs[i].pristine_ns;
        fprintf(stderr, "pair %d of %d: %.4f\n", i + 1, overhead->pair_count, ratios[i]);
    }
    overhead->ratio = stats_bootstrap_median(ratios, overhead->pair_count, overhead->seed);
    overhead->spread_low = ratios[0]; /* the bootstrap left them sorted */
    overhead->spread_high = ratios[overhead->pair_count - 1];
    return 0;
}
