/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the size, the edges and the aspect that a container states mean for pictures of another size.
 * Not covered: whole files, and the pixels (tests/input/test_shape.py).
 */
#include "clip_shape.h"
#include "suite.h"

#include <libavutil/intreadwrite.h>

struct edges {
    uint32_t top, bottom, left, right;
};

struct stated {
    const char *container;
    struct stated_size size;
    struct edges edges;
    AVRational aspect; /* as libavformat computes it */
};

/* What the decoder gives. */
struct pictures {
    struct stated_size size;
    AVRational aspect;
};

static AVStream *stream_as(AVFormatContext *format, const struct stated *stated)
{
    AVStream *const stream = avformat_new_stream(format, NULL);
    AVCodecParameters *const coded = stream->codecpar;
    const uint32_t edges[4] = {stated->edges.top, stated->edges.bottom, stated->edges.left, stated->edges.right};
    format->iformat = av_find_input_format(stated->container);
    ck_assert_ptr_nonnull(format->iformat);
    coded->width = stated->size.width;
    coded->height = stated->size.height;
    stream->sample_aspect_ratio = stated->aspect;
    AVPacketSideData *const data =
        av_packet_side_data_new(&coded->coded_side_data, &coded->nb_coded_side_data, AV_PKT_DATA_FRAME_CROPPING, sizeof edges, 0);
    for (size_t i = 0; i < 4; i++)
        AV_WL32(data->data + 4 * i, edges[i]);
    return stream;
}

/* Returns a picture as it comes from the decoder, with the shape that is to be tested. The caller frees it. */
static AVFrame *shaped(const struct stated *stated, const struct pictures *pictures)
{
    AVFormatContext *format = avformat_alloc_context();
    AVStream *const stream = stream_as(format, stated);
    struct stated_sizes sizes = {0};
    AVFrame *const picture = av_frame_alloc();
    ck_assert_int_eq(stated_sizes_note(&sizes, format), 0);
    stream->codecpar->width = picture->width = pictures->size.width;
    stream->codecpar->height = picture->height = pictures->size.height;
    stream->codecpar->sample_aspect_ratio = picture->sample_aspect_ratio = pictures->aspect;
    const struct clip_shape shape = clip_shape_of(format, stream, &sizes);
    clip_shape_apply(&shape, picture);
    stated_sizes_forget(&sizes);
    avformat_free_context(format);
    return picture;
}

static void expect_shape(const AVFrame *picture, AVRational aspect, struct edges edges)
{
    ck_assert_int_eq(picture->sample_aspect_ratio.num, aspect.num);
    ck_assert_int_eq(picture->sample_aspect_ratio.den, aspect.den);
    ck_assert_uint_eq(picture->crop_top, edges.top);
    ck_assert_uint_eq(picture->crop_bottom, edges.bottom);
    ck_assert_uint_eq(picture->crop_left, edges.left);
    ck_assert_uint_eq(picture->crop_right, edges.right);
}

static const AVRational square = {1, 1}, none = {0, 1}, changed = {1, 2};
static const struct stated_size size_1080 = {1920, 1080}, size_1088 = {1920, 1088}, pal = {720, 576}, half = {960, 540};

struct shape_case {
    struct stated stated;
    struct pictures pictures;
    AVRational aspect;
    struct edges edges;
};

static void expect_shapes(const struct shape_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AVFrame *picture = shaped(&cases[i].stated, &cases[i].pictures);
        expect_shape(picture, cases[i].aspect, cases[i].edges);
        av_frame_free(&picture);
    }
}

START_TEST(lines_that_the_decoder_hides_are_not_hidden_twice)
{
    static const struct shape_case cases[] = {
        {{"mp4", size_1088, {4, 4, 0, 0}, none}, {size_1080, none}, none, {0}},
        {{"mp4", size_1088, {0, 8, 0, 0}, none}, {size_1080, none}, none, {0}},
        {{"matroska", size_1088, {0, 8, 0, 0}, square}, {size_1080, square}, square, {0}},
        {{"mp4", size_1088, {4, 4, 0, 0}, none}, {size_1088, none}, none, {4, 4, 0, 0}},
        {{"mp4", size_1088, {14, 14, 20, 0}, none}, {size_1080, none}, none, {10, 10, 20, 0}},
        {{"mp4", size_1088, {4, 4, 6, 6}, none}, {{1914, 1070}, none}, none, {0, 0, 3, 3}},
        {{"mp4", half, {10, 20, 30, 40}, none}, {size_1080, none}, none, {20, 40, 60, 80}},
        {{"mp4", {0, 0}, {4, 4, 0, 0}, none}, {size_1080, none}, none, {0}},
        {{"mp4", size_1080, {UINT32_MAX, UINT32_MAX, 0, 0}, none}, {half, none}, none, {0}},
    };
    expect_shapes(cases, sizeof cases / sizeof *cases);
}
END_TEST

