/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Colours: every pixel format becomes the right RGB, by the formulas of the matrices, with its tags and without. Not here: where
 * swscale puts the samples of chroma (test_qoe.py compares whole pictures with ffmpeg's).
 */
#include "rgb_converter.h"
#include "video_layout.h"

#include <check.h>
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { WIDTH = 64, HEIGHT = 48, GREY = 128, WHITE = 235, SCALER_ERROR = 3 };

static AVFrame *blank(enum AVPixelFormat format, int height)
{
    AVFrame *const frame = av_frame_alloc();
    ck_assert_ptr_nonnull(frame);
    frame->width = WIDTH;
    frame->height = height;
    frame->format = format;
    ck_assert_int_eq(av_frame_get_buffer(frame, 0), 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, 0, frame->buf[i]->size);
    return frame;
}

static AVFrame *uniform(enum AVPixelFormat format, int height, int luma)
{
    AVFrame *const frame = blank(format, height);
    memset(frame->data[0], luma, (size_t)frame->linesize[0] * (size_t)height);
    for (int plane = 1; plane < 3; plane++)
        memset(frame->data[plane], GREY, (size_t)frame->linesize[plane] * (size_t)(height / 2));
    return frame;
}

/* A sample is this part of the largest one, for each component. */
static const double colour[4] = {0.55, 0.4, 0.62, 0.3};

static uint32_t sample_of(const AVPixFmtDescriptor *format, int component)
{
    if (!(format->flags & AV_PIX_FMT_FLAG_FLOAT))
        return (uint32_t)lrint(colour[component] * ((1 << format->comp[component].depth) - 1));
    union {
        float number;
        uint32_t bits;
    } sample = {.number = (float)colour[component]};
    return sample.bits;
}

/* Fills the whole picture with one colour. */
static AVFrame *painted(enum AVPixelFormat name)
{
    const AVPixFmtDescriptor *const format = av_pix_fmt_desc_get(name);
    AVFrame *const frame = blank(name, HEIGHT);
    const bool is_yuv = format->nb_components > 2 && !(format->flags & AV_PIX_FMT_FLAG_RGB);
    for (int component = 0; component < format->nb_components; component++) {
        const bool is_chroma = is_yuv && (component == 1 || component == 2);
        const int width = is_chroma ? AV_CEIL_RSHIFT(WIDTH, format->log2_chroma_w) : WIDTH;
        const int height = is_chroma ? AV_CEIL_RSHIFT(HEIGHT, format->log2_chroma_h) : HEIGHT;
        uint32_t line[WIDTH];
        for (int x = 0; x < WIDTH; x++)
            line[x] = sample_of(format, component);
        for (int y = 0; y < height; y++)
            av_write_image_line2(line, frame->data, frame->linesize, format, 0, y, component, width, sizeof *line);
    }
    return frame;
}

/* Returns a component from 0 to 1, or from -0.5 to 0.5 for chroma. */
static double value_of(const AVPixFmtDescriptor *format, int component, bool is_full)
{
    const int depth = format->comp[component].depth;
    const bool is_chroma = format->nb_components > 2 && component > 0;
    if (format->flags & AV_PIX_FMT_FLAG_FLOAT)
        return is_full ? colour[component] : (255 * colour[component] - 16) / 219;
    const double sample = sample_of(format, component), most = (1 << depth) - 1, unit = ldexp(1, depth - 8);
    if (format->flags & AV_PIX_FMT_FLAG_RGB)
        return sample / most;
    if (is_full)
        return is_chroma ? (sample - 128 * unit) / most : sample / most;
    return is_chroma ? (sample / unit - 128) / 224 : (sample / unit - 16) / 219;
}

struct weights {
    double red, blue;
};

static void expected_rgb(const AVFrame *frame, bool is_full, const struct weights *weights, double rgb[3])
{
    const AVPixFmtDescriptor *const format = av_pix_fmt_desc_get(frame->format);
    double value[3];
    for (int i = 0; i < 3; i++)
        value[i] = value_of(format, i < format->nb_components ? i : 0, is_full);
    memcpy(rgb, value, sizeof value);
    if (format->flags & AV_PIX_FMT_FLAG_RGB)
        return;
    if (format->nb_components < 3) {
        rgb[0] = rgb[1] = rgb[2] = value[0];
    } else if (!weights) { /* YCgCo */
        rgb[0] = value[0] - value[1] + value[2];
        rgb[1] = value[0] + value[1];
        rgb[2] = value[0] - value[1] - value[2];
    } else {
        rgb[0] = value[0] + 2 * (1 - weights->red) * value[2];
        rgb[2] = value[0] + 2 * (1 - weights->blue) * value[1];
        rgb[1] = (value[0] - weights->red * rgb[0] - weights->blue * rgb[2]) / (1 - weights->red - weights->blue);
    }
}

/* Checks the colour of the middle of the picture, and frees the frame. weights: NULL for YCgCo. */
static void expect_colour(AVFrame *frame, bool is_full, const struct weights *weights)
{
    const AVPixFmtDescriptor *const format = av_pix_fmt_desc_get(frame->format);
    struct rgb_converter converter;
    struct rgb_picture picture = {0};
    double rgb[3];
    rgb_converter_init(&converter);
    expected_rgb(frame, is_full, weights, rgb);
    ck_assert_msg(rgb_convert(&converter, frame, &picture) == 0, "%s", format->name);
    ck_assert_msg(picture.is_deep == (format->comp[0].depth > 8), "%s", format->name);
    const uint8_t *const row = picture.pixels + HEIGHT / 2 * picture.stride;
    const int depth = format->comp[0].depth;
    const double step = depth < 8 ? 1.0 / ((1 << depth) - 1) : 0; /* swscale fills the lower bits in its own ways */
    for (int i = 0; i < 3; i++) {
        const int at = WIDTH / 2 * 3 + i;
        const double found = picture.is_deep ? ((const uint16_t *)row)[at] / 65535.0 : row[at] / 255.0;
        /* swscale's white is 255/256 of 16 bits; its tables of 8 bits are off by up to 3. */
        const double tolerance = (picture.is_deep ? 0.005 : SCALER_ERROR / 255.0) + step;
        ck_assert_msg(fabs(found - rgb[i]) < tolerance, "%s %s, sample %d: %.4f, expected %.4f", format->name,
                      is_full ? "full" : "limited", i, found, rgb[i]);
    }
    av_freep(&picture.pixels);
    rgb_converter_finish(&converter);
    av_frame_free(&frame);
}

/* Palettes, black and white, XYZ, Bayer and 16-bit floats have no such formulas. */
static bool has_formula(const AVPixFmtDescriptor *format)
{
    const uint64_t others = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_XYZ |
                            AV_PIX_FMT_FLAG_BAYER;
    const bool is_half_float = (format->flags & AV_PIX_FMT_FLAG_FLOAT) && format->comp[0].depth < 32;
    return !(format->flags & others) && !is_half_float && sws_isSupportedInput(av_pix_fmt_desc_get_id(format));
}

static const struct weights bt709 = {0.2126, 0.0722}, bt601 = {0.299, 0.114}, bt2020 = {0.2627, 0.0593}, smpte240m = {0.212, 0.087},
                            fcc = {0.30, 0.11};

START_TEST(every_pixel_format_has_its_colours_in_each_range)
{
    int formats = 0;
    for (const AVPixFmtDescriptor *format = NULL; (format = av_pix_fmt_desc_next(format));) {
        if (!has_formula(format))
            continue;
        const bool is_yuv = format->nb_components > 2 && !(format->flags & AV_PIX_FMT_FLAG_RGB);
        const bool is_gray = format->nb_components < 3;
        const bool is_old_full = !strncmp(format->name, "yuvj", 4);
        static const enum AVColorRange ranges[] = {AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG, AVCOL_RANGE_UNSPECIFIED};
        for (int i = 0; i < 3; i++) {
            AVFrame *const frame = painted(av_pix_fmt_desc_get_id(format));
            frame->color_range = ranges[i];
            frame->colorspace = AVCOL_SPC_BT709;
            const bool is_limited_yuv = is_yuv && ranges[i] != AVCOL_RANGE_JPEG && !is_old_full;
            const bool is_limited = is_limited_yuv || (is_gray && ranges[i] == AVCOL_RANGE_MPEG);
            expect_colour(frame, !is_limited, &bt709);
        }
        formats++;
    }
    ck_assert_int_gt(formats, 170);
}
END_TEST

START_TEST(every_matrix_has_its_colours)
{
    static const struct {
        enum AVColorSpace tag;
        enum AVColorPrimaries primaries;
        const struct weights *weights;
    } cases[] = {
        {AVCOL_SPC_BT709, AVCOL_PRI_UNSPECIFIED, &bt709}, {AVCOL_SPC_SMPTE170M, AVCOL_PRI_UNSPECIFIED, &bt601},
        {AVCOL_SPC_BT470BG, AVCOL_PRI_UNSPECIFIED, &bt601}, {AVCOL_SPC_FCC, AVCOL_PRI_UNSPECIFIED, &fcc},
        {AVCOL_SPC_SMPTE240M, AVCOL_PRI_UNSPECIFIED, &smpte240m}, {AVCOL_SPC_BT2020_NCL, AVCOL_PRI_UNSPECIFIED, &bt2020},
        {AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_PRI_BT2020, &bt2020}, {AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_PRI_BT709, &bt709},
        {AVCOL_SPC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED, &bt601}, /* a small picture */
        {AVCOL_SPC_RGB, AVCOL_PRI_UNSPECIFIED, &bt601},         /* no such picture exists */
        {AVCOL_SPC_YCGCO, AVCOL_PRI_UNSPECIFIED, NULL},
    };
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12, AV_PIX_FMT_YUYV422, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_YUV411P,
        AV_PIX_FMT_YUV444P9, AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P10BE, AV_PIX_FMT_P010, AV_PIX_FMT_YUV422P12,
        AV_PIX_FMT_YUV444P14BE, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_YUVA444P16BE, AV_PIX_FMT_YUV420P16,
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t j = 0; j < 2 * sizeof formats / sizeof *formats; j++) {
            AVFrame *const frame = painted(formats[j / 2]);
            frame->colorspace = cases[i].tag;
            frame->color_primaries = cases[i].primaries;
            frame->color_range = j % 2 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
            expect_colour(frame, j % 2, cases[i].weights);
        }
    }
}
END_TEST

