/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sound played by a real PulseAudio daemon with a null sink. tests/support/with-pulse runs this program.
 * Not covered: real sound cards; how exactly the clock follows the sound (no test here checks elapsed time).
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sound_testing.h"
#include "suite.h"

static char why[200];

START_TEST(sound_is_heard_to_its_last_sample)
{
    struct audio_sink *sink = open_sink("pulse");
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, S(10)), 0);
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, S(11)), 0);
    ck_assert_int_eq(play_to_end(sink), S(12));
    ck_assert_ptr_null(audio_sink_error(sink));
    audio_sink_destroy(&sink);
    ck_assert_ptr_null(sink);
}
END_TEST

START_TEST(a_sound_of_five_milliseconds_is_heard)
{
    struct audio_sink *sink = open_sink("pulse");
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 200, S(1)), 0);
    ck_assert_int_eq(play_to_end(sink), S(1) + MS(5));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(sound_after_an_underrun_is_heard)
{
    struct audio_sink *sink = open_sink("pulse");
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 5, 0), 0);
    ck_assert_int_eq(play_to_end(sink), MS(200));
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 5, MS(200)), 0);
    ck_assert_int_eq(play_to_end(sink), MS(400));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(the_clock_stops_while_paused)
{
    struct audio_sink *sink = open_sink("pulse");
    int64_t pts_ns;
    audio_sink_pause(sink, true);
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, 0), 0);
    for (int i = 0; i < 100; i++)
        nap();
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EAGAIN);
    audio_sink_pause(sink, false);
    wait_until_heard(sink);
    audio_sink_pause(sink, true);
    const int64_t paused_at_ns = wait_until_heard(sink);
    for (int i = 0; i < 100; i++)
        nap();
    ck_assert_int_eq(wait_until_heard(sink), paused_at_ns);
    audio_sink_pause(sink, false);
    ck_assert_int_eq(play_to_end(sink), S(1));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(a_seek_frees_the_writer_and_forgets_the_time)
{
    struct audio_sink *sink = open_sink("pulse");
    pthread_t feeder;
    pthread_create(&feeder, NULL, write_ten_seconds, sink);
    wait_until_heard(sink);
    audio_sink_interrupt(sink, true);
    void *ret;
    pthread_join(feeder, &ret);
    ck_assert_int_eq((intptr_t)ret, -ECANCELED);
    audio_sink_flush(sink);
    int64_t pts_ns;
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EAGAIN);
    audio_sink_interrupt(sink, false);
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 2, S(60)), 0);
    ck_assert_int_gt(wait_until_heard(sink), S(60));
    ck_assert_int_eq(play_to_end(sink), S(60) + MS(500));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(a_seek_while_paused_stays_silent_until_it_goes_on)
{
    struct audio_sink *sink = open_sink("pulse");
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, 0), 0);
    wait_until_heard(sink);
    audio_sink_pause(sink, true);
    audio_sink_flush(sink);
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 2, S(60)), 0);
    int64_t pts_ns;
    for (int i = 0; i < 100; i++)
        nap();
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EAGAIN);
    audio_sink_pause(sink, false);
    ck_assert_int_gt(wait_until_heard(sink), S(60));
    ck_assert_int_eq(play_to_end(sink), S(60) + MS(500));
    audio_sink_destroy(&sink);
}
END_TEST

static bool pactl_suspend(bool on)
{
    char command[80];
    snprintf(command, sizeof command, "pactl suspend-sink private %d", on);
    return system(command) == 0;
}

START_TEST(a_suspended_device_stops_the_clock)
{
    struct audio_sink *sink = open_sink("pulse");
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, 0), 0);
    wait_until_heard(sink);
    if (!pactl_suspend(true)) {
        fprintf(stderr, "skipped: pactl is not installed\n");
        audio_sink_destroy(&sink);
        return;
    }
    while (!audio_sink_answers_late(sink))
        nap();
    const int64_t suspended_at_ns = wait_until_heard(sink);
    for (int i = 0; i < 100; i++)
        nap();
    ck_assert_int_eq(wait_until_heard(sink), suspended_at_ns);
    ck_assert(pactl_suspend(false));
    ck_assert_int_eq(play_to_end(sink), S(1));
    audio_sink_destroy(&sink);
}
END_TEST

/* Returns "SigBlk:" of a thread as a bit mask: signal n is bit n - 1. */
static uint64_t blocked_signals(const char *thread)
{
    char path[64], line[256];
    uint64_t mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
    FILE *const status = fopen(path, "r");
    ck_assert_ptr_nonnull(status);
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "SigBlk:", 7))
            mask = strtoull(line + 7, NULL, 16);
    fclose(status);
    return mask;
}

START_TEST(signals_are_left_to_the_main_thread)
{
    struct audio_sink *sink = open_sink("pulse");
    DIR *const threads = opendir("/proc/self/task");
    int seen = 0;
    for (const struct dirent *entry; (entry = readdir(threads));) {
        const bool is_other = entry->d_name[0] != '.' && atoi(entry->d_name) != getpid();
        if (!is_other)
            continue;
        const uint64_t mask = blocked_signals(entry->d_name);
        ck_assert(mask >> (SIGINT - 1) & 1);
        ck_assert(mask >> (SIGTERM - 1) & 1);
        ck_assert(mask >> (SIGRTMIN - 1) & 1);
        seen++;
    }
    closedir(threads);
    ck_assert_int_ge(seen, 1);
    sigset_t mine;
    pthread_sigmask(SIG_BLOCK, NULL, &mine);
    ck_assert(!sigismember(&mine, SIGINT));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(an_absent_server_is_an_error_without_a_wait)
{
    setenv("PULSE_SERVER", "unix:/nonexistent/socket", 1);
    struct audio_sink *sink = (void *)why;
    ck_assert_int_eq(audio_sink_create(&sink, "pulse", &stereo, why, sizeof why), -ENODEV);
    ck_assert_ptr_null(sink);
    ck_assert_str_eq(why, "PulseAudio cannot be reached: Connection refused");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        sound_is_heard_to_its_last_sample,
        a_sound_of_five_milliseconds_is_heard,
        sound_after_an_underrun_is_heard,
        the_clock_stops_while_paused,
        a_seek_frees_the_writer_and_forgets_the_time,
        a_seek_while_paused_stays_silent_until_it_goes_on,
        a_suspended_device_stops_the_clock,
        signals_are_left_to_the_main_thread,
        an_absent_server_is_an_error_without_a_wait,
        NULL,
    };
    return suite_run("pulse", 60, tests);
}
