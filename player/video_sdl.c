/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window by SDL2. One streaming texture holds the last picture; redrawing it costs no upload.
 *
 * SDL's renderers convert 8-bit 4:2:0 themselves, by the matrices of BT.601, BT.709 and JPEG (full
 * range BT.601). What they cannot (other formats, full range BT.709, BT.2020) becomes RGB by
 * swscale with the right matrix.
 */
#include <SDL.h>
#include <errno.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "video_driver.h"

/* What the texture and the window were made for. */
struct layout {
    int width;
    int height;
    enum AVPixelFormat format;
    enum AVColorSpace colorspace;
    bool full_range;
    AVRational sample_aspect;
};

struct video_sdl {
    struct video_sink sink;
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    bool has_picture;
    struct layout layout;
    struct SwsContext *scaler; /* NULL when SDL takes the picture as it is */
};

static struct video_sdl *sdl_of(struct video_sink *sink)
{
    return (struct video_sdl *)sink;
}

/*
 * The bypass of the compositor, vsync and SIGINT are SDL's ideas of a game; and when no display
 * answers, SDL would draw to the bare console or into memory ("offscreen") and call it success.
 * What the user set in the environment wins.
 */
static void set_hints(void)
{
    SDL_SetHint(SDL_HINT_VIDEODRIVER, getenv("WAYLAND_DISPLAY") ? "x11,wayland" : "x11");
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    SDL_SetHint(SDL_HINT_RENDER_VSYNC, "0");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    /* Else the software renderer opens an OpenGL window to see whether that is faster. */
    SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
}

/* A clearer answer than SDL's. */
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

static int open_window(struct video_sdl *sdl, const char *title)
{
    const int centred = SDL_WINDOWPOS_CENTERED;
    sdl->window = SDL_CreateWindow(title, centred, centred, 640, 360,
                                   SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE);
    if (!sdl->window)
        return -ENODEV;
    sdl->renderer = SDL_CreateRenderer(sdl->window, -1, 0);
    if (!sdl->renderer)
        sdl->renderer = SDL_CreateRenderer(sdl->window, -1, SDL_RENDERER_SOFTWARE);
    return sdl->renderer ? 0 : -ENODEV;
}

static void sdl_destroy(struct video_sink *sink)
{
    struct video_sdl *const sdl = sdl_of(sink);
    sws_freeContext(sdl->scaler);
    if (sdl->texture)
        SDL_DestroyTexture(sdl->texture);
    if (sdl->renderer)
        SDL_DestroyRenderer(sdl->renderer);
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

static int refuse(struct video_sdl *sdl, int code, const char *what)
{
    snprintf(sdl->sink.error, sizeof sdl->sink.error, "%s: %s", what, SDL_GetError());
    return code;
}

/* The old pixel formats with "J" say the range by their name. */
static bool is_full_range(const AVFrame *picture)
{
    return picture->color_range == AVCOL_RANGE_JPEG || picture->format == AV_PIX_FMT_YUVJ420P ||
           picture->format == AV_PIX_FMT_YUVJ422P || picture->format == AV_PIX_FMT_YUVJ444P;
}

/* Untagged video is BT.709 when it is high definition, as in SDL and every player we know. */
static enum AVColorSpace matrix_of(const AVFrame *picture)
{
    switch (picture->colorspace) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
        return picture->colorspace;
    default:
        return picture->height > 576 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    }
}

static struct layout layout_of(const AVFrame *picture)
{
    const AVRational aspect = picture->sample_aspect_ratio;
    return (struct layout){
        .width = picture->width,
        .height = picture->height,
        .format = picture->format,
        .colorspace = matrix_of(picture),
        .full_range = is_full_range(picture),
        .sample_aspect = aspect.num > 0 && aspect.den > 0 ? aspect : (AVRational){1, 1},
    };
}

static bool layouts_equal(const struct layout *a, const struct layout *b)
{
    return a->width == b->width && a->height == b->height && a->format == b->format &&
           a->colorspace == b->colorspace && a->full_range == b->full_range &&
           av_cmp_q(a->sample_aspect, b->sample_aspect) == 0;
}

/*
 * True when SDL converts this by itself; sets its matrix, which textures take over when they are
 * made.
 */
static bool choose_matrix(const struct layout *layout)
{
    if (layout->format != AV_PIX_FMT_YUV420P && layout->format != AV_PIX_FMT_YUVJ420P)
        return false;
    const bool is_601 = layout->colorspace == AVCOL_SPC_SMPTE170M ||
                        layout->colorspace == AVCOL_SPC_BT470BG;
    if (layout->colorspace == AVCOL_SPC_BT709 && !layout->full_range)
        SDL_SetYUVConversionMode(SDL_YUV_CONVERSION_BT709);
    else if (is_601)
        SDL_SetYUVConversionMode(layout->full_range ? SDL_YUV_CONVERSION_JPEG
                                                    : SDL_YUV_CONVERSION_BT601);
    else
        return false;
    return true;
}

/* AVCOL_SPC_ and SWS_CS_ have the same numbers by design. */
static struct SwsContext *open_scaler(const struct layout *layout)
{
    if (!sws_isSupportedInput(layout->format))
        return NULL;
    struct SwsContext *const scaler = sws_getContext(
        layout->width, layout->height, layout->format, layout->width, layout->height,
        AV_PIX_FMT_RGB32, SWS_BILINEAR | SWS_FULL_CHR_H_INT | SWS_ACCURATE_RND, NULL, NULL, NULL);
    if (scaler)
        sws_setColorspaceDetails(scaler, sws_getCoefficients((int)layout->colorspace),
                                 layout->full_range, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0,
                                 1 << 16, 1 << 16);
    return scaler;
}

