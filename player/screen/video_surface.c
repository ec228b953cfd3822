/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window drawn by the CPU: swscale converts into the window's own memory, which the X server
 * reads (XShm). It also scales if the window has another size. SDL's software renderer wrote each
 * picture three times on its way there.
 *
 * 8-bit 4:2:0 that is not scaled goes through our own converter where the CPU has AVX2 (video_rgb32.h).
 *
 * The scaler's flags decide the cost. 4:2:0 of 1920x1080 without scaling took 1 ms on one Xeon, as
 * much as writing the pixels. With SWS_ACCURATE_RND it took 5 ms, and with SWS_FULL_CHR_H_INT as
 * well 8 ms, for an error that is smaller by one step.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "video_canvas.h"
#include "video_rgb32.h"

enum { SCALER_FLAGS = SWS_BILINEAR, BYTES_PER_PIXEL = 4 };
/* swscale's vector code writes up to this many pixels at once, even past the end of a line. */
enum { VECTOR_PIXELS = 16 };

struct surface_canvas {
    struct video_canvas canvas;
    struct video_layout layout;
    AVFrame *last; /* a reference to the last picture, for redrawing; no buffers: there is none */
    /* The fields below are valid for one size of the window. */
    SDL_Surface *surface; /* the window's; NULL: all these fields must be set again */
    int width;
    int height;
    SDL_Rect room; /* the picture's place in the surface */
    SDL_Rect changed; /* drawn and not flipped yet */
    bool is_simple; /* `rgb32` converts, otherwise `scaler` does */
    struct video_rgb32 rgb32;
    struct SwsContext *scaler;
    uint8_t *lines; /* NULL, or a buffer to draw into, because the lines end within a vector or lie otherwise in the window */
    int lines_pitch;
};

static struct surface_canvas *surface_of(struct video_canvas *canvas)
{
    return (struct surface_canvas *)canvas;
}

static enum AVPixelFormat format_of(const SDL_Surface *surface)
{
    switch (surface->format->format) {
    case SDL_PIXELFORMAT_RGB888:
    case SDL_PIXELFORMAT_ARGB8888:
        return AV_PIX_FMT_RGB32;
    case SDL_PIXELFORMAT_BGR888:
    case SDL_PIXELFORMAT_ABGR8888:
        return AV_PIX_FMT_BGR32;
    default:
        return AV_PIX_FMT_NONE;
    }
}

static struct video_canvas *surface_create(SDL_Window *window)
{
    const SDL_Surface *const pixels = SDL_GetWindowSurface(window);
    if (!pixels)
        return NULL;
    if (format_of(pixels) == AV_PIX_FMT_NONE) {
        SDL_SetError("the display's pixels are %s; 24 bits of RGB are needed",
                     SDL_GetPixelFormatName(pixels->format->format));
        return NULL;
    }
    struct surface_canvas *const surface = calloc(1, sizeof *surface);
    if (surface)
        surface->last = av_frame_alloc();
    if (!surface || !surface->last) {
        free(surface);
        SDL_OutOfMemory();
        return NULL;
    }
    surface->canvas = (struct video_canvas){.kind = &video_surface, .window = window};
    return &surface->canvas;
}

static void forget_size(struct surface_canvas *surface)
{
    surface->surface = NULL;
    sws_freeContext(surface->scaler);
    surface->scaler = NULL;
    free(surface->lines);
    surface->lines = NULL;
}

static void surface_destroy(struct video_canvas *canvas)
{
    struct surface_canvas *const surface = surface_of(canvas);
    forget_size(surface);
    av_frame_free(&surface->last);
    free(surface);
}

static int surface_configure(struct video_canvas *canvas, const struct video_layout *layout)
{
    struct surface_canvas *const surface = surface_of(canvas);
    forget_size(surface);
    av_frame_unref(surface->last);
    surface->layout = *layout;
    return sws_isSupportedInput(layout->format) ? 0 : -ENOTSUP;
}

/* Returns the largest place that fits, centred; the same, to the pixel, as SDL's renderers use. */
static SDL_Rect room_for(const struct video_layout *layout, int window_width, int window_height)
{
    int width, height;
    video_layout_displayed(layout, &width, &height);
    SDL_Rect room = {.w = window_width, .h = window_height};
    if ((int64_t)width * window_height > (int64_t)height * window_width)
        room.h = (int)((int64_t)window_width * height / width);
    else
        room.w = (int)((int64_t)window_height * width / height);
    room.w = room.w > 0 ? room.w : 1;
    room.h = room.h > 0 ? room.h : 1;
    room.x = (window_width - room.w) / 2;
    room.y = (window_height - room.h) / 2;
    return room;
}

/* Chooses or makes what converts into a place of this size and format. */
static int make_converter(struct surface_canvas *surface, int width, int height, enum AVPixelFormat format)
{
    const struct video_layout *const layout = &surface->layout;
    surface->is_simple = width == layout->width && height == layout->height && format == AV_PIX_FMT_RGB32 &&
                         video_rgb32_init(&surface->rgb32, layout);
    if (surface->is_simple)
        return 0;
    surface->scaler = video_layout_scaler(layout, width, height, format, SCALER_FLAGS);
    return surface->scaler ? 0 : -ENOMEM;
}

