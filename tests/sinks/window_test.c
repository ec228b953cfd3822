/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A real window on a private X server. tests/support/with-xvfb runs this program. The tests read the screen's pixels from
 * the server.
 * Not covered: Wayland; the close button (there is no window manager here). The program runs twice: with SDL's software
 * renderer, which our own drawing replaces, and with the renderer for graphics cards, which Mesa can emulate. Where Mesa
 * cannot, the second run is like the first.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "screen.h"
#include "suite.h"
#include "video_sink.h"

enum { SCREEN_WIDTH = 800, SCREEN_HEIGHT = 600, WIDTH = 640, HEIGHT = 360 };

struct colour {
    uint8_t y, cb, cr;
    uint32_t rgb;
};

static struct screen screen;
static char why[200];

static void setup(void)
{
    ck_assert_int_eq(screen_open(&screen), 0);
    ck_assert_int_eq(screen.width, SCREEN_WIDTH);
}

static void teardown(void)
{
    screen_close(&screen);
}

static struct video_sink *open_window(void)
{
    struct video_sink *sink;
    ck_assert_msg(video_sink_create(&sink, "sdl", "window_test", why, sizeof why) == 0, "%s", why);
    return sink;
}

static AVFrame *new_picture(enum AVPixelFormat format, int width, int height)
{
    AVFrame *const picture = av_frame_alloc();
    picture->format = format;
    picture->width = width;
    picture->height = height;
    picture->color_range = AVCOL_RANGE_MPEG;
    ck_assert_int_eq(av_frame_get_buffer(picture, 0), 0);
    return picture;
}

/* Fills a quarter of the picture with one colour. The quarters are numbered from left to right, then from top to bottom.
 * The picture is 8-bit 4:2:0. */
static void fill_quarter(AVFrame *picture, int quarter, const struct colour *colour)
{
    const int values[3] = {colour->y, colour->cb, colour->cr};
    for (int plane = 0; plane < 3; plane++) {
        const int width = picture->width >> (plane > 0), height = picture->height >> (plane > 0);
        const int left = quarter % 2 * width / 2, top = quarter / 2 * height / 2;
        for (int y = top; y < top + height / 2; y++)
            memset(picture->data[plane] + y * picture->linesize[plane] + left, values[plane],
                   (size_t)width / 2);
    }
}

static AVFrame *four_colours(int width, int height, const struct colour colours[4])
{
    AVFrame *const picture = new_picture(AV_PIX_FMT_YUV420P, width, height);
    for (int quarter = 0; quarter < 4; quarter++)
        fill_quarter(picture, quarter, &colours[quarter]);
    return picture;
}

static int distance(uint32_t a, uint32_t b)
{
    int largest = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const int d = abs((int)(a >> shift & 255) - (int)(b >> shift & 255));
        largest = d > largest ? d : largest;
    }
    return largest;
}

/*
 * X may draw later, so this function waits until the colour is there. If the colour never comes, the test's time limit
 * ends the wait.
 */
