/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of windows share: pictures of known colours, and what the screen of tests/support/with-xvfb shows. A failed check
 * here fails the calling test. */
#ifndef WINDOW_TESTING_H
#define WINDOW_TESTING_H

#include <check.h>
#include <libavutil/frame.h>
#include <stdint.h>

#include "video_sink.h"

enum { SCREEN_WIDTH = 800, SCREEN_HEIGHT = 600, WIDTH = 640, HEIGHT = 360 };

struct colour {
    uint8_t y, cb, cr;
    uint32_t rgb;
};

/* White, red, green, blue of 75 %, limited range, after each standard's own matrix. */
extern const struct colour bt709[4];
extern const struct colour bt601[4];

/* Returns a case with a fixture that opens the screen. suite_run_case takes it. */
TCase *window_cases(const char *name);

/* Opens a window. The caller destroys it. */
struct video_sink *open_window(void);

/* Returns a picture without content, limited range. The caller frees it. */
AVFrame *new_picture(enum AVPixelFormat format, int width, int height);

/*
 * Returns a picture of 8-bit 4:2:0 whose quarters have these colours. The quarters are numbered from left to right, then from top to
 * bottom. The caller frees it.
 */
AVFrame *four_colours(int width, int height, const struct colour colours[4]);

/*
 * Waits until a pixel of the screen has about this colour, because X may draw later. If the colour never comes, the test's time
 * limit ends the wait.
 */
void expect_colour(struct video_sink *sink, int x, int y, uint32_t rgb);

/* Waits so for the centres of the quarters of a picture that is shown with this size in the middle of the screen. */
void expect_four_colours(struct video_sink *sink, int width, int height, const struct colour colours[4]);

/* Runs xdotool with the window. */
void xdotool(const char *arguments);

#endif