START_TEST(matrix_without_a_known_conversion_is_replaced_and_named)
{
    static const enum AVColorSpace unknown[] = {AVCOL_SPC_ICTCP, AVCOL_SPC_BT2020_CL, AVCOL_SPC_CHROMA_DERIVED_CL,
                                                AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_SPC_YCGCO_RE, AVCOL_SPC_YCGCO_RO,
                                                AVCOL_SPC_SMPTE2085, AVCOL_SPC_IPT_C2};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct rgb_converter converter;
        struct rgb_picture picture = {0};
        char text[100], expected[100];
        AVFrame *frame = painted(AV_PIX_FMT_YUV444P10);
        frame->colorspace = unknown[i];
        rgb_converter_init(&converter);
        ck_assert_int_eq(rgb_convert(&converter, frame, &picture), 0);
        snprintf(expected, sizeof expected, "RGB48 64x48, %s for %s, limited range", av_color_space_name(video_layout_of(frame).colorspace),
                 av_color_space_name(unknown[i]));
        ck_assert_str_eq(rgb_converter_description(&converter, text, sizeof text), expected);
        av_freep(&picture.pixels);
        rgb_converter_finish(&converter);
        av_frame_free(&frame);
    }
}
END_TEST

START_TEST(pixel_format_that_swscale_does_not_know_is_refused)
{
    struct rgb_converter converter;
    struct rgb_picture picture = {0};
    AVFrame *frame = blank(AV_PIX_FMT_XV30BE, HEIGHT);
    rgb_converter_init(&converter);
    ck_assert_int_eq(rgb_convert(&converter, frame, &picture), AVERROR(ENOTSUP));
    ck_assert_ptr_nonnull(strstr(converter.refusal, "xv30be"));
    rgb_converter_finish(&converter);
    av_frame_free(&frame);
}
END_TEST

