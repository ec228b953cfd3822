/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ways of drawing a picture in an SDL window. video_sdl.c chooses one. Only video_sdl.c and the
 * kinds themselves include this file.
 */
#ifndef PLAYER_VIDEO_CANVAS_H
#define PLAYER_VIDEO_CANVAS_H

#include <SDL.h>

#include "video_layout.h"

/* Each kind embeds this struct as its first member. */
struct video_canvas {
    const struct video_canvas_kind *kind;
    SDL_Window *window;
};

/*
 * The functions return 0, -ENOTSUP for a pixel format that cannot be shown, -ENOMEM, or -EIO, whose
 * cause SDL_GetError() gives.
 */
struct video_canvas_kind {
    /* Returns NULL when this kind cannot draw in the window. */
    struct video_canvas *(*create)(SDL_Window *window);
    void (*destroy)(struct video_canvas *canvas);
    /* Called before the first picture and whenever the layout changes. Forgets the last picture. */
    int (*configure)(struct video_canvas *canvas, const struct video_layout *layout);
    /* Draws a picture of the configured layout as large as fits, where it is not seen yet. */
    int (*draw)(struct video_canvas *canvas, const AVFrame *picture);
    /* Hands what was drawn to the display. */
    int (*flip)(struct video_canvas *canvas);
    /* Draws the last picture again, if there is one, and flips: the window was uncovered or resized. */
    int (*redraw)(struct video_canvas *canvas);
};

/* Uses SDL's renderers: a graphics card converts and scales. None is created where the CPU would do that in the card's place. */
extern const struct video_canvas_kind video_texture;
/* Uses swscale, which draws into the memory that the X server reads. */
extern const struct video_canvas_kind video_surface;

#endif
