/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gate_clips.h"

#include <stdio.h>

#include "clip_path.h"
#include "made_streams.h"

/*
 * What FFmpeg makes of a damaged picture may depend on what the pictures before left in its tables, droppable ones too
 * (H.264: coefficients; MPEG: which macroblocks were skipped). So only the order is compared there. libdav1d conceals nothing:
 * it rejects what it cannot decode, so with AV1 all is compared.
 */
const struct gate_clip gate_clips[] = {
    {"h264", "h264_cabac", .comparison = COMPARE_ALL},
    {"h264", "h264_cavlc", .comparison = COMPARE_ALL},
    {"h264", "h264_slices", .comparison = COMPARE_ALL},
    {"h264", "h264_pyramid", .comparison = COMPARE_ALL},
    {"h264", "h264_pyramid", .comparison = COMPARE_ALL, .seek = true},
    {"h264", "h264_mbaff", .comparison = COMPARE_ALL},
    {"h264", "h264_422_10bit", .comparison = COMPARE_ALL},
    {"h264", "h264_444", .comparison = COMPARE_ALL},
    {"h264", "h264_slices", .change = grainy_stream, .changed = "grain", .comparison = COMPARE_ALL},
    {"h264", "h264_cabac", .joined = "h264_mbaff", .comparison = COMPARE_ALL},
    {"h264", "h264_slices", .damaged = true},
    {"hevc", "hevc_pyramid", .comparison = COMPARE_ALL},
    {"hevc", "hevc_open", .comparison = COMPARE_ALL},
    {"hevc", "hevc_open", .comparison = COMPARE_ALL, .seek = true},
    {"hevc", "hevc_wavefront", .comparison = COMPARE_ALL},
    {"hevc", "hevc_422_10bit", .comparison = COMPARE_ALL},
    {"hevc", "hevc_444", .comparison = COMPARE_ALL},
    {"hevc", "hevc_layers", .comparison = COMPARE_ALL},
    {"hevc", "hevc_layers", .change = relabelled_stream, .changed = "relabelled", .comparison = COMPARE_ALL},
    {"hevc", "hevc_fields", .comparison = COMPARE_ALL},
    {"hevc", "hevc_rows", .change = tiled_stream, .changed = "tiles", .comparison = COMPARE_ALL},
    {"hevc", "hevc_pyramid", .change = grainy_stream, .changed = "grain", .comparison = COMPARE_ALL},
    {"hevc", "hevc_pyramid", .joined = "hevc_fields", .comparison = COMPARE_ALL},
    {"hevc", "hevc_wavefront", .damaged = true},
    {"mpeg12", "mpeg1_ibbp", .comparison = COMPARE_ALL},
    {"mpeg12", "mpeg2_ibbp", .comparison = COMPARE_ALL},
    {"mpeg12", "mpeg2_ibbp", .comparison = COMPARE_ALL, .seek = true},
    {"mpeg12", "mpeg2_interlaced", .comparison = COMPARE_ALL},
    {"mpeg12", "mpeg2_422", .comparison = COMPARE_ALL},
    {"mpeg12", "mpeg2_ibbp", .joined = "mpeg2_interlaced", .comparison = COMPARE_ALL},
    {"mpeg12", "mpeg2_ibbp", .damaged = true},
    {"mpeg4", "mpeg4_b", .comparison = COMPARE_ALL},
    {"mpeg4", "mpeg4_packets", .comparison = COMPARE_ALL},
    {"mpeg4", "mpeg4_packets", .comparison = COMPARE_ALL, .seek = true},
    {"mpeg4", "mpeg4_interlaced", .comparison = COMPARE_ALL},
    {"mpeg4", "mpeg4_packed", .comparison = COMPARE_ALL},
    {"mpeg4", "mpeg4_packed", .comparison = COMPARE_ALL, .seek = true},
    {"mpeg4", "mpeg4_packets", .joined = "mpeg4_interlaced", .comparison = COMPARE_ALL},
    {"mpeg4", "mpeg4_packets", .damaged = true},
    {"vp8", "vp8_layers", .comparison = COMPARE_ALL},
    {"vp8", "vp8_layers", .comparison = COMPARE_ALL, .seek = true},
    {"vp8", "vp8_map", .comparison = COMPARE_ALL},
    {"vp8", "vp8_small", .comparison = COMPARE_ALL},
    {"vp8", "vp8_layers", .joined = "vp8_small", .comparison = COMPARE_ALL},
    {"vp8", "vp8_plain", .plain = true, .comparison = COMPARE_ALL},
    {"vp8", "vp8_layers", .damaged = true},
    {"vp9", "vp9_layers", .comparison = COMPARE_ALL},
    {"vp9", "vp9_layers", .comparison = COMPARE_ALL, .seek = true},
    {"vp9", "vp9_tiles", .comparison = COMPARE_ALL},
    {"vp9", "vp9_resilient", .comparison = COMPARE_ALL},
    {"vp9", "vp9_422_10bit", .comparison = COMPARE_ALL},
    {"vp9", "vp9_444", .comparison = COMPARE_ALL},
    {"vp9", "vp9_layers", .change = repeating_stream, .changed = "repeating", .comparison = COMPARE_ALL},
    {"vp9", "vp9_layers", .joined = "vp9_tiles", .comparison = COMPARE_ALL},
    {"vp9", "vp9_plain", .plain = true, .comparison = COMPARE_ALL},
    {"vp9", "vp9_layers", .damaged = true},
    {"av1", "av1_svt", .comparison = COMPARE_ALL},
    {"av1", "av1_svt", .comparison = COMPARE_ALL, .seek = true},
    {"av1", "av1_svt", .change = captioned_stream, .changed = "captions", .comparison = COMPARE_ALL},
    {"av1", "av1_svt_grain", .comparison = COMPARE_ALL},
    {"av1", "av1_aom", .comparison = COMPARE_ALL},
    {"av1", "av1_svt", .joined = "av1_aom", .comparison = COMPARE_ALL},
    {"av1", "av1_svt", .damaged = true, .comparison = COMPARE_ALL},
};
const int gate_clip_count = sizeof(gate_clips) / sizeof(*gate_clips);

