/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shape of pictures in a real window: aspect, orientation, hidden edges, and the size of the window. It runs like window_test.c,
 * with both kinds of drawing.
 * Not covered: what files say about the shape (tests/input/test_shape.py).
 */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "suite.h"
#include "window_testing.h"

/* Where each quarter of a picture is seen. The numbers are those of fill_quarter. */
static const struct {
    int32_t matrix[4];
    bool is_upright;
    int quarter_at[4];
} orientations[] = {
    {{1, 0, 0, 1}, true, {0, 1, 2, 3}},    {{0, 1, -1, 0}, false, {2, 0, 3, 1}}, /* as it is, and clockwise */
    {{-1, 0, 0, -1}, true, {3, 2, 1, 0}},  {{0, -1, 1, 0}, false, {1, 3, 0, 2}},
    {{-1, 0, 0, 1}, true, {1, 0, 3, 2}},   {{1, 0, 0, -1}, true, {2, 3, 0, 1}},
    {{0, 1, 1, 0}, false, {0, 2, 1, 3}},   {{0, -1, -1, 0}, false, {3, 1, 2, 0}},
};

static void set_matrix(AVFrame *picture, const int32_t upper_left[4])
{
    AVFrameSideData *const data = av_frame_new_side_data(picture, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    const int32_t one = 1 << 16;
    const int32_t matrix[9] = {one * upper_left[0], one * upper_left[1], 0, one * upper_left[2], one * upper_left[3], 0, 0, 0, 1 << 30};
    ck_assert_ptr_nonnull(data);
    memcpy(data->data, matrix, sizeof matrix);
}

/* Expects one colour up to all edges of the picture, and black on both sides. The window ends at the picture's upper and
 * lower edge. */
static void expect_framed(struct video_sink *sink, int left, int top, int width, int height,
                          uint32_t rgb)
{
    const int right = left + width - 1, bottom = top + height - 1;
    const int middle = left + width / 2, centre = top + height / 2;
    expect_colour(sink, left, centre, rgb);
    expect_colour(sink, right, centre, rgb);
    expect_colour(sink, middle, top, rgb);
    expect_colour(sink, middle, bottom, rgb);
    expect_colour(sink, left - 1, centre, 0x000000);
    expect_colour(sink, right + 1, centre, 0x000000);
    expect_colour(sink, right, bottom, rgb);
}

/* The picture has 320x360 samples, which are twice as wide as high. */
START_TEST(the_sample_aspect_ratio_is_honoured)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(WIDTH / 2, HEIGHT, bt601);
    picture->sample_aspect_ratio = (AVRational){2, 1};
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

/* Its samples are twice as wide as high. */
START_TEST(a_picture_is_turned_and_mirrored)
{
    struct video_sink *sink = open_window();
    for (size_t i = 0; i < sizeof orientations / sizeof *orientations; i++) {
        AVFrame *picture = four_colours(200, 300, bt601);
        struct colour seen[4];
        picture->sample_aspect_ratio = (AVRational){2, 1};
        set_matrix(picture, orientations[i].matrix);
        for (int quarter = 0; quarter < 4; quarter++)
            seen[quarter] = bt601[orientations[i].quarter_at[quarter]];
        ck_assert_int_eq(video_sink_show(sink, picture), 0);
        expect_four_colours(sink, orientations[i].is_upright ? 400 : 300, orientations[i].is_upright ? 300 : 400, seen);
        av_frame_free(&picture);
    }
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(a_turned_picture_keeps_its_aspect_in_a_resized_window)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(400, 200, bt601);
    struct colour seen[4];
    set_matrix(picture, orientations[1].matrix);
    for (int quarter = 0; quarter < 4; quarter++)
        seen[quarter] = bt601[orientations[1].quarter_at[quarter]];
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, 200, 400, seen);
    av_frame_free(&picture); /* as in a pause */
    xdotool("windowsize %1 600 300 windowmove %1 100 150");
    expect_four_colours(sink, 150, 300, seen);
    expect_colour(sink, SCREEN_WIDTH / 2 - 77, SCREEN_HEIGHT / 2, 0);
    expect_colour(sink, SCREEN_WIDTH / 2 + 77, SCREEN_HEIGHT / 2, 0);
    video_sink_destroy(&sink);
}
END_TEST

