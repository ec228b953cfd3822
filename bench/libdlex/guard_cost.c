/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "guard_cost.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = 8, PAIRS = 1000 }; /* per batch: some 20 us */

/* A running malloc_pairs process. */
struct allocator {
    pid_t pid;
    FILE *questions;
    FILE *answers;
};

static int spawn(struct allocator *allocator, const char *program, const int question[2],
                 const int answer[2])
{
    char *const argv[] = {(char *)program, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    int failed = posix_spawn_file_actions_adddup2(&actions, question[0], STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, answer[1], STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn(&allocator->pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : 0;
}

/* Starts the program. Returns 0 or -1. In both cases allocator_stop() frees the resources. */
static int allocator_start(struct allocator *allocator, const char *program)
{
    int question[2], answer[2];
    *allocator = (struct allocator){.pid = -1};
    if (pipe2(question, O_CLOEXEC))
        return -1;
    allocator->questions = fdopen(question[1], "w");
    if (pipe2(answer, O_CLOEXEC)) {
        close(question[0]);
        return -1;
    }
    allocator->answers = fdopen(answer[0], "r");
    const int failed = spawn(allocator, program, question, answer);
    if (failed)
        allocator->pid = -1;
    close(question[0]);
    close(answer[1]);
    return failed || !allocator->questions || !allocator->answers ? -1 : 0;
}

static void allocator_stop(struct allocator *allocator)
{
    if (allocator->questions)
        fclose(allocator->questions); /* this ends the process */
    if (allocator->answers)
        fclose(allocator->answers);
    if (allocator->pid > 0)
        waitpid(allocator->pid, NULL, 0);
}

/* Returns how long the process took for a batch, or a negative number. */
static double batch_ns(struct allocator *allocator)
{
    double ns;
    if (fprintf(allocator->questions, "%d\n", PAIRS) < 0 || fflush(allocator->questions) ||
        fscanf(allocator->answers, "%lf", &ns) != 1)
        return -1;
    return ns;
}

static int measure_round(struct allocator allocators[2], double pair_ns[2])
{
    pair_ns[0] = pair_ns[1] = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int turn = 0; turn < 2; turn++) {
            const int which = (batch + turn) % 2;
            const double ns = batch_ns(&allocators[which]);
            if (ns < 0)
                return -1;
            pair_ns[which] += ns / (BATCHES * PAIRS);
        }
    }
    return 0;
}

static int measure_rounds(struct allocator allocators[2], double *guarded_ns, double *plain_ns,
                          size_t rounds)
{
    double pair_ns[2];
    if (measure_round(allocators, pair_ns)) /* the first one fills the caches */
        return -1;
    for (size_t i = 0; i < rounds; i++) {
        if (measure_round(allocators, pair_ns))
            return -1;
        guarded_ns[i] = pair_ns[0];
        plain_ns[i] = pair_ns[1];
    }
    return 0;
}

void guard_cost_measure(struct figures *figures, size_t rounds)
{
    static double guarded_ns[ROUNDS_MOST], plain_ns[ROUNDS_MOST];
    const struct figure figure = {
        .what = "malloc and free, guard and a block open",
        .against = "both without a guard",
        .goal_text = "<= 1.6",
        .goal = 1.6,
    };
    struct allocator allocators[2] = {{.pid = -1}, {.pid = -1}};
    signal(SIGPIPE, SIG_IGN); /* a process that dies is noticed by its missing answer */
    int failed = allocator_start(&allocators[0], GUARDED_PROGRAM);
    if (!failed)
        failed = allocator_start(&allocators[1], PLAIN_PROGRAM);
    if (!failed)
        failed = measure_rounds(allocators, guarded_ns, plain_ns, rounds);
    allocator_stop(&allocators[0]);
    allocator_stop(&allocators[1]);
    if (failed)
        figures_add_failure(figures, figure, "its two programs do not answer; build them again");
    else
        figures_add(figures, figure, guarded_ns, plain_ns, rounds);
}
