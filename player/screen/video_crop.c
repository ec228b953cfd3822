/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_crop.h"

#include <errno.h>
#include <libavutil/pixdesc.h>

/* As many pixels swscale's vector code writes past the end of a line. */
enum { VECTOR_PIXELS = 16 };

/* How far the first sample that is shown lies from the beginning of its sample of chroma. */
struct remainder {
    size_t left;
    size_t top;
};

static struct remainder remainder_of(const AVFrame *picture)
{
    const AVPixFmtDescriptor *const format = av_pix_fmt_desc_get(picture->format);
    if (!format)
        return (struct remainder){0};
    if (format->flags & AV_PIX_FMT_FLAG_BITSTREAM) /* no pointer to a sample can be computed */
        return (struct remainder){picture->crop_left, picture->crop_top};
    return (struct remainder){
        picture->crop_left & (((size_t)1 << format->log2_chroma_w) - 1),
        picture->crop_top & (((size_t)1 << format->log2_chroma_h) - 1),
    };
}

/* Makes `shown` a reference to the picture's buffers, without its edges. */
static int refer(AVFrame *shown, const AVFrame *picture, struct remainder more)
{
    const int ret = av_frame_ref(shown, picture);
    if (ret < 0)
        return ret;
    if (shown->colorspace == AVCOL_SPC_UNSPECIFIED)
        shown->colorspace = video_layout_of(picture).colorspace; /* which depends on the height of the whole */
    shown->crop_left -= more.left;
    shown->crop_top -= more.top;
    return av_frame_apply_cropping(shown, AV_FRAME_CROP_UNALIGNED);
}

static int prepare_converter(struct video_crop *crop, const struct video_layout *layout)
{
    if (crop->converter && video_layouts_equal(layout, &crop->layout))
        return 0;
    sws_freeContext(crop->converter);
    crop->converter = video_layout_scaler(layout, layout->width, layout->height, AV_PIX_FMT_RGB32,
                                          SWS_BILINEAR | SWS_FULL_CHR_H_INT | SWS_ACCURATE_RND);
    crop->layout = *layout;
    return crop->converter ? 0 : -ENOTSUP;
}

/* Gives `rgb` a buffer for a picture of this size. */
static int make_room(AVFrame *rgb, int width, int height)
{
    rgb->format = AV_PIX_FMT_RGB32;
    rgb->width = width + VECTOR_PIXELS;
    rgb->height = height;
    const int ret = av_frame_get_buffer(rgb, 0);
    rgb->width = width;
    return ret;
}

/* Replaces `shown` by the same picture in RGB, without the rest of its edges. */
static int convert(struct video_crop *crop, AVFrame *rgb, struct remainder more)
{
    AVFrame *const shown = crop->shown;
    const struct video_layout layout = video_layout_of(shown);
    int ret = prepare_converter(crop, &layout);
    if (ret == 0)
        ret = make_room(rgb, shown->width, shown->height);
    if (ret == 0)
        ret = av_frame_copy_props(rgb, shown);
    if (ret < 0)
        return ret;
    sws_scale(crop->converter, (const uint8_t *const *)shown->data, shown->linesize, 0, shown->height, rgb->data, rgb->linesize);
    rgb->colorspace = AVCOL_SPC_RGB;
    rgb->color_range = AVCOL_RANGE_JPEG;
    rgb->crop_left = more.left;
    rgb->crop_top = more.top;
    av_frame_unref(shown);
    av_frame_move_ref(shown, rgb);
    return av_frame_apply_cropping(shown, AV_FRAME_CROP_UNALIGNED);
}

static bool has_edges(const AVFrame *picture)
{
    const size_t across = picture->crop_left + picture->crop_right;
    const size_t down = picture->crop_top + picture->crop_bottom;
    return (across || down) && across < (size_t)picture->width && down < (size_t)picture->height;
}

int video_crop_apply(struct video_crop *crop, const AVFrame *picture, const AVFrame **shown)
{
    *shown = picture;
    if (!has_edges(picture))
        return 0;
    if (!crop->shown)
        crop->shown = av_frame_alloc();
    if (!crop->shown)
        return -ENOMEM;
    av_frame_unref(crop->shown);
    const struct remainder more = remainder_of(picture);
    int ret = refer(crop->shown, picture, more);
    if (ret == 0 && (more.left || more.top)) {
        AVFrame *rgb = av_frame_alloc();
        ret = rgb ? convert(crop, rgb, more) : -ENOMEM;
        av_frame_free(&rgb);
    }
    *shown = crop->shown;
    return ret;
}

void video_crop_finish(struct video_crop *crop)
{
    av_frame_free(&crop->shown);
    sws_freeContext(crop->converter);
    *crop = (struct video_crop){0};
}