static int load_named(struct coded_stream *stream, const char *name)
{
    char path[4096];
    const int missing = clip_path(path, sizeof(path), name);
    if (missing > 0)
        printf("without %s: it cannot be made on this machine\n", name);
    if (missing)
        return missing > 0 ? 0 : -1;
    if (stream_load(stream, path, SIZE_MAX) >= 0)
        return 1;
    printf("%s cannot be read\n", path);
    return -1;
}

/* Replaces *stream by what `make` made of it. */
static int replace(struct coded_stream *stream, int ret, struct coded_stream *made)
{
    stream_finish(stream);
    *stream = *made;
    if (ret >= 0)
        return 1;
    printf("no stream can be made of another: %s\n", av_err2str(ret));
    stream_finish(stream);
    return -1;
}

static int join(struct coded_stream *stream, const char *name)
{
    struct coded_stream second;
    const int loaded = load_named(&second, name);
    if (loaded <= 0) {
        stream_finish(stream);
        return loaded;
    }
    struct coded_stream made;
    const int ret = joined_stream(&made, stream, &second);
    stream_finish(&second);
    return replace(stream, ret, &made);
}

int gate_clip_load(const struct gate_clip *clip, struct coded_stream *stream)
{
    struct coded_stream made;
    int loaded = load_named(stream, clip->name);
    if (loaded > 0 && clip->joined)
        loaded = join(stream, clip->joined);
    if (loaded > 0 && clip->change) {
        const int ret = clip->change(&made, stream);
        loaded = replace(stream, ret, &made);
    }
    if (loaded > 0 && clip->damaged) {
        const int ret = damaged_stream(&made, stream, 1);
        loaded = replace(stream, ret, &made);
    }
    return loaded;
}

bool gate_clips_can_be_made(void)
{
    struct coded_stream stream;
    const int loaded = gate_clip_load(&gate_clips[0], &stream);
    if (loaded > 0)
        stream_finish(&stream);
    return loaded != 0;
}

struct pass_seek gate_clip_seek(const struct gate_clip *clip, const struct coded_stream *stream)
{
    if (clip->seek)
        for (size_t i = stream->packet_count / 2; i < stream->packet_count; i++)
            if (stream->packets[i]->flags & AV_PKT_FLAG_KEY)
                return (struct pass_seek){.after = stream->packet_count / 6, .to = i};
    return (struct pass_seek){0};
}

const char *gate_clip_describe(const struct gate_clip *clip, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s%s%s%s%s%s", clip->name, clip->joined ? " + " : "", clip->joined ? clip->joined : "",
             clip->changed ? ", " : "", clip->changed ? clip->changed : "", clip->damaged ? ", damaged" : "",
             clip->seek ? ", seek" : "");
    return buffer;
}

int gate_modes(const struct coded_stream *stream, int threads, struct decode_mode modes[GATE_MODES_MAX])
{
    const struct decode_mode all[] = {
        {WAY_JUMP, 1, FF_THREAD_FRAME},
        {WAY_POLL, 1, FF_THREAD_FRAME},
        {WAY_POLL, threads, FF_THREAD_FRAME},
        {WAY_POLL, threads, FF_THREAD_SLICE},
        {WAY_WITHHOLD, 1, FF_THREAD_FRAME},
        {WAY_WITHHOLD, threads, FF_THREAD_FRAME},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (mode_is_possible(stream, all[i]))
            modes[count++] = all[i];
    return count;
}