START_TEST(one_step_of_10_bits_is_a_step)
{
    struct rgb_converter converter;
    struct rgb_picture before = {0}, after = {0};
    rgb_converter_init(&converter);
    for (int step = 0; step < 8; step++) {
        AVFrame *frame = blank(AV_PIX_FMT_YUV420P10, HEIGHT);
        for (int plane = 0; plane < 3; plane++)
            for (int i = 0; i < frame->linesize[plane] / 2 * (plane ? HEIGHT / 2 : HEIGHT); i++)
                ((uint16_t *)frame->data[plane])[i] = (uint16_t)(plane ? 512 : 400 + step);
        ck_assert_int_eq(rgb_convert(&converter, frame, &after), 0);
        const double error_q16 = step ? rmse_q16(rgb_rmse(&before, &after)) : 74.5;
        ck_assert_msg(error_q16 >= 74 && error_q16 <= 75, "%f", error_q16);
        const struct rgb_picture kept = before;
        before = after;
        after = kept;
        av_frame_free(&frame);
    }
    av_freep(&before.pixels);
    av_freep(&after.pixels);
    rgb_converter_finish(&converter);
}
END_TEST

START_TEST(each_picture_has_its_own_colours)
{
    struct rgb_converter converter;
    struct rgb_picture picture = {0};
    char text[100];
    static const enum AVColorRange ranges[] = {AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG};
    rgb_converter_init(&converter);
    for (int i = 0; i < 2; i++) {
        AVFrame *frame = uniform(AV_PIX_FMT_YUV420P, HEIGHT, WHITE);
        frame->color_range = ranges[i];
        ck_assert_int_eq(rgb_convert(&converter, frame, &picture), 0);
        ck_assert_int_le(abs(picture.pixels[0] - (i ? WHITE : 255)), SCALER_ERROR);
        av_frame_free(&frame);
    }
    ck_assert_str_eq(rgb_converter_description(&converter, text, sizeof text),
                     "RGB24 64x48, smpte170m, limited range; later others");
    av_freep(&picture.pixels);
    rgb_converter_finish(&converter);
}
END_TEST