static int prepare(struct surface_canvas *surface, const SDL_Surface *pixels, const SDL_Rect *room)
{
    const struct video_orientation orientation = surface->layout.orientation;
    const int width = orientation.transposed ? room->h : room->w;
    const int height = orientation.transposed ? room->w : room->h;
    const int ret = make_converter(surface, width, height, format_of(pixels));
    if (ret < 0)
        return ret;
    const bool stays_in_lines = surface->is_simple || width % VECTOR_PIXELS == 0;
    if (stays_in_lines && video_orientation_is_plain(orientation))
        return 0;
    surface->lines_pitch = (width / VECTOR_PIXELS + 1) * VECTOR_PIXELS * BYTES_PER_PIXEL;
    surface->lines = malloc((size_t)surface->lines_pitch * (size_t)height);
    return surface->lines ? 0 : -ENOMEM;
}

static int fit(struct surface_canvas *surface, SDL_Surface *pixels)
{
    forget_size(surface);
    const SDL_Rect room = room_for(&surface->layout, pixels->w, pixels->h);
    const int ret = prepare(surface, pixels, &room);
    if (ret < 0)
        return ret;
    surface->room = room;
    surface->surface = pixels;
    surface->width = pixels->w;
    surface->height = pixels->h;
    return SDL_FillRect(pixels, NULL, SDL_MapRGB(pixels->format, 0, 0, 0)) < 0 ? -EIO : 0;
}

static void copy_lines(const struct surface_canvas *surface, uint8_t *to)
{
    const struct video_pixels window = {(uint32_t *)to, surface->surface->pitch / BYTES_PER_PIXEL};
    const struct video_pixels lines = {(uint32_t *)surface->lines, surface->lines_pitch / BYTES_PER_PIXEL};
    if (!video_orientation_is_plain(surface->layout.orientation)) {
        video_orientation_copy(surface->layout.orientation, &window, surface->room.w, surface->room.h, &lines);
        return;
    }
    const size_t length = (size_t)surface->room.w * BYTES_PER_PIXEL;
    for (int y = 0; y < surface->room.h; y++)
        memcpy(to + (ptrdiff_t)y * surface->surface->pitch,
               surface->lines + (ptrdiff_t)y * surface->lines_pitch, length);
}

static void convert(const struct surface_canvas *surface)
{
    const AVFrame *const picture = surface->last;
    const SDL_Surface *const pixels = surface->surface;
    uint8_t *const corner = (uint8_t *)pixels->pixels +
                            (ptrdiff_t)surface->room.y * pixels->pitch +
                            (ptrdiff_t)surface->room.x * BYTES_PER_PIXEL;
    /* swscale reads all four elements */
    uint8_t *const planes[4] = {surface->lines ? surface->lines : corner};
    const int pitches[4] = {surface->lines ? surface->lines_pitch : pixels->pitch};
    if (surface->is_simple)
        video_rgb32_convert(&surface->rgb32, picture, planes[0], pitches[0]);
    else
        sws_scale(surface->scaler, (const uint8_t *const *)picture->data, picture->linesize, 0,
                  picture->height, planes, pitches);
    if (surface->lines)
        copy_lines(surface, corner);
}

/* Compares the size too: SDL may give a surface of another size the same address. */
static bool fits(const struct surface_canvas *surface, const SDL_Surface *pixels)
{
    return surface->surface == pixels && surface->width == pixels->w &&
           surface->height == pixels->h;
}

static int draw(struct surface_canvas *surface)
{
    SDL_Surface *const pixels = SDL_GetWindowSurface(surface->canvas.window);
    if (!pixels)
        return -EIO;
    const bool fitted = fits(surface, pixels);
    if (!fitted) {
        const int ret = fit(surface, pixels);
        if (ret < 0)
            return ret;
    }
    convert(surface);
    surface->changed = fitted ? surface->room : (SDL_Rect){.w = pixels->w, .h = pixels->h};
    return 0;
}

static int surface_flip(struct video_canvas *canvas)
{
    struct surface_canvas *const surface = surface_of(canvas);
    /* The surface is gone if the window was resized since; the event that says so draws everything anew. */
    if (SDL_GetWindowSurface(canvas->window) != surface->surface)
        return 0;
    return SDL_UpdateWindowSurfaceRects(canvas->window, &surface->changed, 1) < 0 ? -EIO : 0;
}

static int surface_draw(struct video_canvas *canvas, const AVFrame *picture)
{
    struct surface_canvas *const surface = surface_of(canvas);
    av_frame_unref(surface->last);
    const int ret = av_frame_ref(surface->last, picture);
    return ret < 0 ? ret : draw(surface);
}

/* Something drew over the window or changed its size, so everything made for its size is remade. */
static int surface_redraw(struct video_canvas *canvas)
{
    struct surface_canvas *const surface = surface_of(canvas);
    if (!surface->last->buf[0])
        return 0;
    forget_size(surface);
    const int ret = draw(surface);
    return ret < 0 ? ret : surface_flip(canvas);
}

const struct video_canvas_kind video_surface = {
    .create = surface_create,
    .destroy = surface_destroy,
    .configure = surface_configure,
    .draw = surface_draw,
    .flip = surface_flip,
    .redraw = surface_redraw,
};