/*
 * What a square pixel display shows: wide samples widen, narrow ones heighten, so that no line is
 * lost.
 */
static void displayed_size(const struct layout *layout, int *width, int *height)
{
    const AVRational aspect = layout->sample_aspect;
    *width = layout->width;
    *height = layout->height;
    if (aspect.num >= aspect.den)
        *width = (int)av_rescale(layout->width, aspect.num, aspect.den);
    else
        *height = (int)av_rescale(layout->height, aspect.den, aspect.num);
}

/* As large as the video, or as fits the screen. */
static void size_window(struct video_sdl *sdl, int width, int height)
{
    SDL_Rect room;
    const int display = SDL_GetWindowDisplayIndex(sdl->window);
    if (SDL_GetDisplayUsableBounds(display, &room) == 0 && (width > room.w || height > room.h)) {
        const bool too_wide = (int64_t)width * room.h > (int64_t)height * room.w;
        const int full_width = width;
        width = too_wide ? room.w : (int)av_rescale(width, room.h, height);
        height = too_wide ? (int)av_rescale(height, room.w, full_width) : room.h;
    }
    SDL_SetWindowSize(sdl->window, width, height);
    SDL_SetWindowPosition(sdl->window, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED);
    SDL_ShowWindow(sdl->window);
}

static int configure(struct video_sdl *sdl, const struct layout *layout)
{
    if (sdl->texture)
        SDL_DestroyTexture(sdl->texture);
    sdl->texture = NULL;
    sdl->has_picture = false;
    sws_freeContext(sdl->scaler);
    sdl->scaler = NULL;
    Uint32 format = SDL_PIXELFORMAT_IYUV;
    if (!choose_matrix(layout)) {
        format = SDL_PIXELFORMAT_ARGB8888;
        sdl->scaler = open_scaler(layout);
        if (!sdl->scaler) {
            snprintf(sdl->sink.error, sizeof sdl->sink.error, "no way to show pixel format %s",
                     av_get_pix_fmt_name(layout->format));
            return -ENOTSUP;
        }
    }
    sdl->texture = SDL_CreateTexture(sdl->renderer, format, SDL_TEXTUREACCESS_STREAMING,
                                     layout->width, layout->height);
    if (!sdl->texture)
        return refuse(sdl, -EIO, "the display takes no picture of this size");
    int width, height;
    displayed_size(layout, &width, &height);
    if (SDL_GetWindowFlags(sdl->window) & SDL_WINDOW_HIDDEN)
        size_window(sdl, width, height);
    SDL_RenderSetLogicalSize(sdl->renderer, width, height);
    sdl->layout = *layout;
    return 0;
}

static int upload_scaled(struct video_sdl *sdl, const AVFrame *picture)
{
    void *pixels;
    int pitch;
    if (SDL_LockTexture(sdl->texture, NULL, &pixels, &pitch) < 0)
        return refuse(sdl, -EIO, "the picture cannot be drawn");
    uint8_t *const planes[4] = {pixels}; /* swscale looks at all four */
    const int pitches[4] = {pitch};
    sws_scale(sdl->scaler, (const uint8_t *const *)picture->data, picture->linesize, 0,
              picture->height, planes, pitches);
    SDL_UnlockTexture(sdl->texture);
    return 0;
}

static int upload(struct video_sdl *sdl, const AVFrame *picture)
{
    if (sdl->scaler)
        return upload_scaled(sdl, picture);
    if (SDL_UpdateYUVTexture(sdl->texture, NULL, picture->data[0], picture->linesize[0],
                             picture->data[1], picture->linesize[1], picture->data[2],
                             picture->linesize[2]) < 0)
        return refuse(sdl, -EIO, "the picture cannot be drawn");
    return 0;
}

static int draw(struct video_sdl *sdl)
{
    SDL_SetRenderDrawColor(sdl->renderer, 0, 0, 0, SDL_ALPHA_OPAQUE);
    if (SDL_RenderClear(sdl->renderer) < 0 ||
        SDL_RenderCopy(sdl->renderer, sdl->texture, NULL, NULL) < 0)
        return refuse(sdl, -EIO, "the picture cannot be drawn");
    SDL_RenderPresent(sdl->renderer);
    return 0;
}

static int sdl_show(struct video_sink *sink, const AVFrame *picture)
{
    struct video_sdl *const sdl = sdl_of(sink);
    const struct layout layout = layout_of(picture);
    int ret = 0;
    if (!sdl->texture || !layouts_equal(&layout, &sdl->layout))
        ret = configure(sdl, &layout);
    if (ret == 0)
        ret = upload(sdl, picture);
    if (ret == 0)
        ret = draw(sdl);
    sdl->has_picture |= ret == 0;
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

/* Ctrl-Q, Alt-Left and the like belong to somebody else. */
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
    if (redraw && sdl->has_picture)
        draw(sdl);
    return input;
}

const struct video_driver video_sdl = {
    .kind = "sdl",
    .create = sdl_create,
    .destroy = sdl_destroy,
    .set_title = sdl_set_title,
    .show = sdl_show,
    .poll = sdl_poll,
};
