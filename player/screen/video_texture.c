/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window drawn by one of SDL's renderers. One streaming texture holds the last picture, so that
 * redrawing needs no upload.
 *
 * The renderers convert 8-bit 4:2:0 themselves, with the matrices of BT.601, BT.709 and JPEG (full
 * range BT.601). swscale converts what they cannot (other formats, full range BT.709, BT.2020) to
 * RGB with the right matrix.
 */
#include <errno.h>
#include <stdlib.h>

#include "video_canvas.h"
#include "video_card.h"

struct texture_canvas {
    struct video_canvas canvas;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    struct SwsContext *scaler; /* NULL when SDL takes the picture as it is */
    struct video_orientation orientation;
    SDL_FRect shown; /* the place of the picture */
    bool has_picture;
};

static struct texture_canvas *texture_of(struct video_canvas *canvas)
{
    return (struct texture_canvas *)canvas;
}

/*
 * Returns NULL where the CPU would draw. A renderer that the user names (SDL_RENDER_DRIVER, which SDL reads as a hint) is taken as
 * it is.
 */
static SDL_Renderer *create_renderer(SDL_Window *window)
{
    const char *const name = SDL_GetHint(SDL_HINT_RENDER_DRIVER);
    const bool is_named = name && *name;
    if (!is_named && !video_card_is_offered())
        return NULL;
    SDL_Renderer *const renderer = SDL_CreateRenderer(window, -1, SDL_RENDERER_ACCELERATED);
    if (!renderer || is_named || !video_card_is_emulated())
        return renderer;
    SDL_DestroyRenderer(renderer);
    return NULL;
}

static struct video_canvas *texture_create(SDL_Window *window)
{
    struct texture_canvas *const texture = calloc(1, sizeof *texture);
    if (!texture)
        return NULL;
    texture->canvas = (struct video_canvas){.kind = &video_texture, .window = window};
    texture->renderer = create_renderer(window);
    if (texture->renderer)
        return &texture->canvas;
    free(texture);
    return NULL;
}

static void forget(struct texture_canvas *texture)
{
    if (texture->texture)
        SDL_DestroyTexture(texture->texture);
    texture->texture = NULL;
    sws_freeContext(texture->scaler);
    texture->scaler = NULL;
    texture->has_picture = false;
}

static void texture_destroy(struct video_canvas *canvas)
{
    struct texture_canvas *const texture = texture_of(canvas);
    forget(texture);
    SDL_DestroyRenderer(texture->renderer);
    free(texture);
}

/*
 * Returns true when SDL converts this layout by itself, and sets SDL's matrix. A texture takes the
 * matrix that is set when it is created.
 */
static bool choose_matrix(const struct video_layout *layout)
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

static int texture_configure(struct video_canvas *canvas, const struct video_layout *layout)
{
    struct texture_canvas *const texture = texture_of(canvas);
    forget(texture);
    Uint32 format = SDL_PIXELFORMAT_IYUV;
    if (!choose_matrix(layout)) {
        format = SDL_PIXELFORMAT_ARGB8888;
        texture->scaler = video_layout_scaler(
            layout, layout->width, layout->height, AV_PIX_FMT_RGB32,
            SWS_BILINEAR | SWS_FULL_CHR_H_INT | SWS_ACCURATE_RND);
        if (!texture->scaler)
            return -ENOTSUP;
    }
    texture->texture = SDL_CreateTexture(texture->renderer, format, SDL_TEXTUREACCESS_STREAMING,
                                         layout->width, layout->height);
    if (!texture->texture)
        return -EIO;
    int width, height;
    video_layout_displayed(layout, &width, &height);
    SDL_RenderSetLogicalSize(texture->renderer, width, height);
    texture->orientation = layout->orientation;
    texture->shown = (SDL_FRect){.w = (float)width, .h = (float)height};
    return 0;
}

static int upload_scaled(struct texture_canvas *texture, const AVFrame *picture)
{
    void *pixels;
    int pitch;
    if (SDL_LockTexture(texture->texture, NULL, &pixels, &pitch) < 0)
        return -EIO;
    uint8_t *const planes[4] = {pixels}; /* swscale reads all four elements */
    const int pitches[4] = {pitch};
    sws_scale(texture->scaler, (const uint8_t *const *)picture->data, picture->linesize, 0,
              picture->height, planes, pitches);
    SDL_UnlockTexture(texture->texture);
    return 0;
}

static int upload(struct texture_canvas *texture, const AVFrame *picture)
{
    if (texture->scaler)
        return upload_scaled(texture, picture);
    const int ret = SDL_UpdateYUVTexture(texture->texture, NULL, picture->data[0],
                                         picture->linesize[0], picture->data[1],
                                         picture->linesize[1], picture->data[2],
                                         picture->linesize[2]);
    return ret < 0 ? -EIO : 0;
}

/* Turning and mirroring cost nothing: a corner of the place takes another corner of the texture. */
static int copy_turned(const struct texture_canvas *texture)
{
    enum { CORNERS = 4 };
    static const SDL_FPoint unit[CORNERS] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    static const int two_triangles[] = {0, 1, 2, 0, 2, 3};
    SDL_Vertex corners[CORNERS];
    for (int i = 0; i < CORNERS; i++) {
        corners[i] = (SDL_Vertex){
            .position = {unit[i].x * texture->shown.w, unit[i].y * texture->shown.h},
            .color = {255, 255, 255, SDL_ALPHA_OPAQUE},
            .tex_coord = unit[i],
        };
        video_orientation_locate(texture->orientation, &corners[i].tex_coord.x, &corners[i].tex_coord.y);
    }
    return SDL_RenderGeometry(texture->renderer, texture->texture, corners, CORNERS, two_triangles, SDL_arraysize(two_triangles));
}

static int copy_texture(const struct texture_canvas *texture)
{
    if (video_orientation_is_plain(texture->orientation))
        return SDL_RenderCopy(texture->renderer, texture->texture, NULL, NULL);
    return copy_turned(texture);
}

static int copy(struct texture_canvas *texture)
{
    SDL_SetRenderDrawColor(texture->renderer, 0, 0, 0, SDL_ALPHA_OPAQUE);
    const bool copied = SDL_RenderClear(texture->renderer) == 0 &&
                        copy_texture(texture) == 0;
    /* SDL only keeps a list of what is to be drawn. The renderer can do that work now. */
    return copied && SDL_RenderFlush(texture->renderer) == 0 ? 0 : -EIO;
}

static int texture_draw(struct video_canvas *canvas, const AVFrame *picture)
{
    struct texture_canvas *const texture = texture_of(canvas);
    int ret = upload(texture, picture);
    if (ret == 0)
        ret = copy(texture);
    texture->has_picture |= ret == 0;
    return ret;
}

static int texture_flip(struct video_canvas *canvas)
{
    SDL_RenderPresent(texture_of(canvas)->renderer);
    return 0;
}

static int texture_redraw(struct video_canvas *canvas)
{
    struct texture_canvas *const texture = texture_of(canvas);
    if (!texture->has_picture)
        return 0;
    const int ret = copy(texture);
    return ret < 0 ? ret : texture_flip(canvas);
}

const struct video_canvas_kind video_texture = {
    .create = texture_create,
    .destroy = texture_destroy,
    .configure = texture_configure,
    .draw = texture_draw,
    .flip = texture_flip,
    .redraw = texture_redraw,
};