/* 136:135 is what libavformat computes from 1920x1088 samples that are to be shown as 1920x1080. */
START_TEST(a_display_size_of_what_is_shown_does_not_stretch_it)
{
    static const struct shape_case cases[] = {
        {{"mp4", size_1088, {4, 4, 0, 0}, {136, 135}}, {size_1080, none}, none, {0}},
        {{"mp4", size_1088, {4, 4, 0, 0}, {136, 135}}, {size_1088, square}, square, {4, 4, 0, 0}},
        {{"mp4", size_1088, {0}, {136, 135}}, {size_1080, square}, square, {0}},
        {{"matroska", size_1088, {0}, {136, 135}}, {size_1080, none}, none, {0}},
        {{"mp4", size_1088, {0}, {136, 135}}, {size_1088, square}, {136, 135}, {0}},
        {{"mp4", size_1080, {40, 40, 60, 60}, {81, 80}}, {size_1080, square}, square, {40, 40, 60, 60}},
    };
    expect_shapes(cases, sizeof cases / sizeof *cases);
}
END_TEST

/* DV in QuickTime, whose clean aperture of 703x576 is shown as 768x576, while the decoder states 16:15. */
START_TEST(an_aspect_beside_a_clean_aperture_is_that_of_a_sample)
{
    static const struct shape_case cases[] = {
        {{"mov", pal, {0, 0, 8, 9}, {59, 54}}, {pal, {16, 15}}, {59, 54}, {0, 0, 8, 9}},
        {{"mov", pal, {0, 0, 8, 9}, {118, 81}}, {pal, {64, 45}}, {118, 81}, {0, 0, 8, 9}},
        {{"mov", pal, {0}, {59, 54}}, {pal, {16, 15}}, {59, 54}, {0}},
    };
    expect_shapes(cases, sizeof cases / sizeof *cases);
}
END_TEST

/* 800 lines of 1080 are left. */
START_TEST(a_display_size_of_all_samples_is_recognised_in_matroska)
{
    static const struct shape_case cases[] = {
        {{"matroska", size_1080, {140, 140, 0, 0}, square}, {size_1080, square}, square, {140, 140, 0, 0}},
        {{"matroska", size_1080, {140, 140, 0, 0}, {20, 27}}, {size_1080, none}, none, {140, 140, 0, 0}},
        {{"matroska", size_1080, {140, 140, 0, 0}, {4, 3}}, {size_1080, square}, {4, 3}, {140, 140, 0, 0}},
        {{"matroska", size_1080, {0}, {4, 3}}, {size_1080, square}, {4, 3}, {0}},
        {{"matroska", pal, {0}, {1022, 720}}, {pal, {64, 45}}, {1022, 720}, {0}},
    };
    expect_shapes(cases, sizeof cases / sizeof *cases);
}
END_TEST

START_TEST(a_stream_that_the_header_does_not_name_has_its_own_shape)
{
    static const struct stated stated = {"mpegts", {720, 576}, {0}, {0, 1}};
    AVFormatContext *format = avformat_alloc_context();
    AVStream *const stream = stream_as(format, &stated);
    const struct stated_sizes no_sizes = {0};
    const struct clip_shape shape = clip_shape_of(format, stream, &no_sizes);
    AVFrame *picture = av_frame_alloc();
    picture->width = 720;
    picture->height = 576;
    picture->sample_aspect_ratio = changed;
    clip_shape_apply(&shape, picture);
    expect_shape(picture, changed, (struct edges){0});
    av_frame_free(&picture);
    avformat_free_context(format);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        lines_that_the_decoder_hides_are_not_hidden_twice,
        a_display_size_of_what_is_shown_does_not_stretch_it,
        an_aspect_beside_a_clean_aperture_is_that_of_a_sample,
        a_display_size_of_all_samples_is_recognised_in_matroska,
        a_stream_that_the_header_does_not_name_has_its_own_shape,
        NULL,
    };
    return suite_run("clip shape", SUITE_TIMEOUT_DEFAULT, tests);
}