static void expect_colour(struct video_sink *sink, int x, int y, uint32_t rgb)
{
    for (int i = 0; distance(screen_pixel(&screen, x, y), rgb) > 4; i++) {
        ck_assert_msg(i < 30000, "at %d,%d: %06x, expected %06x", x, y, screen_pixel(&screen, x, y),
                      rgb);
        video_sink_poll(sink);
        nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Checks the centres of the quarters of a picture that is shown with this size in the middle of the screen. */
static void expect_four_colours(struct video_sink *sink, int width, int height,
                                const struct colour colours[4])
{
    for (int quarter = 0; quarter < 4; quarter++) {
        const int x = SCREEN_WIDTH / 2 + (quarter % 2 ? 1 : -1) * width / 4;
        const int y = SCREEN_HEIGHT / 2 + (quarter / 2 ? 1 : -1) * height / 4;
        expect_colour(sink, x, y, colours[quarter].rgb);
    }
}

/* White, red, green, blue of 75 %, limited range, after each standard's own matrix. */
static const struct colour bt709[4] = {{235, 128, 128, 0xffffff},
                                       {51, 109, 212, 0xbf0000},
                                       {133, 63, 52, 0x00bf00},
                                       {28, 212, 120, 0x0000bf}};
static const struct colour bt601[4] = {{235, 128, 128, 0xffffff},
                                       {65, 100, 212, 0xbf0000},
                                       {112, 72, 58, 0x00bf00},
                                       {35, 212, 114, 0x0000bf}};
static const struct colour jpeg[4] = {{255, 128, 128, 0xffffff},
                                      {57, 96, 224, 0xbf0000},
                                      {112, 65, 48, 0x00bf00},
                                      {22, 224, 112, 0x0000bf}};

START_TEST(the_picture_is_on_the_screen_in_its_colours)
{
    static const struct {
        enum AVColorSpace space;
        enum AVColorRange range;
        const struct colour *colours;
    } cases[] = {
        {AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, bt709},
        {AVCOL_SPC_SMPTE170M, AVCOL_RANGE_MPEG, bt601},
        {AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_MPEG, bt601}, /* 360 lines count as standard definition */
        {AVCOL_SPC_BT470BG, AVCOL_RANGE_JPEG, jpeg},
    };
    struct video_sink *sink = open_window();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVFrame *picture = four_colours(WIDTH, HEIGHT, cases[i].colours);
        picture->colorspace = cases[i].space;
        picture->color_range = cases[i].range;
        ck_assert_int_eq(video_sink_show(sink, picture), 0);
        expect_four_colours(sink, WIDTH, HEIGHT, cases[i].colours);
        av_frame_free(&picture);
    }
    ck_assert_int_eq(video_sink_shown(sink), 4);
    ck_assert_str_eq(video_sink_error(sink), "");
    video_sink_destroy(&sink);
    ck_assert_ptr_null(sink);
}
END_TEST

/* swscale converts 10 bits and 4:2:2; after that the path is the same. */
START_TEST(a_picture_of_10_bits_is_shown_in_its_colours)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = new_picture(AV_PIX_FMT_YUV422P10, WIDTH, HEIGHT);
    picture->colorspace = AVCOL_SPC_BT709;
    for (int quarter = 0; quarter < 4; quarter++) {
        const struct colour *const colour = &bt709[quarter];
        for (int plane = 0; plane < 3; plane++) {
            const int value = 4 * (plane == 0 ? colour->y : plane == 1 ? colour->cb : colour->cr);
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH >> (plane > 0); x++)
                    ((uint16_t *)(picture->data[plane] + y * picture->linesize[plane]))[x] =
                        (uint16_t)value;
        }
        ck_assert_int_eq(video_sink_show(sink, picture), 0);
        expect_colour(sink, SCREEN_WIDTH / 2, SCREEN_HEIGHT / 2, colour->rgb);
    }
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

/* Fills a picture with one colour. The samples are those of the pixel format. */
static void fill_samples(AVFrame *picture, const uint32_t samples[3])
{
    const AVPixFmtDescriptor *const format = av_pix_fmt_desc_get(picture->format);
    for (int plane = 0; plane < 4 && picture->buf[plane]; plane++)
        memset(picture->buf[plane]->data, 0, picture->buf[plane]->size);
    for (int component = 0; component < format->nb_components && component < 3; component++) {
        const bool is_chroma = component > 0 && !(format->flags & AV_PIX_FMT_FLAG_RGB);
        const int width = is_chroma ? AV_CEIL_RSHIFT(picture->width, format->log2_chroma_w) : picture->width;
        const int height = is_chroma ? AV_CEIL_RSHIFT(picture->height, format->log2_chroma_h) : picture->height;
        uint32_t line[WIDTH];
        for (int x = 0; x < width; x++)
            line[x] = samples[component];
        for (int y = 0; y < height; y++)
            av_write_image_line2(line, picture->data, picture->linesize, format, 0, y, component, width, sizeof *line);
    }
}

