/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window by SDL2: its creation and end, its size and its keys. A graphics card draws the pictures
 * if one can be used, otherwise the CPU draws them.
 */
#include <SDL.h>
#include <SDL_syswm.h>
#include <errno.h>
#include <libavutil/pixdesc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "video_canvas.h"
#include "video_colours.h"
#include "video_crop.h"
#include "video_driver.h"

struct video_sdl {
    struct video_sink sink;
    SDL_Window *window;
    struct video_canvas *canvas;
    bool configured; /* the canvas is configured for `layout` */
    struct video_layout layout;
    struct video_colours colours;
    struct video_crop crop;
    SDL_Point size; /* the size that the player last gave the window */
};

static struct video_sdl *sdl_of(struct video_sink *sink)
{
    return (struct video_sdl *)sink;
}

/*
 * SDL's defaults are made for games: it bypasses the compositor, waits for vsync and handles
 * SIGINT. And when no display answers, SDL would draw to the bare console or into memory
 * ("offscreen") and report success. A value that the user set in the environment has priority.
 */
static void set_hints(void)
{
    SDL_SetHint(SDL_HINT_VIDEODRIVER, getenv("WAYLAND_DISPLAY") ? "x11,wayland" : "x11");
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    SDL_SetHint(SDL_HINT_RENDER_VSYNC, "0");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    /* Otherwise the software renderer opens an OpenGL window to test whether that is faster. */
    SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
}

/*
 * SDL opens an input method, for which libX11 reads all sequences of the Compose key (thousands of lines: 11 ms before the first picture).
 * The player takes keys, not text. A file that the user names is read all the same.
 */
static void leave_out_composing(void)
{
    setenv("XCOMPOSEFILE", "/dev/null", 0);
}

/* Checked here because our error message is clearer than SDL's. */
static bool display_is_named(void)
{
    static const char *const names[] = {"SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = getenv(names[i]);
        if (value && *value)
            return true;
    }
    return false;
}

/* The user requests it with SDL's own environment variable, which SDL reads as a hint. */
static bool wants_software(void)
{
    const char *const driver = SDL_GetHint(SDL_HINT_RENDER_DRIVER);
    return driver && SDL_strcasecmp(driver, "software") == 0;
}

static int open_window(struct video_sdl *sdl, const char *title)
{
    const int centred = SDL_WINDOWPOS_CENTERED;
    sdl->window = SDL_CreateWindow(title, centred, centred, 640, 360,
                                   SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE);
    if (!sdl->window)
        return -ENODEV;
    if (!wants_software())
        sdl->canvas = video_texture.create(sdl->window);
    if (!sdl->canvas)
        sdl->canvas = video_surface.create(sdl->window);
    return sdl->canvas ? 0 : -ENODEV;
}

static void sdl_destroy(struct video_sink *sink)
{
    struct video_sdl *const sdl = sdl_of(sink);
    if (sdl->canvas)
        sdl->canvas->kind->destroy(sdl->canvas);
    video_colours_finish(&sdl->colours);
    video_crop_finish(&sdl->crop);
    if (sdl->window)
        SDL_DestroyWindow(sdl->window);
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
    free(sdl);
}

static int sdl_create(struct video_sink **out, const char *title, char *why, size_t why_size)
{
    if (!display_is_named()) {
        snprintf(why, why_size, "no display (DISPLAY and WAYLAND_DISPLAY are unset)");
        return -ENODEV;
    }
    set_hints();
    leave_out_composing();
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) < 0) {
        snprintf(why, why_size, "the display cannot be opened: %s", SDL_GetError());
        return -ENODEV;
    }
    struct video_sdl *const sdl = calloc(1, sizeof *sdl);
    if (!sdl) {
        snprintf(why, why_size, "out of memory");
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
        return -ENOMEM;
    }
    sdl->sink.driver = &video_sdl;
    if (open_window(sdl, title) < 0) {
        snprintf(why, why_size, "no window can be opened: %s", SDL_GetError());
        sdl_destroy(&sdl->sink);
        return -ENODEV;
    }
    *out = &sdl->sink;
    return 0;
}

