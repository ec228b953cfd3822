/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fast conversion of 8-bit 4:2:0, against swscale. Not covered: that a window uses it (window_test.c of the sinks). */
#include "video_rgb32.h"

#include <check.h>
#include <libavutil/lfg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { HEIGHT = 6, ODD_HEIGHT = 5, BYTES = 4, EDGE = 0xa5 };

static AVFrame *new_picture(int width, int height)
{
    AVFrame *const picture = av_frame_alloc();
    picture->width = width;
    picture->height = height;
    picture->format = AV_PIX_FMT_YUV420P;
    return picture;
}

/* Returns a picture of samples that have every value; swscale reads beyond the end of lines, and so these have room there. */
static AVFrame *noise(int width, int height)
{
    AVFrame *const picture = new_picture(width, height);
    ck_assert_int_eq(av_frame_get_buffer(picture, 64), 0);
    AVLFG random;
    av_lfg_init(&random, (unsigned)width);
    for (int plane = 0; plane < 3 && picture->buf[plane]; plane++) /* or one buffer has all planes */
        for (size_t i = 0; i < picture->buf[plane]->size; i++)
            picture->buf[plane]->data[i] = (uint8_t)(av_lfg_get(&random) >> 8);
    return picture;
}

/* Returns the same picture in memory that ends with its last sample, so that the sanitizer notices any other that is read. */
static AVFrame *tight_copy(const AVFrame *picture)
{
    AVFrame *const copy = new_picture(picture->width, picture->height);
    for (int plane = 0; plane < 3; plane++) {
        const int width = plane ? picture->width / 2 : picture->width;
        const int height = plane ? (picture->height + 1) / 2 : picture->height;
        copy->linesize[plane] = width;
        copy->data[plane] = malloc((size_t)(width * height));
        for (int y = 0; y < height; y++)
            memcpy(copy->data[plane] + y * width, picture->data[plane] + y * picture->linesize[plane], (size_t)width);
    }
    return copy;
}

static void free_copy(AVFrame *copy)
{
    for (int plane = 0; plane < 3; plane++)
        free(copy->data[plane]);
    av_frame_free(&copy);
}

/* Both results have a column more than the picture, which must keep its value. */
static void expect_as_swscale(const AVFrame *picture)
{
    const struct video_layout layout = video_layout_of(picture);
    const int pitch = (picture->width + 64) * BYTES;
    uint8_t *const ours = malloc((size_t)(pitch * picture->height));
    uint8_t *const theirs = malloc((size_t)(pitch * picture->height));
    memset(ours, EDGE, (size_t)(pitch * picture->height));
    struct video_rgb32 rgb32;
    ck_assert(video_rgb32_init(&rgb32, &layout));
    AVFrame *const tight = tight_copy(picture);
    video_rgb32_convert(&rgb32, tight, ours, pitch);
    free_copy(tight);
    struct SwsContext *const scaler =
        video_layout_scaler(&layout, picture->width, picture->height, AV_PIX_FMT_RGB32, SWS_BILINEAR);
    sws_scale(scaler, (const uint8_t *const *)picture->data, picture->linesize, 0, picture->height,
              (uint8_t *const[4]){theirs}, (const int[4]){pitch});
    for (int y = 0; y < picture->height; y++) {
        ck_assert_msg(!memcmp(ours + y * pitch, theirs + y * pitch, (size_t)(picture->width * BYTES)),
                      "line %d of %d, matrix %d, %s range", y, picture->width, (int)layout.colorspace,
                      layout.full_range ? "full" : "limited");
        ck_assert_uint_eq(ours[y * pitch + picture->width * BYTES], EDGE);
    }
    sws_freeContext(scaler);
    free(ours);
    free(theirs);
}

static bool can_convert(void)
{
    const struct video_layout layout = {.width = 64, .height = 2, .format = AV_PIX_FMT_YUV420P, .colorspace = AVCOL_SPC_BT709};
    struct video_rgb32 rgb32;
    const bool can = video_rgb32_init(&rgb32, &layout);
    if (!can)
        printf("not tested: this CPU has no AVX2\n");
    return can;
}

START_TEST(each_matrix_and_range_is_converted_as_by_swscale)
{
    static const enum AVColorSpace matrices[] = {AVCOL_SPC_BT709,     AVCOL_SPC_FCC,        AVCOL_SPC_BT470BG,
                                                 AVCOL_SPC_SMPTE170M, AVCOL_SPC_SMPTE240M, AVCOL_SPC_BT2020_NCL};
    if (!can_convert())
        return;
    AVFrame *picture = noise(1920, 64);
    for (size_t i = 0; i < 2 * sizeof matrices / sizeof *matrices; i++) {
        picture->colorspace = matrices[i / 2];
        picture->color_range = i % 2 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
        expect_as_swscale(picture);
    }
    av_frame_free(&picture);
}
END_TEST

START_TEST(all_widths_end_with_the_line)
{
    static const int widths[] = {32, 48, 64, 80, 720, 1280, 1360}; /* swscale itself rounds otherwise where 8 do not divide the width */
    if (!can_convert())
        return;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        AVFrame *picture = noise(widths[i], HEIGHT);
        picture->colorspace = AVCOL_SPC_BT709;
        expect_as_swscale(picture);
        av_frame_free(&picture);
    }
}
END_TEST

START_TEST(a_last_line_alone_has_its_chroma)
{
    if (!can_convert())
        return;
    AVFrame *picture = noise(96, ODD_HEIGHT);
    struct video_rgb32 rgb32;
    const struct video_layout layout = video_layout_of(picture);
    ck_assert(video_rgb32_init(&rgb32, &layout));
    AVFrame *const tight = tight_copy(picture);
    uint32_t pixels[ODD_HEIGHT][96];
    video_rgb32_convert(&rgb32, tight, (uint8_t *)pixels, sizeof pixels[0]);
    memcpy(picture->data[0], picture->data[0] + 4 * picture->linesize[0], 96); /* the first line becomes a copy of the last one */
    memcpy(picture->data[1], picture->data[1] + 2 * picture->linesize[1], 48);
    memcpy(picture->data[2], picture->data[2] + 2 * picture->linesize[2], 48);
    uint32_t copy[ODD_HEIGHT][96];
    video_rgb32_convert(&rgb32, picture, (uint8_t *)copy, sizeof copy[0]);
    ck_assert_mem_eq(copy[0], pixels[4], sizeof copy[0]);
    free_copy(tight);
    av_frame_free(&picture);
}
END_TEST

START_TEST(other_pictures_are_left_to_swscale)
{
    static const struct video_layout others[] = {
        {.width = 64, .format = AV_PIX_FMT_YUV422P, .colorspace = AVCOL_SPC_BT709},
        {.width = 64, .format = AV_PIX_FMT_YUV420P10, .colorspace = AVCOL_SPC_BT709},
        {.width = 64, .format = AV_PIX_FMT_NV12, .colorspace = AVCOL_SPC_BT709},
        {.width = 63, .format = AV_PIX_FMT_YUV420P, .colorspace = AVCOL_SPC_BT709},
        {.width = 30, .format = AV_PIX_FMT_YUV420P, .colorspace = AVCOL_SPC_BT709},
    };
    struct video_rgb32 rgb32;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert(!video_rgb32_init(&rgb32, &others[i]));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_matrix_and_range_is_converted_as_by_swscale,
        all_widths_end_with_the_line,
        a_last_line_alone_has_its_chroma,
        other_pictures_are_left_to_swscale,
        NULL,
    };
    return suite_run("rgb32", SUITE_TIMEOUT_DEFAULT, tests);
}
