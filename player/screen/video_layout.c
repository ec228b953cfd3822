/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_layout.h"

#include <libavutil/pixdesc.h>

/* Gray, with or without alpha. */
static bool is_gray(const AVPixFmtDescriptor *format)
{
    const uint64_t others = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM;
    return format->nb_components < 3 && !(format->flags & others);
}

/* Gray has no chroma. RGB, palettes, black and white, and XYZ are not converted by a matrix of Y, Cb and Cr. */
static bool has_matrix(const AVPixFmtDescriptor *format)
{
    return format->nb_components >= 3 && !(format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_XYZ));
}

/*
 * The old pixel formats with a "J" in their name are full range. RGB is taken as it is: swscale does so, and encoders call it
 * limited that is not.
 */
static bool is_full_range(const AVFrame *picture, const AVPixFmtDescriptor *format)
{
    switch (picture->format) {
    case AV_PIX_FMT_YUVJ411P:
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ444P:
        return true;
    default:
        if (has_matrix(format))
            return picture->color_range == AVCOL_RANGE_JPEG;
        return !is_gray(format) || picture->color_range != AVCOL_RANGE_MPEG;
    }
}

/* Untagged video is BT.709 when it is high definition, as in SDL and every player we know. */
static enum AVColorSpace usual_matrix(const AVFrame *picture)
{
    return picture->height > 576 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

/* The matrix follows from the primaries. Returns AVCOL_SPC_UNSPECIFIED where it is not one of those that are known. */
static enum AVColorSpace matrix_of_primaries(enum AVColorPrimaries primaries)
{
    switch (primaries) {
    case AVCOL_PRI_BT709: return AVCOL_SPC_BT709;
    case AVCOL_PRI_BT2020: return AVCOL_SPC_BT2020_NCL;
    default: return AVCOL_SPC_UNSPECIFIED;
    }
}

/* Sets *is_known to false where no conversion is known for the matrix. */
static enum AVColorSpace matrix_of(const AVFrame *picture, bool *is_known)
{
    enum AVColorSpace derived;
    *is_known = true;
    switch (picture->colorspace) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_YCGCO:
        return picture->colorspace;
    case AVCOL_SPC_CHROMA_DERIVED_NCL:
        derived = matrix_of_primaries(picture->color_primaries);
        *is_known = derived != AVCOL_SPC_UNSPECIFIED;
        return *is_known ? derived : usual_matrix(picture);
    case AVCOL_SPC_BT2020_CL:
    case AVCOL_SPC_CHROMA_DERIVED_CL:
    case AVCOL_SPC_ICTCP:
    case AVCOL_SPC_IPT_C2:
    case AVCOL_SPC_SMPTE2085:
        *is_known = false;
        return AVCOL_SPC_BT2020_NCL;
    case AVCOL_SPC_YCGCO_RE:
    case AVCOL_SPC_YCGCO_RO:
        *is_known = false;
        return AVCOL_SPC_YCGCO;
    default: /* unspecified, reserved, or "RGB" of a picture that is not RGB */
        return usual_matrix(picture);
    }
}

/* A window of a more extreme picture is a line. Films have up to 4. */
enum { ASPECT_MAX = 100 };

static AVRational sample_aspect_of(const AVFrame *picture)
{
    const AVRational aspect = picture->sample_aspect_ratio;
    const bool is_usable = aspect.num > 0 && aspect.den > 0 && aspect.num / aspect.den < ASPECT_MAX &&
                           aspect.den / aspect.num < ASPECT_MAX;
    return is_usable ? aspect : (AVRational){1, 1};
}

static struct video_orientation orientation_of(const AVFrame *picture)
{
    const AVFrameSideData *const matrix = av_frame_get_side_data(picture, AV_FRAME_DATA_DISPLAYMATRIX);
    const bool is_whole = matrix && matrix->size >= 9 * sizeof(int32_t);
    return video_orientation_of(is_whole ? (const int32_t *)matrix->data : NULL);
}

struct video_layout video_layout_of(const AVFrame *picture)
{
    const AVPixFmtDescriptor *const format = av_pix_fmt_desc_get(picture->format);
    bool is_known = true;
    const enum AVColorSpace matrix = has_matrix(format) ? matrix_of(picture, &is_known) : AVCOL_SPC_RGB;
    return (struct video_layout){
        .width = picture->width,
        .height = picture->height,
        .format = picture->format,
        .colorspace = matrix,
        .is_approximate = !is_known,
        .full_range = is_full_range(picture, format),
        .sample_aspect = sample_aspect_of(picture),
        .orientation = orientation_of(picture),
    };
}

bool video_layouts_equal(const struct video_layout *a, const struct video_layout *b)
{
    return a->width == b->width && a->height == b->height && a->format == b->format &&
           a->colorspace == b->colorspace && a->full_range == b->full_range &&
           av_cmp_q(a->sample_aspect, b->sample_aspect) == 0 &&
           video_orientations_equal(a->orientation, b->orientation);
}

void video_layout_displayed(const struct video_layout *layout, int *width, int *height)
{
    const AVRational aspect = layout->sample_aspect;
    const bool is_wide = aspect.num >= aspect.den;
    const int across = is_wide ? (int)av_rescale(layout->width, aspect.num, aspect.den) : layout->width;
    const int down = is_wide ? layout->height : (int)av_rescale(layout->height, aspect.den, aspect.num);
    *width = layout->orientation.transposed ? down : across;
    *height = layout->orientation.transposed ? across : down;
}

/*
 * By design, AVCOL_SPC_* and SWS_CS_* constants have the same values. swscale may convert RGB to Y, Cb and Cr and back in order to
 * scale it, for which both tables must be the same.
 */
void video_layout_set_colours(const struct video_layout *layout, struct SwsContext *scaler)
{
    const int matrix = layout->colorspace == AVCOL_SPC_RGB ? SWS_CS_DEFAULT : (int)layout->colorspace;
    const int *const coefficients = sws_getCoefficients(matrix);
    sws_setColorspaceDetails(scaler, coefficients, layout->full_range, coefficients, 1, 0, 1 << 16, 1 << 16);
}

struct SwsContext *video_layout_scaler(const struct video_layout *layout, int width, int height,
                                       enum AVPixelFormat format, int flags)
{
    if (!sws_isSupportedInput(layout->format))
        return NULL;
    struct SwsContext *const scaler =
        sws_getContext(layout->width, layout->height, layout->format, width, height, format, flags,
                       NULL, NULL, NULL);
    if (scaler)
        video_layout_set_colours(layout, scaler);
    return scaler;
}
