/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clock beside a sink that answers late. This file is the sound: it defines the functions of audio_track.h and audio_sink.h that
 * the clock calls. Not covered: the clock's arithmetic (test_sync.c); real sinks (tests/sinks, tests/observer).
 */
#include "media_clock.h"
#include "ns.h"

#include <check.h>
#include <errno.h>
#include <time.h>

#include "suite.h"

static struct {
    int heard;
    int64_t pts_ns;
    bool over;
    bool paused;
    bool had_packets; /* what audio_track_heard was given */
    bool starved;     /* and this */
    bool given_up;
} sound;

int audio_track_heard(struct audio_track *track, const struct audio_surroundings *around, int64_t *pts_ns)
{
    (void)track;
    sound.had_packets = around->has_packets;
    sound.starved = around->starved;
    if (!sound.heard)
        *pts_ns = sound.pts_ns;
    return sound.heard;
}

bool audio_track_is_over(struct audio_track *track)
{
    (void)track;
    return sound.over || sound.given_up;
}

struct audio_sink *audio_track_sink(struct audio_track *track)
{
    return (struct audio_sink *)track;
}

void audio_sink_pause(struct audio_sink *sink, bool paused)
{
    (void)sink;
    sound.paused = paused;
}

void audio_sink_give_up(struct audio_sink *sink, const char *cause)
{
    (void)sink;
    (void)cause;
    sound.given_up = true;
}

const char *audio_sink_error(struct audio_sink *sink)
{
    (void)sink;
    return NULL;
}

static struct read_ahead *ahead;
static struct media_clock movie; /* not "clock", which time.h has */
static const int64_t begin_ns = 10 * NS_PER_S;

static void setup(void)
{
    struct packet_queue *packets = NULL;
    ck_assert_int_eq(read_ahead_create(&ahead), 0);
    static AVCodecParameters parameters = {.codec_type = AVMEDIA_TYPE_AUDIO};
    static const AVStream source = {.codecpar = &parameters, .time_base = {1, 1000}};
    const struct packet_queue_settings settings = {.limit_bytes = 1000, .ahead = ahead, .stream = READ_SOUND, .source = &source};
    ck_assert_int_eq(queue_create(&packets, &settings), 0);
    sound.heard = -EINPROGRESS;
    movie = (struct media_clock){.audio = (struct audio_track *)&sound, .sound_queue = packets};
    media_clock_restart(&movie, begin_ns, false);
}

static void teardown(void)
{
    queue_destroy(&movie.sound_queue);
    read_ahead_destroy(&ahead);
}

static void pass_time(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = 2 * NS_PER_MS}, NULL);
    media_clock_observe_sound(&movie);
}

static void expect_standing_at(int64_t pts_ns)
{
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(media_clock_now_ns(&movie), pts_ns);
        pass_time();
    }
}

static void expect_running_from(int64_t pts_ns)
{
    const int64_t now_ns = media_clock_now_ns(&movie);
    ck_assert_int_ge(now_ns, pts_ns);
    pass_time();
    sound.heard = -EAGAIN; /* nothing more is known, so it runs by itself */
    pass_time();
    ck_assert_int_gt(media_clock_now_ns(&movie), now_ns);
}

START_TEST(clock_stands_until_the_sink_plays)
{
    media_clock_start(&movie);
    ck_assert(!sound.paused);
    expect_standing_at(begin_ns);
    sound.heard = 0;
    sound.pts_ns = begin_ns - 200 * NS_PER_MS; /* the sink has announced the first sample */
    media_clock_observe_sound(&movie);
    ck_assert_int_lt(media_clock_now_ns(&movie), begin_ns);
    expect_running_from(sound.pts_ns);
}
END_TEST

START_TEST(clock_runs_while_there_is_no_sound)
{
    sound.heard = -EAGAIN;
    media_clock_start(&movie);
    ck_assert(!sound.had_packets);
    expect_running_from(begin_ns);
}
END_TEST

