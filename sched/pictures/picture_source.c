/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 128, EXIT_NO_PROGRAM = 127 };

static _Noreturn void run_ffmpeg(const char *clip, int width, int height, double rate, int output)
{
    char test_picture[TEXT_SIZE], filter[TEXT_SIZE];
    snprintf(test_picture, sizeof test_picture, "testsrc2=size=%dx%d:rate=%g", width, height, rate);
    /* The pictures are timed after their rate has changed. With -re, those that fps adds would come at once. */
    snprintf(filter, sizeof filter, "fps=%g,scale=%d:%d,realtime", rate, width, height);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(output, STDOUT_FILENO);
    if (clip)
        execlp("ffmpeg", "ffmpeg", "-v", "error", "-nostdin", "-stream_loop", "-1", "-i", clip, "-an", "-vf", filter,
               "-pix_fmt", "yuv420p", "-f", "rawvideo", "-", (char *)NULL);
    else
        execlp("ffmpeg", "ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", test_picture, "-pix_fmt", "yuv420p",
               "-f", "rawvideo", "-", (char *)NULL);
    perror("ffmpeg");
    _exit(EXIT_NO_PROGRAM);
}

int picture_source_open(struct picture_source *source, const char *clip, int width, int height, double rate)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    const pid_t pid = fork();
    if (pid == 0)
        run_ffmpeg(clip, width, height, rate, ends[1]);
    const int error = pid < 0 ? -errno : 0;
    close(ends[1]);
    if (error)
        close(ends[0]);
    else
        *source = (struct picture_source){.pid = pid, .pipe = ends[0]};
    return error;
}

int picture_source_read(struct picture_source *source, uint8_t *picture, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t count = read(source->pipe, picture + done, size - done);
        if (count == 0 || (count < 0 && errno != EINTR))
            return count ? -errno : -EPIPE;
        done += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

int picture_source_close(struct picture_source *source)
{
    int status;
    if (!source->pid)
        return 0;
    kill(source->pid, SIGKILL); /* it would complain about a pipe that is closed */
    close(source->pipe);
    while (waitpid(source->pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    *source = (struct picture_source){0};
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
