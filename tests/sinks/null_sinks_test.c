/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ideal sound card and the ideal screen, on the real clock.
 * Not covered: how exactly the card keeps time; playout_test.c tests this arithmetic.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "sound_testing.h"
#include "suite.h"
#include "video_sink.h"

static char why[200];

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
    ck_assert_int_eq(play_to_end(sink), S(3) + MS(50));
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
    wait_until_heard(sink);
    audio_sink_pause(sink, true);
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), 0);
    const int64_t paused_at_ns = pts_ns;
    nap();
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), 0);
    ck_assert_int_eq(pts_ns, paused_at_ns);
    audio_sink_destroy(&sink);
}
END_TEST

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
    wait_until_heard(sink);
    audio_sink_pause(sink, true);
    audio_sink_flush(sink);
    ck_assert(audio_sink_drained(sink));
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), -EAGAIN);
    ck_assert_int_eq(audio_sink_write(sink, silence, RATE, S(60)), 0);
    audio_sink_pause(sink, false);
    ck_assert_int_gt(wait_until_heard(sink), S(60));
    audio_sink_destroy(&sink);
}
END_TEST

START_TEST(the_ideal_screen_counts_the_pictures_shown)
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
    const TTest *const tests[] = {
        an_unknown_sink_is_refused_with_a_reason,
        an_impossible_format_is_refused,
        sound_is_heard_to_its_last_sample,
        a_paused_card_is_silent_until_it_goes_on,
        a_writer_waits_at_a_full_buffer_and_an_interrupt_frees_it,
        a_flush_makes_room_and_forgets_the_time,
        the_ideal_screen_counts_the_pictures_shown,
        NULL,
    };
    return suite_run("null sinks", 30, tests);
}
