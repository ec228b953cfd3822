/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window_testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "screen.h"

static struct screen screen;

static void setup(void)
{
    ck_assert_int_eq(screen_open(&screen), 0);
    ck_assert_int_eq(screen.width, SCREEN_WIDTH);
}

static void teardown(void)
{
    screen_close(&screen);
}

struct video_sink *open_window(void)
{
    struct video_sink *sink;
    char why[200];
    ck_assert_msg(video_sink_create(&sink, "sdl", "window_test", why, sizeof why) == 0, "%s", why);
    return sink;
}

AVFrame *new_picture(enum AVPixelFormat format, int width, int height)
{
    AVFrame *const picture = av_frame_alloc();
    picture->format = format;
    picture->width = width;
    picture->height = height;
    picture->color_range = AVCOL_RANGE_MPEG;
    ck_assert_int_eq(av_frame_get_buffer(picture, 0), 0);
    return picture;
}

/* The picture is 8-bit 4:2:0. */
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

AVFrame *four_colours(int width, int height, const struct colour colours[4])
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

void expect_colour(struct video_sink *sink, int x, int y, uint32_t rgb)
{
    for (int i = 0; distance(screen_pixel(&screen, x, y), rgb) > 4; i++) {
        ck_assert_msg(i < 30000, "at %d,%d: %06x, expected %06x", x, y, screen_pixel(&screen, x, y),
                      rgb);
        video_sink_poll(sink);
        nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void expect_four_colours(struct video_sink *sink, int width, int height, const struct colour colours[4])
{
    for (int quarter = 0; quarter < 4; quarter++) {
        const int x = SCREEN_WIDTH / 2 + (quarter % 2 ? 1 : -1) * width / 4;
        const int y = SCREEN_HEIGHT / 2 + (quarter / 2 ? 1 : -1) * height / 4;
        expect_colour(sink, x, y, colours[quarter].rgb);
    }
}

const struct colour bt709[4] = {{235, 128, 128, 0xffffff},
                                {51, 109, 212, 0xbf0000},
                                {133, 63, 52, 0x00bf00},
                                {28, 212, 120, 0x0000bf}};
const struct colour bt601[4] = {{235, 128, 128, 0xffffff},
                                {65, 100, 212, 0xbf0000},
                                {112, 72, 58, 0x00bf00},
                                {35, 212, 114, 0x0000bf}};

void xdotool(const char *arguments)
{
    char command[200];
    snprintf(command, sizeof command, "xdotool search --sync --name window_test %s", arguments);
    ck_assert_int_eq(system(command), 0);
}

TCase *window_cases(const char *name)
{
    TCase *const cases = tcase_create(name);
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, setup, teardown);
    return cases;
}
