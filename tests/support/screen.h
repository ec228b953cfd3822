/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pixels of the X server that with-xvfb started. They are read from the server's file, not through a
 * program that draws on it.
 */
#ifndef SUPPORT_SCREEN_H
#define SUPPORT_SCREEN_H

#include <stdint.h>

struct screen {
    int width;
    int height;
    int bytes_per_line;
    const uint8_t *pixels; /* 32 bits each: blue, green, red, nothing */
    void *map;
    int64_t map_size;
};

/* Maps the file named by DLEX_TEST_SCREEN. Returns 0, or a negative errno. */
int screen_open(struct screen *screen);
void screen_close(struct screen *screen);

/* Returns the pixel as 0xRRGGBB. */
uint32_t screen_pixel(const struct screen *screen, int x, int y);

#endif
