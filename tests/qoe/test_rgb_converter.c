/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* If a picture does not state its colours, the converter assumes the same as the player. Not here: the arithmetic
 * (test_qoe.py compares it with ffmpeg). */
#include "rgb_converter.h"
#include "video_layout.h"

#include <check.h>
#include <libavutil/mem.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { WIDTH = 64, GREY = 128, WHITE = 235, SCALER_ERROR = 3 };

static AVFrame *uniform(enum AVPixelFormat format, int height, int luma)
{
    AVFrame *const frame = av_frame_alloc();
    ck_assert_ptr_nonnull(frame);
    frame->width = WIDTH;
    frame->height = height;
    frame->format = format;
    ck_assert_int_eq(av_frame_get_buffer(frame, 0), 0);
    memset(frame->data[0], luma, (size_t)frame->linesize[0] * (size_t)height);
    for (int plane = 1; plane < 3; plane++)
        memset(frame->data[plane], GREY, (size_t)frame->linesize[plane] * (size_t)(height / 2));
    return frame;
}

/* Returns the first byte of the picture in RGB. */
static int convert(struct rgb_converter *converter, AVFrame *frame)
{
    struct rgb_picture picture = {0};
    rgb_converter_init(converter);
    ck_assert_int_eq(rgb_convert(converter, frame, &picture), 0);
    const int red = picture.pixels[0];
    av_freep(&picture.pixels);
    return red;
}

START_TEST(untagged_pictures_get_the_matrix_that_the_player_uses)
{
    static const int heights[] = {480, 576, 600, 720, 1080};
    for (int i = 0; i < (int)(sizeof heights / sizeof *heights); i++) {
        struct rgb_converter converter;
        AVFrame *frame = uniform(AV_PIX_FMT_YUV420P, heights[i], WHITE);
        convert(&converter, frame);
        ck_assert_int_eq(converter.matrix, video_layout_of(frame).colorspace);
        rgb_converter_finish(&converter);
        av_frame_free(&frame);
    }
}
END_TEST

START_TEST(range_may_be_given_by_the_format_alone)
{
    static const struct {
        enum AVPixelFormat format;
        int red;
    } cases[] = {{AV_PIX_FMT_YUV420P, 255}, {AV_PIX_FMT_YUVJ420P, WHITE}};
    for (int i = 0; i < 2; i++) {
        struct rgb_converter converter;
        AVFrame *frame = uniform(cases[i].format, 64, WHITE);
        ck_assert_int_le(abs(convert(&converter, frame) - cases[i].red), SCALER_ERROR);
        rgb_converter_finish(&converter);
        av_frame_free(&frame);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        untagged_pictures_get_the_matrix_that_the_player_uses,
        range_may_be_given_by_the_format_alone,
        NULL,
    };
    return suite_run("rgb_converter", SUITE_TIMEOUT_DEFAULT, tests);
}
