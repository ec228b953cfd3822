/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ways of getting a picture onto a window of SDL's; video_sdl.c chooses one and nobody else
 * includes it.
 */
#ifndef PLAYER_VIDEO_CANVAS_H
#define PLAYER_VIDEO_CANVAS_H

#include <SDL.h>

#include "video_layout.h"

/* A kind embeds it as its first member. */
struct video_canvas {
    const struct video_canvas_kind *kind;
    SDL_Window *window;
};

/*
 * The results are 0, -ENOTSUP for a pixel format that cannot be shown, -ENOMEM, and -EIO, whose
 * cause SDL_GetError() tells.
 */
struct video_canvas_kind {
    /* NULL when the window cannot be drawn on in this way. */
    struct video_canvas *(*create)(SDL_Window *window);
    void (*destroy)(struct video_canvas *canvas);
    /* Before the first picture, and whenever the layout changes; what was shown is forgotten. */
    int (*configure)(struct video_canvas *canvas, const struct video_layout *layout);
    /* Draws a picture of the configured layout as large as fits and hands it to the display. */
    int (*show)(struct video_canvas *canvas, const AVFrame *picture);
    /* The last picture again, if there is one: the window was uncovered or has another size. */
    int (*redraw)(struct video_canvas *canvas);
};

/* SDL's renderers: a graphics card converts and scales. */
extern const struct video_canvas_kind video_texture;
/* swscale draws into the memory that the X server reads. */
extern const struct video_canvas_kind video_surface;

#endif