START_TEST(clock_waits_again_after_a_pause)
{
    sound.heard = 0;
    sound.pts_ns = begin_ns;
    media_clock_start(&movie);
    media_clock_toggle_pause(&movie);
    ck_assert(sound.paused);
    const int64_t paused_at_ns = media_clock_now_ns(&movie);
    expect_standing_at(paused_at_ns);
    sound.heard = -EINPROGRESS;
    media_clock_toggle_pause(&movie);
    ck_assert(!sound.paused);
    expect_standing_at(paused_at_ns);
    sound.heard = 0;
    sound.pts_ns = paused_at_ns;
    media_clock_observe_sound(&movie);
    expect_running_from(paused_at_ns);
}
END_TEST

START_TEST(pause_before_the_sink_plays_stays_a_pause)
{
    media_clock_start(&movie);
    media_clock_toggle_pause(&movie);
    sound.heard = 0;
    sound.pts_ns = begin_ns + NS_PER_S;
    expect_standing_at(begin_ns);
}
END_TEST

START_TEST(clock_runs_on_when_the_sound_ends_before_the_sink_plays)
{
    media_clock_start(&movie);
    expect_standing_at(begin_ns);
    sound.over = true;
    media_clock_observe_sound(&movie);
    expect_running_from(begin_ns);
}
END_TEST

START_TEST(sound_that_is_missing_in_the_file_is_starved)
{
    movie.queue = movie.sound_queue; /* any queue that is not full */
    movie.ahead = ahead;
    read_ahead_want(ahead, READ_SOUND, true);
    media_clock_start(&movie);
    ck_assert(!sound.starved);
    read_ahead_add(ahead, READ_VIDEO, READ_AHEAD_LITTLE_NS);
    media_clock_observe_sound(&movie);
    ck_assert(sound.starved);
    movie.queue = NULL; /* without pictures, nothing can run on */
    media_clock_observe_sound(&movie);
    ck_assert(!sound.starved);
}
END_TEST

START_TEST(seek_forgets_the_wait)
{
    media_clock_start(&movie);
    pass_time();
    ck_assert(movie.waiting.on);
    media_clock_restart(&movie, 2 * begin_ns, false);
    ck_assert(!movie.waiting.on);
    media_clock_start(&movie);
    expect_standing_at(2 * begin_ns);
}
END_TEST

static void wait_long(void)
{
    pass_time();
    movie.waiting.since_ns -= 11 * NS_PER_S;
    pass_time();
}

START_TEST(sink_that_never_plays_is_given_up)
{
    media_clock_start(&movie);
    expect_standing_at(begin_ns);
    ck_assert(!sound.given_up);
    wait_long();
    ck_assert(sound.given_up);
    expect_running_from(begin_ns);
}
END_TEST

START_TEST(time_of_a_stopped_program_is_no_wait_for_the_sink)
{
    media_clock_start(&movie);
    pass_time();
    movie.observed_ns -= 11 * NS_PER_S;
    movie.waiting.since_ns -= 11 * NS_PER_S;
    pass_time();
    ck_assert(!sound.given_up);
    ck_assert(!movie.waiting.noted);
}
END_TEST

START_TEST(sink_that_stops_later_is_waited_for)
{
    sound.heard = 0;
    sound.pts_ns = begin_ns;
    media_clock_start(&movie);
    sound.heard = -EINPROGRESS;
    pass_time();
    wait_long();
    media_clock_restart(&movie, begin_ns, false);
    media_clock_start(&movie);
    wait_long();
    ck_assert(!sound.given_up);
    expect_standing_at(begin_ns);
}
END_TEST

int main(void)
{
    TCase *const tests = tcase_create("media_clock");
    tcase_set_timeout(tests, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, clock_stands_until_the_sink_plays);
    tcase_add_test(tests, clock_runs_while_there_is_no_sound);
    tcase_add_test(tests, clock_waits_again_after_a_pause);
    tcase_add_test(tests, pause_before_the_sink_plays_stays_a_pause);
    tcase_add_test(tests, clock_runs_on_when_the_sound_ends_before_the_sink_plays);
    tcase_add_test(tests, sound_that_is_missing_in_the_file_is_starved);
    tcase_add_test(tests, seek_forgets_the_wait);
    tcase_add_test(tests, sink_that_never_plays_is_given_up);
    tcase_add_test(tests, time_of_a_stopped_program_is_no_wait_for_the_sink);
    tcase_add_test(tests, sink_that_stops_later_is_waited_for);
    return suite_run_case("media_clock", tests, CK_FORK_GETENV);
}