static void sdl_set_title(struct video_sink *sink, const char *title)
{
    SDL_SetWindowTitle(sdl_of(sink)->window, title);
}

/* Returns this size, or the largest of the same aspect that fits the room. */
static SDL_Point size_in(const SDL_Rect *room, int width, int height)
{
    if (width <= room->w && height <= room->h)
        return (SDL_Point){width, height};
    const bool too_wide = (int64_t)width * room->h > (int64_t)height * room->w;
    const int least_width = too_wide ? room->w : (int)av_rescale(width, room->h, height);
    const int least_height = too_wide ? (int)av_rescale(height, room->w, width) : room->h;
    return (SDL_Point){SDL_max(least_width, 1), SDL_max(least_height, 1)};
}

/* Keeps the middle of the window where it is, as far as the window then fits the room. */
static void resize_window(struct video_sdl *sdl, const SDL_Rect *room)
{
    SDL_Rect now;
    SDL_GetWindowPosition(sdl->window, &now.x, &now.y);
    SDL_GetWindowSize(sdl->window, &now.w, &now.h);
    const int left = now.x + (now.w - sdl->size.x) / 2;
    const int top = now.y + (now.h - sdl->size.y) / 2;
    SDL_SetWindowSize(sdl->window, sdl->size.x, sdl->size.y);
    SDL_SetWindowPosition(sdl->window, SDL_max(room->x, SDL_min(left, room->x + room->w - sdl->size.x)),
                          SDL_max(room->y, SDL_min(top, room->y + room->h - sdl->size.y)));
}

/* Returns whether the user, or the window manager, has given the window another size than the player has. */
static bool was_resized(const struct video_sdl *sdl)
{
    SDL_Point now;
    SDL_GetWindowSize(sdl->window, &now.x, &now.y);
    return now.x != sdl->size.x || now.y != sdl->size.y;
}

/* Makes the window as large as the video, or as large as fits the screen. A size that the user has chosen stays. */
static void size_window(struct video_sdl *sdl, int width, int height)
{
    SDL_Rect room = {.w = width, .h = height};
    const bool is_hidden = SDL_GetWindowFlags(sdl->window) & SDL_WINDOW_HIDDEN;
    if (!is_hidden && was_resized(sdl))
        return;
    SDL_GetDisplayUsableBounds(SDL_GetWindowDisplayIndex(sdl->window), &room);
    const SDL_Point size = size_in(&room, width, height);
    if (!is_hidden && size.x == sdl->size.x && size.y == sdl->size.y)
        return;
    sdl->size = size;
    resize_window(sdl, &room);
    if (!is_hidden)
        return;
    SDL_SetWindowPosition(sdl->window, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED);
    SDL_ShowWindow(sdl->window);
}

static int configure(struct video_sdl *sdl, const struct video_layout *layout)
{
    sdl->configured = false;
    const int ret = sdl->canvas->kind->configure(sdl->canvas, layout);
    if (ret < 0)
        return ret;
    int width, height;
    video_layout_displayed(layout, &width, &height);
    size_window(sdl, width, height);
    sdl->layout = *layout;
    sdl->configured = true;
    return 0;
}

static void explain(struct video_sdl *sdl, int code, const AVFrame *picture)
{
    char *const error = sdl->sink.error;
    const size_t size = sizeof sdl->sink.error;
    if (code == -ENOTSUP)
        snprintf(error, size, "pixel format %s cannot be shown",
                 av_get_pix_fmt_name(picture->format));
    else if (code == -ENOMEM)
        snprintf(error, size, "out of memory");
    else
        snprintf(error, size, "the picture of %dx%d cannot be drawn: %s", picture->width,
                 picture->height, SDL_GetError());
}

