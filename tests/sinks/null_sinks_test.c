/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ideal sound card and the ideal screen, on the real clock.
 * Not covered: how exactly the card keeps time; that is arithmetic, and playout_test.c has it.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audio_sink.h"
#include "video_sink.h"

#define MS(n) (INT64_C(1000000) * (n))
#define S(n) (INT64_C(1000000000) * (n))

enum { RATE = 48000 };

static const struct audio_format stereo = {.rate = RATE, .channels = 2};
static char why[200];

static struct audio_sink *open_sink(const char *kind)
{
    struct audio_sink *sink;
    ck_assert_int_eq(audio_sink_create(&sink, kind, &stereo, why, sizeof why), 0);
    ck_assert_str_eq(audio_sink_kind(sink), kind);
    return sink;
}

static void nap(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = MS(1)}, NULL);
}

static const float silence[RATE * 2];

START_TEST(an_unknown_sink_is_refused_with_a_reason)
{
    struct audio_sink *audio = (void *)why;
    ck_assert_int_eq(audio_sink_create(&audio, "gramophone", &stereo, why, sizeof why), -EINVAL);
    ck_assert_ptr_null(audio);
    ck_assert_ptr_nonnull(strstr(why, "gramophone"));
    struct video_sink *video = (void *)why;
    ck_assert_int_eq(video_sink_create(&video, "slides", "title", why, sizeof why), -EINVAL);
    ck_assert_ptr_null(video);
    ck_assert_ptr_nonnull(strstr(why, "slides"));
}
END_TEST

START_TEST(an_impossible_format_is_refused)
{
    const struct audio_format impossible[] = {{0, 2}, {RATE, 0}, {RATE, 3}, {-1, 1}, {1000000, 2}};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        struct audio_sink *sink;
        ck_assert_int_eq(audio_sink_create(&sink, "null", &impossible[i], why, sizeof why),
                         -EINVAL);
        ck_assert_ptr_null(sink);
    }
}
END_TEST

START_TEST(sound_is_heard_to_its_last_sample)
{
    struct audio_sink *sink = open_sink("null");
    ck_assert(audio_sink_drained(sink));
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 20, S(3)), 0);
    int64_t last_ns = 0;
    while (!audio_sink_drained(sink)) {
        int64_t pts_ns = last_ns;
        audio_sink_heard(sink, &pts_ns);
        ck_assert_int_ge(pts_ns, last_ns);
        last_ns = pts_ns;
        nap();
    }
    ck_assert_int_eq(audio_sink_heard(sink, &last_ns), 0);
    ck_assert_int_eq(last_ns, S(3) + MS(50));
    audio_sink_destroy(&sink);
    ck_assert_ptr_null(sink);
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(a_paused_card_is_silent_until_it_goes_on)
{
    struct audio_sink *sink = open_sink("null");
    int64_t pts_ns;
    audio_sink_pause(sink, true);
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE / 2, 0), 0);
    nap();
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EAGAIN);
    audio_sink_pause(sink, false);
    while (audio_sink_heard(sink, &pts_ns) == -EAGAIN)
        nap();
    audio_sink_pause(sink, true);
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), 0);
    const int64_t paused_at_ns = pts_ns;
    nap();
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), 0);
    ck_assert_int_eq(pts_ns, paused_at_ns);
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

START_TEST(a_writer_waits_at_a_full_buffer_and_an_interrupt_frees_it)
{
    struct audio_sink *sink = open_sink("null");
    audio_sink_pause(sink, true);
    pthread_t feeder;
    pthread_create(&feeder, NULL, write_ten_seconds, sink);
    for (int i = 0; i < 20; i++)
        nap();
    audio_sink_interrupt(sink, true);
    void *ret;
    pthread_join(feeder, &ret);
    ck_assert_int_eq((intptr_t)ret, -ECANCELED);
    ck_assert_int_eq(audio_sink_write(sink, silence, 1, 0), -ECANCELED);
    audio_sink_flush(sink);
    audio_sink_interrupt(sink, false);
    ck_assert_int_eq(audio_sink_write(sink, silence, 1, 0), 0);
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(a_flush_makes_room_and_forgets_the_time)
{
    struct audio_sink *sink = open_sink("null");
    int64_t pts_ns;
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, 0), 0);
    while (audio_sink_heard(sink, &pts_ns) == -EAGAIN)
        nap();
    audio_sink_pause(sink, true);
    audio_sink_flush(sink);
    ck_assert(audio_sink_drained(sink));
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EAGAIN);
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, S(60)), 0);
    audio_sink_pause(sink, false);
    while (audio_sink_heard(sink, &pts_ns) == -EAGAIN)
        nap();
    ck_assert_int_gt(pts_ns, S(60));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(an_untimed_sink_hears_an_hour_at_once)
{
    struct audio_sink *sink = open_sink("untimed");
    for (int i = 0; i < 3600; i++)
        ck_assert_int_eq(audio_sink_write(sink, silence, RATE, S(i)), 0);
    int64_t pts_ns;
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), 0);
    ck_assert_int_eq(pts_ns, S(3600));
    ck_assert(audio_sink_drained(sink));
    ck_assert_ptr_null(audio_sink_error(sink));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(the_ideal_screen_counts_what_it_is_shown)
{
    struct video_sink *sink;
    ck_assert_int_eq(video_sink_create(&sink, "null", "title", why, sizeof why), 0);
    AVFrame *picture = av_frame_alloc();
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(video_sink_show(sink, picture), 0);
    ck_assert_int_eq(video_sink_shown(sink), 5);
    ck_assert_int_eq(video_sink_poll(sink), INPUT_NONE);
    ck_assert_str_eq(video_sink_error(sink), "");
    video_sink_set_title(sink, "another");
    av_frame_free(&picture);
    video_sink_destroy(&sink);
    ck_assert_ptr_null(sink);
    video_sink_destroy(&sink);
}
END_TEST

int main(void)
{
    TCase *const cases = tcase_create("null sinks");
    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, an_unknown_sink_is_refused_with_a_reason);
    tcase_add_test(cases, an_impossible_format_is_refused);
    tcase_add_test(cases, sound_is_heard_to_its_last_sample);
    tcase_add_test(cases, a_paused_card_is_silent_until_it_goes_on);
    tcase_add_test(cases, a_writer_waits_at_a_full_buffer_and_an_interrupt_frees_it);
    tcase_add_test(cases, a_flush_makes_room_and_forgets_the_time);
    tcase_add_test(cases, an_untimed_sink_hears_an_hour_at_once);
    tcase_add_test(cases, the_ideal_screen_counts_what_it_is_shown);
    Suite *const suite = suite_create("null sinks");
    suite_add_tcase(suite, cases);
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