START_TEST(description_names_what_there_is)
{
    static const struct {
        enum AVPixelFormat format;
        enum AVColorSpace tag;
        const char *text;
    } cases[] = {
        {AV_PIX_FMT_YUV444P, AVCOL_SPC_YCGCO, "RGB24 64x48, ycgco, limited range"},
        {AV_PIX_FMT_YUV420P10, AVCOL_SPC_BT2020_NCL, "RGB48 64x48, bt2020nc, limited range"},
        {AV_PIX_FMT_GBRP, AVCOL_SPC_RGB, "RGB24 64x48, no matrix, full range"},
        {AV_PIX_FMT_GRAY16, AVCOL_SPC_UNSPECIFIED, "RGB48 64x48, no matrix, full range"},
        {AV_PIX_FMT_PAL8, AVCOL_SPC_UNSPECIFIED, "RGB24 64x48, no matrix, full range"},
        {AV_PIX_FMT_MONOBLACK, AVCOL_SPC_UNSPECIFIED, "RGB24 64x48, no matrix, full range"},
        {AV_PIX_FMT_BAYER_RGGB16, AVCOL_SPC_UNSPECIFIED, "RGB48 64x48, no matrix, full range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rgb_converter converter;
        struct rgb_picture picture = {0};
        char text[100];
        AVFrame *frame = blank(cases[i].format, HEIGHT);
        frame->colorspace = cases[i].tag;
        rgb_converter_init(&converter);
        ck_assert_int_eq(rgb_convert(&converter, frame, &picture), 0);
        ck_assert_str_eq(rgb_converter_description(&converter, text, sizeof text), cases[i].text);
        av_freep(&picture.pixels);
        rgb_converter_finish(&converter);
        av_frame_free(&frame);
    }
}
END_TEST

START_TEST(untagged_pictures_get_the_matrix_that_the_player_uses)
{
    static const int heights[] = {480, 576, 600, 720, 1080};
    for (int i = 0; i < (int)(sizeof heights / sizeof *heights); i++) {
        struct rgb_converter converter;
        struct rgb_picture picture = {0};
        AVFrame *frame = uniform(AV_PIX_FMT_YUV420P, heights[i], WHITE);
        rgb_converter_init(&converter);
        ck_assert_int_eq(rgb_convert(&converter, frame, &picture), 0);
        ck_assert_int_eq(converter.matrix, video_layout_of(frame).colorspace);
        av_freep(&picture.pixels);
        rgb_converter_finish(&converter);
        av_frame_free(&frame);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        every_pixel_format_has_its_colours_in_each_range,
        every_matrix_has_its_colours,
        matrix_without_a_known_conversion_is_replaced_and_named,
        pixel_format_that_swscale_does_not_know_is_refused,
        one_step_of_10_bits_is_a_step,
        each_picture_has_its_own_colours,
        description_names_what_there_is,
        untagged_pictures_get_the_matrix_that_the_player_uses,
        NULL,
    };
    av_log_set_level(AV_LOG_QUIET); /* swscale warns of the old formats */
    return suite_run("rgb_converter", SUITE_TIMEOUT_DEFAULT, tests);
}