/* The expected colours are computed by hand: (80 - 16) / 219 of 255 is 0x4b, 80 of 255 is 0x50. */
START_TEST(pictures_of_all_kinds_of_colours_are_shown_in_them)
{
    static const struct {
        enum AVPixelFormat format;
        enum AVColorRange range;
        enum AVColorSpace space;
        uint32_t samples[3], rgb;
    } cases[] = {
        {AV_PIX_FMT_GRAY8, AVCOL_RANGE_MPEG, AVCOL_SPC_UNSPECIFIED, {80}, 0x4b4b4b},
        {AV_PIX_FMT_GRAY8, AVCOL_RANGE_JPEG, AVCOL_SPC_UNSPECIFIED, {16}, 0x101010},
        {AV_PIX_FMT_GRAY8, AVCOL_RANGE_UNSPECIFIED, AVCOL_SPC_UNSPECIFIED, {235}, 0xebebeb},
        {AV_PIX_FMT_GRAY8, AVCOL_RANGE_MPEG, AVCOL_SPC_UNSPECIFIED, {235}, 0xffffff},
        {AV_PIX_FMT_GRAY10, AVCOL_RANGE_UNSPECIFIED, AVCOL_SPC_UNSPECIFIED, {64}, 0x101010},
        {AV_PIX_FMT_GRAY10, AVCOL_RANGE_MPEG, AVCOL_SPC_UNSPECIFIED, {320}, 0x4b4b4b},
        {AV_PIX_FMT_GRAY12, AVCOL_RANGE_JPEG, AVCOL_SPC_BT709, {3760}, 0xebebeb},
        {AV_PIX_FMT_GRAY16, AVCOL_RANGE_UNSPECIFIED, AVCOL_SPC_UNSPECIFIED, {16 << 8}, 0x101010},
        {AV_PIX_FMT_GRAY16BE, AVCOL_RANGE_MPEG, AVCOL_SPC_UNSPECIFIED, {235 << 8}, 0xffffff},
        {AV_PIX_FMT_YA8, AVCOL_RANGE_MPEG, AVCOL_SPC_UNSPECIFIED, {80}, 0x4b4b4b},
        {AV_PIX_FMT_YA16, AVCOL_RANGE_UNSPECIFIED, AVCOL_SPC_UNSPECIFIED, {16 << 8}, 0x101010},
        {AV_PIX_FMT_YUV444P, AVCOL_RANGE_MPEG, AVCOL_SPC_YCGCO, {70, 72, 184}, 0xbe003f},
        {AV_PIX_FMT_YUV420P, AVCOL_RANGE_JPEG, AVCOL_SPC_YCGCO, {96, 224, 128}, 0x00c000},
        {AV_PIX_FMT_YUV420P10, AVCOL_RANGE_MPEG, AVCOL_SPC_YCGCO, {228, 400, 288}, 0x10108f},
        {AV_PIX_FMT_YUV444P, AVCOL_RANGE_JPEG, AVCOL_SPC_BT709, {41, 106, 235}, 0xd10000},
        {AV_PIX_FMT_YUVJ422P, AVCOL_RANGE_UNSPECIFIED, AVCOL_SPC_UNSPECIFIED, {57, 96, 224}, 0xbf0000},
        {AV_PIX_FMT_YUV420P10, AVCOL_RANGE_MPEG, AVCOL_SPC_BT2020_NCL, {237, 415, 848}, 0xbf0000},
        {AV_PIX_FMT_GBRP, AVCOL_RANGE_UNSPECIFIED, AVCOL_SPC_RGB, {0x30, 0x90, 0xd0}, 0x3090d0},
        {AV_PIX_FMT_GBRP10, AVCOL_RANGE_UNSPECIFIED, AVCOL_SPC_RGB, {4 * 0x30, 4 * 0x90, 4 * 0xd0}, 0x3090d0},
        {AV_PIX_FMT_RGB24, AVCOL_RANGE_MPEG, AVCOL_SPC_BT709, {16, 144, 235}, 0x1090eb},
    };
    struct video_sink *sink = open_window();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVFrame *picture = new_picture(cases[i].format, WIDTH, HEIGHT);
        picture->color_range = cases[i].range;
        picture->colorspace = cases[i].space;
        fill_samples(picture, cases[i].samples);
        ck_assert_int_eq(video_sink_show(sink, picture), 0);
        expect_colour(sink, SCREEN_WIDTH / 2, SCREEN_HEIGHT / 2, cases[i].rgb);
        av_frame_free(&picture);
    }
    video_sink_destroy(&sink);
}
END_TEST

