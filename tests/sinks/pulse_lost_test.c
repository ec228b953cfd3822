/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A PulseAudio daemon that hangs or dies while sound plays. tests/support/with-pulse runs this program and starts the
 * daemon, which the tests stop and kill.
 * Not covered: a daemon that is lost before the first sound.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "sound_testing.h"
#include "suite.h"

static const struct audio_format mono = {.rate = RATE, .channels = 1};
static char why[200];

static void *write_until_error(void *sink)
{
    int ret = 0;
    while (ret == 0)
        ret = audio_sink_write(sink, silence, RATE / 50, AUDIO_PTS_UNKNOWN);
    return (void *)(intptr_t)ret;
}

static void signal_daemon(int signal)
{
    kill(atoi(getenv("DLEX_TEST_PULSE_PID")), signal);
}

/*
 * Sends the signal to the daemon while a second of sound is on its way and the feeder waits to write more. Expects this
 * error.
 */
static void expect_loss_after(int signal, const char *cause)
{
    struct audio_sink *sink;
    int64_t pts_ns;
    ck_assert_msg(audio_sink_create(&sink, "pulse", &mono, why, sizeof why) == 0, "%s", why);
    pthread_t feeder;
    pthread_create(&feeder, NULL, write_until_error, sink);
    wait_until_heard(sink);

    signal_daemon(signal);
    void *ret;
    pthread_join(feeder, &ret);

    ck_assert_int_eq((intptr_t)ret, -EPIPE);
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EPIPE);
    ck_assert(audio_sink_drained(sink));
    ck_assert_ptr_nonnull(audio_sink_error(sink));
    ck_assert_str_eq(audio_sink_error(sink), cause);
    audio_sink_pause(sink, true);
    audio_sink_flush(sink);
    audio_sink_interrupt(sink, true);
    ck_assert_int_eq(audio_sink_write(sink, silence, 1, 0), -EPIPE);
    audio_sink_destroy(&sink);
}

START_TEST(a_sink_that_is_given_up_ends_the_wait)
{
    struct audio_sink *sink;
    int64_t pts_ns;
    ck_assert_msg(audio_sink_create(&sink, "pulse", &mono, why, sizeof why) == 0, "%s", why);
    audio_sink_pause(sink, true);
    pthread_t feeder;
    pthread_create(&feeder, NULL, write_until_error, sink);
    audio_sink_give_up(sink, "it was given up");
    void *ret;
    pthread_join(feeder, &ret);
    ck_assert_int_lt((intptr_t)ret, 0);
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EPIPE);
    ck_assert_str_eq(audio_sink_error(sink), "it was given up");
    audio_sink_interrupt(sink, false);
    ck_assert_int_eq(audio_sink_write(sink, silence, 1, 0), -EPIPE);
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(a_daemon_that_hangs_ends_the_wait_and_is_reported)
{
    expect_loss_after(SIGSTOP, "the connection to PulseAudio was lost: it does not answer any more");
    struct audio_sink *sink;
    ck_assert_int_eq(audio_sink_create(&sink, "pulse", &mono, why, sizeof why), -ENODEV);
    ck_assert_str_eq(why, "PulseAudio cannot be reached: it does not answer");
}
END_TEST

START_TEST(a_daemon_that_dies_ends_the_wait_and_is_reported)
{
    signal_daemon(SIGCONT);
    expect_loss_after(SIGKILL, "the connection to PulseAudio was lost: Connection terminated");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_sink_that_is_given_up_ends_the_wait,
        a_daemon_that_hangs_ends_the_wait_and_is_reported,
        a_daemon_that_dies_ends_the_wait_and_is_reported,
        NULL,
    };
    return suite_run("pulse lost", 60, tests);
}
