/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which streams of a file are played. Not covered: what FFmpeg reads from real files (tests/sinks/test_sound_of_files.py). */
#include "stream_choice.h"

#include <check.h>
#include <libavutil/mem.h>

#include "suite.h"

static AVFormatContext *format;

static void make_format(void)
{
    format = avformat_alloc_context();
}

static void free_format(void)
{
    avformat_free_context(format);
}

/* Appends a stream that FFmpeg has found. */
static AVStream *add(enum AVMediaType type, enum AVCodecID codec, int disposition)
{
    AVStream *const stream = avformat_new_stream(format, NULL);
    AVCodecParameters *const parameters = stream->codecpar;
    parameters->codec_type = type;
    parameters->codec_id = codec;
    parameters->width = parameters->height = 64;
    parameters->sample_rate = 48000;
    av_channel_layout_default(&parameters->ch_layout, 2);
    stream->start_time = 0;
    stream->disposition = disposition;
    return stream;
}

static AVStream *add_sound(int disposition)
{
    return add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, disposition);
}

static AVStream *add_video(int disposition)
{
    return add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_H264, disposition);
}

static void add_program(int id, const AVStream *first, const AVStream *second)
{
    av_new_program(format, id);
    av_program_add_stream_index(format, id, (unsigned)first->index);
    if (second)
        av_program_add_stream_index(format, id, (unsigned)second->index);
}

static AVStream *sound_beside(const AVStream *video)
{
    return stream_choose(format, AVMEDIA_TYPE_AUDIO, video);
}

START_TEST(first_of_several_equal_tracks_is_played_whatever_its_bit_rate)
{
    ck_assert_ptr_null(sound_beside(NULL));
    const AVStream *const video = add_video(AV_DISPOSITION_DEFAULT);
    const AVStream *const first = add_sound(AV_DISPOSITION_DEFAULT);
    AVStream *const second = add_sound(AV_DISPOSITION_DEFAULT);
    first->codecpar->bit_rate = 64000;
    second->codecpar->bit_rate = 192000;
    add_video(AV_DISPOSITION_DEFAULT)->codecpar->bit_rate = 8000000;
    ck_assert_ptr_eq(sound_beside(video), first);
    ck_assert_ptr_eq(stream_choose(format, AVMEDIA_TYPE_VIDEO, NULL), video);
}
END_TEST

START_TEST(first_default_track_comes_before_tracks_that_are_none)
{
    add_sound(0);
    const AVStream *const first = add_sound(AV_DISPOSITION_DEFAULT);
    add_sound(AV_DISPOSITION_DEFAULT);
    ck_assert_ptr_eq(sound_beside(NULL), first);
}
END_TEST

START_TEST(tracks_for_some_people_come_behind_those_for_everybody)
{
    const int kinds[] = {AV_DISPOSITION_COMMENT, AV_DISPOSITION_HEARING_IMPAIRED, AV_DISPOSITION_VISUAL_IMPAIRED,
                         AV_DISPOSITION_DEPENDENT, AV_DISPOSITION_DESCRIPTIONS, AV_DISPOSITION_NON_DIEGETIC};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        add_sound(kinds[i]);
    add_video(AV_DISPOSITION_TIMED_THUMBNAILS);
    add_video(AV_DISPOSITION_STILL_IMAGE);
    const AVStream *const sound = add_sound(0);
    const AVStream *const video = add_video(0);
    ck_assert_ptr_eq(sound_beside(NULL), sound);
    ck_assert_ptr_eq(stream_choose(format, AVMEDIA_TYPE_VIDEO, NULL), video);
}
END_TEST

START_TEST(comment_that_the_author_made_the_default_is_played)
{
    add_sound(0);
    const AVStream *const comment = add_sound(AV_DISPOSITION_DEFAULT | AV_DISPOSITION_COMMENT);
    ck_assert_ptr_eq(sound_beside(NULL), comment);
}
END_TEST

START_TEST(track_without_a_decoder_is_played_only_if_it_is_the_only_one)
{
    const AVStream *const first = add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AC4, AV_DISPOSITION_DEFAULT);
    ck_assert_ptr_eq(sound_beside(NULL), first);
    add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_NONE, AV_DISPOSITION_DEFAULT);
    const AVStream *const decodable = add_sound(AV_DISPOSITION_HEARING_IMPAIRED);
    ck_assert_ptr_eq(sound_beside(NULL), decodable);
}
END_TEST

START_TEST(sound_belongs_to_the_program_of_the_video)
{
    const AVStream *const video = add_video(0);
    const AVStream *const others = add_video(0);
    const AVStream *const their_sound = add_sound(AV_DISPOSITION_DEFAULT);
    const AVStream *const own = add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AC4, AV_DISPOSITION_HEARING_IMPAIRED);
    add_program(1, video, own);
    add_program(2, others, their_sound);
    ck_assert_ptr_eq(sound_beside(video), own);
    ck_assert_ptr_eq(sound_beside(others), their_sound);
    const AVStream *const second = add_sound(0);
    av_program_add_stream_index(format, 1, (unsigned)second->index);
    ck_assert_ptr_eq(sound_beside(video), second);
}
END_TEST

START_TEST(sound_of_no_program_comes_before_that_of_another)
{
    const AVStream *const video = add_video(0);
    const AVStream *const theirs = add_sound(0);
    add_program(1, video, NULL);
    add_program(2, theirs, NULL);
    ck_assert_ptr_eq(sound_beside(video), theirs);
    const AVStream *const unannounced = add_sound(0);
    ck_assert_ptr_eq(sound_beside(video), unannounced);
}
END_TEST

START_TEST(stream_that_is_never_sent_comes_last)
{
    AVStream *const unsent = add_sound(0);
    unsent->codecpar->sample_rate = 0;
    unsent->start_time = AV_NOPTS_VALUE;
    add_video(0)->codecpar->width = 0;
    const AVStream *const sound = add_sound(0);
    const AVStream *const video = add_video(0);
    ck_assert_ptr_eq(sound_beside(NULL), sound);
    ck_assert_ptr_eq(stream_choose(format, AVMEDIA_TYPE_VIDEO, NULL), video);
}
END_TEST

START_TEST(cover_of_an_album_is_no_video)
{
    add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_MJPEG, AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_DEFAULT);
    ck_assert_ptr_null(stream_choose(format, AVMEDIA_TYPE_VIDEO, NULL));
    const AVStream *const video = add_video(0);
    ck_assert_ptr_eq(stream_choose(format, AVMEDIA_TYPE_VIDEO, NULL), video);
}
END_TEST

int main(void)
{
    TCase *const tests = tcase_create("stream_choice");
    tcase_set_timeout(tests, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tests, make_format, free_format);
    tcase_add_test(tests, first_of_several_equal_tracks_is_played_whatever_its_bit_rate);
    tcase_add_test(tests, first_default_track_comes_before_tracks_that_are_none);
    tcase_add_test(tests, tracks_for_some_people_come_behind_those_for_everybody);
    tcase_add_test(tests, comment_that_the_author_made_the_default_is_played);
    tcase_add_test(tests, track_without_a_decoder_is_played_only_if_it_is_the_only_one);
    tcase_add_test(tests, sound_belongs_to_the_program_of_the_video);
    tcase_add_test(tests, sound_of_no_program_comes_before_that_of_another);
    tcase_add_test(tests, stream_that_is_never_sent_comes_last);
    tcase_add_test(tests, cover_of_an_album_is_no_video);
    return suite_run_case("stream_choice", tests, CK_FORK_GETENV);
}