/* swscale scales RGB by way of another matrix. */
START_TEST(high_picture_in_rgb_keeps_its_colours_when_it_is_scaled)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = new_picture(AV_PIX_FMT_RGB24, WIDTH, 2 * HEIGHT);
    fill_samples(picture, (const uint32_t[]){0xd0, 0x20, 0x30});
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_colour(sink, SCREEN_WIDTH / 2, SCREEN_HEIGHT / 2, 0xd02030);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

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

static void xdotool(const char *arguments)
{
    char command[200];
    snprintf(command, sizeof command, "xdotool search --sync --name window_test %s", arguments);
    ck_assert_int_eq(system(command), 0);
}

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

START_TEST(a_drawn_picture_is_seen_when_it_is_flipped)
{
    static const struct colour grey = {126, 128, 128, 0x808080};
    const struct colour greys[4] = {grey, grey, grey, grey};
    struct video_sink *sink = open_window();
    AVFrame *first = four_colours(WIDTH, HEIGHT, bt601);
    AVFrame *second = four_colours(WIDTH, HEIGHT, greys);
    ck_assert_int_eq(video_sink_show(sink, first), 0);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    while (video_sink_poll(sink) != INPUT_NONE) /* the window was uncovered */
        ;
    ck_assert_int_eq(video_sink_draw(sink, second), 0);
    nanosleep(&(const struct timespec){.tv_nsec = 100000000}, NULL);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    ck_assert_int_eq(video_sink_shown(sink), 1);
    ck_assert_int_eq(video_sink_flip(sink), 0);
    expect_four_colours(sink, WIDTH, HEIGHT, greys);
    ck_assert_int_eq(video_sink_shown(sink), 2);
    av_frame_free(&first);
    av_frame_free(&second);
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

/* As in a pause, the caller has freed the picture before the window is drawn again. */
START_TEST(the_last_picture_is_redrawn_when_the_window_returns)
{
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(WIDTH, HEIGHT, bt601);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    av_frame_free(&picture);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    xdotool("windowunmap --sync %1");
    expect_colour(sink, SCREEN_WIDTH / 2 - WIDTH / 4, SCREEN_HEIGHT / 2 - HEIGHT / 4, 0x000000);
    xdotool("windowmap %1");
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    video_sink_destroy(&sink);
}
END_TEST

static enum input next_input(struct video_sink *sink)
{
    enum input input = INPUT_NONE;
    while (input == INPUT_NONE) {
        input = video_sink_poll(sink);
        nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return input;
}

START_TEST(keys_are_understood)
{
    static const enum input expected[] = {
        INPUT_PAUSE,        INPUT_PAUSE,           INPUT_SEEK_BACK_10, INPUT_SEEK_FORWARD_10,
        INPUT_SEEK_BACK_60, INPUT_SEEK_FORWARD_60, INPUT_QUIT,         INPUT_QUIT,
    };
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(WIDTH, HEIGHT, bt601);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    xdotool("windowfocus --sync %1 key space p Left Right Down Up x ctrl+q q Escape");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_int_eq(next_input(sink), expected[i]);
    ck_assert_int_eq(video_sink_poll(sink), INPUT_NONE);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(the_interrupt_key_still_ends_the_player)
{
    struct sigaction before, during;
    sigaction(SIGINT, NULL, &before);
    struct video_sink *sink = open_window();
    sigaction(SIGINT, NULL, &during);
    ck_assert(before.sa_handler == during.sa_handler);
    video_sink_destroy(&sink);
}
END_TEST

static int thread_count(void)
{
    DIR *const threads = opendir("/proc/self/task");
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(threads));)
        count += entry->d_name[0] != '.';
    closedir(threads);
    return count;
}

/* Threads of the renderer would run outside the reservation of an experiment. */
START_TEST(the_software_renderer_works_in_the_calling_thread)
{
    const int before = thread_count();
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(1920, 1080, bt709);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    ck_assert_int_eq(thread_count(), before);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(a_format_that_cannot_be_shown_is_refused_and_the_next_is_shown)
{
    struct video_sink *sink = open_window();
    AVFrame *strange = av_frame_alloc();
    strange->format = AV_PIX_FMT_VAAPI;
    strange->width = strange->height = 64;
    ck_assert_int_eq(video_sink_show(sink, strange), -ENOTSUP);
    ck_assert_ptr_nonnull(strstr(video_sink_error(sink), "vaapi"));
    ck_assert_int_eq(video_sink_shown(sink), 0);
    AVFrame *picture = four_colours(WIDTH, HEIGHT, bt601);
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    expect_four_colours(sink, WIDTH, HEIGHT, bt601);
    av_frame_free(&strange);
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(a_missing_display_is_an_error_with_a_reason)
{
    struct video_sink *sink = (void *)why;
    unsetenv("DISPLAY");
    ck_assert_int_eq(video_sink_create(&sink, "sdl", "title", why, sizeof why), -ENODEV);
    ck_assert_ptr_null(sink);
    ck_assert_str_eq(why, "no display (DISPLAY and WAYLAND_DISPLAY are unset)");
    setenv("DISPLAY", ":99999", 1);
    ck_assert_int_eq(video_sink_create(&sink, "sdl", "title", why, sizeof why), -ENODEV);
    ck_assert_ptr_null(sink);
    ck_assert_ptr_nonnull(strstr(why, "the display cannot be opened"));
}
END_TEST

int main(void)
{
    TCase *const cases = tcase_create("window");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, a_drawn_picture_is_seen_when_it_is_flipped);
    tcase_add_test(cases, the_picture_is_on_the_screen_in_its_colours);
    tcase_add_test(cases, a_picture_of_10_bits_is_shown_in_its_colours);
    tcase_add_test(cases, pictures_of_all_kinds_of_colours_are_shown_in_them);
    tcase_add_test(cases, high_picture_in_rgb_keeps_its_colours_when_it_is_scaled);
    tcase_add_test(cases, the_sample_aspect_ratio_is_honoured);
    tcase_add_test(cases, a_picture_is_turned_and_mirrored);
    tcase_add_test(cases, hidden_edges_are_not_shown);
    tcase_add_test(cases, edges_that_leave_nothing_are_ignored);
    tcase_add_test(cases, an_aspect_without_sense_is_ignored);
    tcase_add_test(cases, a_very_narrow_picture_is_shown);
    tcase_add_test(cases, the_window_follows_the_size_of_the_picture_until_the_user_resizes_it);
    tcase_add_test(cases, a_picture_larger_than_the_screen_is_scaled_to_fit);
    tcase_add_test(cases, a_resized_window_keeps_the_aspect_and_is_redrawn);
    tcase_add_test(cases, a_picture_of_any_width_ends_where_its_bars_begin);
    tcase_add_test(cases, the_last_picture_is_redrawn_when_the_window_returns);
    tcase_add_test(cases, keys_are_understood);
    tcase_add_test(cases, the_interrupt_key_still_ends_the_player);
    const char *const driver = getenv("SDL_RENDER_DRIVER");
    if (driver && strcmp(driver, "software") == 0)
        tcase_add_test(cases, the_software_renderer_works_in_the_calling_thread);
    tcase_add_test(cases, a_format_that_cannot_be_shown_is_refused_and_the_next_is_shown);
    tcase_add_test(cases, a_missing_display_is_an_error_with_a_reason);
    return suite_run_case("window", cases, CK_FORK_GETENV);
}
