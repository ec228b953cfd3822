/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "timed_process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts the program with its standard input and output at these ends of pipes. */
static int spawn(pid_t *pid, const char *program, const char *clip, int input, int output)
{
    char *const argv[] = {(char *)program, (char *)clip, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    int failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn(pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : 0;
}

int timed_process_start(struct timed_process *process, const char *program, const char *clip)
{
    *process = (struct timed_process){.pid = -1};
    int question[2], answer[2];
    if (pipe2(question, O_CLOEXEC))
        return -1;
    process->questions = fdopen(question[1], "w");
    if (pipe2(answer, O_CLOEXEC)) {
        close(question[0]);
        return -1;
    }
    process->answers = fdopen(answer[0], "r");
    signal(SIGPIPE, SIG_IGN); /* a process that fails prints its own error */
    const int failed = spawn(&process->pid, program, clip, question[0], answer[1]);
    if (failed)
        process->pid = -1;
    close(question[0]);
    close(answer[1]);
    if (failed || !process->questions || !process->answers)
        return -1;
    return fscanf(process->answers, "%zu", &process->packet_count) == 1 ? 0 : -1;
}

int timed_process_decode(struct timed_process *process, size_t packets)
{
    int64_t cpu_ns;
    int pictures;
    if (fprintf(process->questions, "%zu\n", packets) < 0 || fflush(process->questions) ||
        fscanf(process->answers, "%" SCNd64 " %d", &cpu_ns, &pictures) != 2)
        return -1;
    process->cpu_ns += cpu_ns;
    process->pictures += pictures;
    return 0;
}

void timed_process_stop(struct timed_process *process)
{
    if (process->questions)
        fclose(process->questions); /* this ends the process */
    if (process->answers)
        fclose(process->answers);
    if (process->pid > 0)
        waitpid(process->pid, NULL, 0);
    *process = (struct timed_process){.pid = -1};
}
