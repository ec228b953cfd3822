/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log.h"

#include <dlex/dlex.h>
#include <libavutil/log.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FFMPEG_LINES_MAX = 10, LINE_SIZE = 1024 };

static bool be_quiet;
static bool ffmpeg_muted;
static bool status_wanted;
static bool status_stands;
static int ffmpeg_lines;
/* Guards status_stands, ffmpeg_lines and the order of lines on stderr; taken by every thread that prints. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void clear_status(void)
{
    if (status_stands)
        fputs("\r\033[K", stderr);
    status_stands = false;
}

static void speak(const char *format, va_list args)
{
    dlex_try_within_disable();
    pthread_mutex_lock(&lock);
    clear_status();
    fputs("dlex-play: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    pthread_mutex_unlock(&lock);
    dlex_try_within_enable();
}

void log_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    speak(format, args);
    va_end(args);
}

void log_note(const char *format, ...)
{
    if (be_quiet)
        return;
    va_list args;
    va_start(args, format);
    speak(format, args);
    va_end(args);
}

void log_status(const char *line)
{
    if (!status_wanted)
        return;
    pthread_mutex_lock(&lock);
    clear_status();
    fputs(line, stderr);
    fflush(stderr);
    status_stands = *line != '\0';
    pthread_mutex_unlock(&lock);
}

void log_status_ends(void)
{
    pthread_mutex_lock(&lock);
    if (status_stands)
        fputc('\n', stderr);
    status_stands = false;
    pthread_mutex_unlock(&lock);
}

static void print_ffmpeg_line(void *context, int level, const char *format, va_list args)
{
    char line[LINE_SIZE];
    int prefix = 1;
    av_log_format_line2(context, level, format, args, line, sizeof line, &prefix);
    clear_status();
    if (ffmpeg_lines <= FFMPEG_LINES_MAX)
        fprintf(stderr, "dlex-play: FFmpeg: %s%s", line, strchr(line, '\n') ? "" : "\n");
    else
        fputs("dlex-play: FFmpeg has more messages about this file; they are not shown\n", stderr);
}

static void on_ffmpeg_log(void *context, int level, const char *format, va_list args)
{
    if (level > AV_LOG_ERROR || be_quiet || ffmpeg_muted)
        return;
    dlex_try_within_disable();
    pthread_mutex_lock(&lock);
    if (++ffmpeg_lines <= FFMPEG_LINES_MAX + 1)
        print_ffmpeg_line(context, level, format, args);
    pthread_mutex_unlock(&lock);
    dlex_try_within_enable();
}

void log_mute_ffmpeg(bool on)
{
    ffmpeg_muted = on;
}

void log_begin_file(void)
{
    pthread_mutex_lock(&lock);
    ffmpeg_lines = 0;
    pthread_mutex_unlock(&lock);
}

void log_init(bool quiet)
{
    be_quiet = quiet;
    status_wanted = !quiet && isatty(STDERR_FILENO);
    av_log_set_callback(on_ffmpeg_log);
}