/* Draws a picture of which all samples are to be shown. */
static int draw_shown(struct video_sdl *sdl, const AVFrame *picture)
{
    const struct video_layout layout = video_layout_of(picture);
    int ret = 0;
    if (!sdl->configured || !video_layouts_equal(&layout, &sdl->layout))
        ret = configure(sdl, &layout);
    return ret < 0 ? ret : sdl->canvas->kind->draw(sdl->canvas, picture);
}

static int sdl_draw(struct video_sink *sink, const AVFrame *picture)
{
    struct video_sdl *const sdl = sdl_of(sink);
    const AVFrame *known, *shown = NULL;
    int ret = video_colours_apply(&sdl->colours, picture, &known);
    if (ret == 0)
        ret = video_crop_apply(&sdl->crop, known, &shown);
    if (ret == 0)
        ret = draw_shown(sdl, shown);
    if (ret < 0)
        explain(sdl, ret, picture);
    return ret;
}

static int sdl_flip(struct video_sink *sink)
{
    struct video_sdl *const sdl = sdl_of(sink);
    const int ret = sdl->canvas->kind->flip(sdl->canvas);
    if (ret < 0)
        snprintf(sdl->sink.error, sizeof sdl->sink.error, "the window cannot be updated: %s", SDL_GetError());
    return ret;
}

static enum input input_of_key(const SDL_KeyboardEvent *key)
{
    switch (key->keysym.sym) {
    case SDLK_q:
    case SDLK_ESCAPE:
        return INPUT_QUIT;
    case SDLK_SPACE:
    case SDLK_p:
        return key->repeat ? INPUT_NONE : INPUT_PAUSE;
    case SDLK_LEFT:
        return INPUT_SEEK_BACK_10;
    case SDLK_RIGHT:
        return INPUT_SEEK_FORWARD_10;
    case SDLK_DOWN:
        return INPUT_SEEK_BACK_60;
    case SDLK_UP:
        return INPUT_SEEK_FORWARD_60;
    default:
        return INPUT_NONE;
    }
}

/* Ctrl-Q, Alt-Left and other combinations with a modifier are not the player's. */
static enum input input_of(const SDL_Event *event)
{
    if (event->type == SDL_QUIT)
        return INPUT_QUIT;
    if (event->type == SDL_KEYDOWN && !(event->key.keysym.mod & (KMOD_CTRL | KMOD_ALT | KMOD_GUI)))
        return input_of_key(&event->key);
    return INPUT_NONE;
}

static bool uncovers(const SDL_Event *event)
{
    return event->type == SDL_WINDOWEVENT && (event->window.event == SDL_WINDOWEVENT_EXPOSED ||
                                              event->window.event == SDL_WINDOWEVENT_SIZE_CHANGED);
}

static enum input sdl_poll(struct video_sink *sink)
{
    struct video_sdl *const sdl = sdl_of(sink);
    enum input input = INPUT_NONE;
    bool redraw = false;
    SDL_Event event;
    while (input == INPUT_NONE && SDL_PollEvent(&event)) {
        input = input_of(&event);
        redraw |= uncovers(&event);
    }
    if (redraw)
        sdl->canvas->kind->redraw(sdl->canvas);
    return input;
}

static int sdl_wake_fd(const struct video_sink *sink)
{
#ifdef SDL_VIDEO_DRIVER_X11
    const struct video_sdl *const sdl = (const struct video_sdl *)sink;
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (SDL_GetWindowWMInfo(sdl->window, &info) && info.subsystem == SDL_SYSWM_X11)
        return ConnectionNumber(info.info.x11.display);
#else
    (void)sink;
#endif
    return -1;
}

const struct video_driver video_sdl = {
    .kind = "sdl",
    .create = sdl_create,
    .destroy = sdl_destroy,
    .set_title = sdl_set_title,
    .draw = sdl_draw,
    .flip = sdl_flip,
    .poll = sdl_poll,
    .wake_fd = sdl_wake_fd,
};
