/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sound by a real PulseAudio daemon with a null sink; run by tests/support/with-pulse.
 * Not covered: real sound cards; how exactly the clock follows (nothing here asserts on elapsed
 * time).
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audio_sink.h"

#define MS(n) (INT64_C(1000000) * (n))
#define S(n) (INT64_C(1000000000) * (n))

enum { RATE = 48000 };

static const struct audio_format stereo = {.rate = RATE, .channels = 2};
static const float silence[RATE * 2];
static char why[200];

static struct audio_sink *open_sink(void)
{
    struct audio_sink *sink;
    ck_assert_msg(audio_sink_create(&sink, "pulse", &stereo, why, sizeof why) == 0, "%s", why);
    return sink;
}

static void nap(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = MS(1)}, NULL);
}

static int64_t wait_until_heard(struct audio_sink *sink)
{
    int64_t pts_ns;
    while (audio_sink_heard(sink, &pts_ns) == -EAGAIN)
        nap();
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), 0);
    return pts_ns;
}

/* Returns the last PTS heard. */
static int64_t play_to_end(struct audio_sink *sink)
{
    int64_t last_ns = 0;
    while (!audio_sink_drained(sink)) {
        int64_t pts_ns = last_ns;
        audio_sink_heard(sink, &pts_ns);
        ck_assert_int_ge(pts_ns, last_ns);
        last_ns = pts_ns;
        nap();
    }
    ck_assert_int_eq(audio_sink_heard(sink, &last_ns), 0);
    return last_ns;
}

START_TEST(sound_is_heard_to_its_last_sample)
{
    struct audio_sink *sink = open_sink();
    ck_assert_str_eq(audio_sink_kind(sink), "pulse");
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
    struct audio_sink *sink = open_sink();
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 200, S(1)), 0);
    ck_assert_int_eq(play_to_end(sink), S(1) + MS(5));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(sound_after_an_underrun_is_heard)
{
    struct audio_sink *sink = open_sink();
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 5, 0), 0);
    ck_assert_int_eq(play_to_end(sink), MS(200));
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 5, MS(200)), 0);
    ck_assert_int_eq(play_to_end(sink), MS(400));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(the_clock_stands_while_paused)
{
    struct audio_sink *sink = open_sink();
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

static void *write_ten_seconds(void *sink)
{
    for (int i = 0; i < 10; i++) {
        const int ret = audio_sink_write(sink, silence, RATE, S(i));
        if (ret < 0)
            return (void *)(intptr_t)ret;
    }
    return NULL;
}

START_TEST(a_seek_frees_the_writer_and_forgets_the_time)
{
    struct audio_sink *sink = open_sink();
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
    struct audio_sink *sink = open_sink();
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

/* "SigBlk:" of a thread as a bit mask, signal n in bit n - 1. */
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
    struct audio_sink *sink = open_sink();
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

START_TEST(an_absent_server_is_a_reason_not_a_wait)
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
    TCase *const cases = tcase_create("pulse");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, sound_is_heard_to_its_last_sample);
    tcase_add_test(cases, a_sound_of_five_milliseconds_is_heard);
    tcase_add_test(cases, sound_after_an_underrun_is_heard);
    tcase_add_test(cases, the_clock_stands_while_paused);
    tcase_add_test(cases, a_seek_frees_the_writer_and_forgets_the_time);
    tcase_add_test(cases, a_seek_while_paused_stays_silent_until_it_goes_on);
    tcase_add_test(cases, signals_are_left_to_the_main_thread);
    tcase_add_test(cases, an_absent_server_is_a_reason_not_a_wait);
    Suite *const suite = suite_create("pulse");
    suite_add_tcase(suite, cases);
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