/* Nothing of what is hidden is seen, at an edge within a sample of chroma neither. */
START_TEST(hidden_edges_are_not_shown)
{
    static const struct colour white = {235, 128, 128, 0xffffff};
    const struct colour colours[4] = {white, bt601[1], bt601[2], bt601[3]};
    static const int lefts[] = {200, 199, 0};
    struct video_sink *sink = open_window();
    for (size_t i = 0; i < sizeof lefts / sizeof *lefts; i++) {
        AVFrame *picture = four_colours(400, 400, colours);
        picture->crop_left = (size_t)lefts[i];
        picture->crop_top = 200;
        ck_assert_int_eq(video_sink_show(sink, picture), 0);
        const int width = 400 - lefts[i];
        expect_colour(sink, SCREEN_WIDTH / 2 + width / 2 - 20, SCREEN_HEIGHT / 2 - 95, bt601[3].rgb);
        expect_colour(sink, SCREEN_WIDTH / 2 - width / 2 - 2, SCREEN_HEIGHT / 2, 0);
        expect_colour(sink, SCREEN_WIDTH / 2 - width / 2 + 2, SCREEN_HEIGHT / 2 - 95, lefts[i] ? bt601[3].rgb : bt601[2].rgb);
        expect_colour(sink, SCREEN_WIDTH / 2, SCREEN_HEIGHT / 2 - 102, 0);
        av_frame_free(&picture);
    }
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(edges_that_leave_nothing_are_ignored)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(WIDTH, HEIGHT, bt601);
    picture->crop_left = WIDTH / 2;
    picture->crop_right = WIDTH / 2;
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(an_aspect_without_sense_is_ignored)
{
    static const AVRational aspects[] = {{0, 0}, {0, 1}, {1, 0}, {-1, 1}, {1, -1}, {1, 100}, {100, 1}, {1, 1000000}, {INT_MAX, 1}, {INT_MIN, INT_MIN}};
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(WIDTH, HEIGHT, bt601);
    for (size_t i = 0; i < sizeof aspects / sizeof *aspects; i++) {
        picture->sample_aspect_ratio = aspects[i];
        ck_assert_int_eq(video_sink_show(sink, picture), 0);
        expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    }
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(a_very_narrow_picture_is_shown)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(1920, 1080, bt709);
    picture->sample_aspect_ratio = (AVRational){1, 20};
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, 1920 * SCREEN_HEIGHT / 1080 / 20, SCREEN_HEIGHT, bt709);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(the_window_follows_the_size_of_the_picture_until_the_user_resizes_it)
{
    struct video_sink *sink = open_window();
    AVFrame *small = four_colours(160, 120, bt601);
    AVFrame *large = four_colours(WIDTH, HEIGHT, bt601);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(video_sink_show(sink, i % 2 ? large : small), 0);
        expect_four_colours(sink, i % 2 ? WIDTH : 160, i % 2 ? HEIGHT : 120, bt601);
        expect_colour(sink, SCREEN_WIDTH / 2 - 300, SCREEN_HEIGHT / 2 - 170, i % 2 ? bt601[0].rgb : 0);
    }
    xdotool("windowsize %1 320 240 windowmove %1 240 180");
    expect_four_colours(sink, 320, 240, bt601);
    ck_assert_int_eq(video_sink_show(sink, large), 0);
    expect_four_colours(sink, 320, 180, bt601);
    expect_colour(sink, SCREEN_WIDTH / 2 - 80, SCREEN_HEIGHT / 2 - 100, 0);
    av_frame_free(&small);
    av_frame_free(&large);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(a_picture_larger_than_the_screen_is_scaled_to_fit)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(1920, 1080, bt709);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, SCREEN_WIDTH, SCREEN_WIDTH * 1080 / 1920, bt709);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(a_resized_window_keeps_the_aspect_and_is_redrawn)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(WIDTH, HEIGHT, bt601);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    xdotool("windowsize %1 320 600 windowmove %1 0 0");
    expect_colour(sink, 160, 50, 0x000000);
    expect_colour(sink, 160, 550, 0x000000);
    expect_colour(sink, 80, 300 - 45, bt601[0].rgb);
    expect_colour(sink, 240, 300 + 45, bt601[3].rgb);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

/* The converter writes whole vectors, which is 4 pixels more than these lines have. */
START_TEST(a_picture_of_any_width_ends_where_its_bars_begin)
{
    static const struct colour green = {112, 72, 58, 0x00bf00};
    const struct colour colours[4] = {green, green, green, green};
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(172, 100, colours);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, 172, 100, colours);
    xdotool("windowsize %1 200 100 windowmove %1 300 200");
    expect_framed(sink, 314, 200, 172, 100, green.rgb);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_framed(sink, 314, 200, 172, 100, green.rgb);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

int main(void)
{
    TCase *const cases = window_cases("window shape");
    tcase_add_test(cases, the_sample_aspect_ratio_is_honoured);
    tcase_add_test(cases, a_picture_is_turned_and_mirrored);
    tcase_add_test(cases, a_turned_picture_keeps_its_aspect_in_a_resized_window);
    tcase_add_test(cases, hidden_edges_are_not_shown);
    tcase_add_test(cases, edges_that_leave_nothing_are_ignored);
    tcase_add_test(cases, an_aspect_without_sense_is_ignored);
    tcase_add_test(cases, a_very_narrow_picture_is_shown);
    tcase_add_test(cases, the_window_follows_the_size_of_the_picture_until_the_user_resizes_it);
    tcase_add_test(cases, a_picture_larger_than_the_screen_is_scaled_to_fit);
    tcase_add_test(cases, a_resized_window_keeps_the_aspect_and_is_redrawn);
    tcase_add_test(cases, a_picture_of_any_width_ends_where_its_bars_begin);
    return suite_run_case("window shape", cases, CK_FORK_GETENV);
}
