/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A real window on a private X server. tests/support/with-xvfb runs this program. The tests read the screen's pixels from
 * the server.
 * Not covered: the shape of pictures (window_shape_test.c); Wayland; the close button (there is no window manager here). The
 * program runs twice: with SDL's software renderer, which our own drawing replaces, and with the renderer for graphics cards, which
 * Mesa can emulate. Where Mesa cannot, the second run is like the first.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suite.h"
#include "window_testing.h"

/* The same colours in full range. */
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
    struct pollfd wake = {.fd = video_sink_wake_fd(sink), .events = POLLIN};
    ck_assert_int_eq(poll(&wake, 1, 10000), 1);
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

START_TEST(compose_sequences_are_read_only_if_the_user_names_their_file)
{
    unsetenv("XCOMPOSEFILE");
    struct video_sink *sink = open_window();
    ck_assert_str_eq(getenv("XCOMPOSEFILE"), "/dev/null");
    video_sink_destroy(&sink);
    setenv("XCOMPOSEFILE", "/dev/zero/sequences", 1);
    sink = open_window();
    ck_assert_str_eq(getenv("XCOMPOSEFILE"), "/dev/zero/sequences");
    video_sink_destroy(&sink);
}
END_TEST

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
    static char why[200];
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
    TCase *const cases = window_cases("window");
    tcase_add_test(cases, a_drawn_picture_is_seen_when_it_is_flipped);
    tcase_add_test(cases, the_picture_is_on_the_screen_in_its_colours);
    tcase_add_test(cases, a_picture_of_10_bits_is_shown_in_its_colours);
    tcase_add_test(cases, pictures_of_all_kinds_of_colours_are_shown_in_them);
    tcase_add_test(cases, high_picture_in_rgb_keeps_its_colours_when_it_is_scaled);
    tcase_add_test(cases, the_last_picture_is_redrawn_when_the_window_returns);
    tcase_add_test(cases, keys_are_understood);
    tcase_add_test(cases, the_interrupt_key_still_ends_the_player);
    tcase_add_test(cases, compose_sequences_are_read_only_if_the_user_names_their_file);
    const char *const driver = getenv("SDL_RENDER_DRIVER");
    if (driver && strcmp(driver, "software") == 0)
        tcase_add_test(cases, the_software_renderer_works_in_the_calling_thread);
    tcase_add_test(cases, a_format_that_cannot_be_shown_is_refused_and_the_next_is_shown);
    tcase_add_test(cases, a_missing_display_is_an_error_with_a_reason);
    return suite_run_case("window", cases, CK_FORK_GETENV);
}
