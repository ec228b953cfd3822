/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codec_list.h"

#include "codec_threads.h"

#include <libavcodec/avcodec.h>

static const struct listed_codec {
    enum AVCodecID id;
    const char *droppable;
    const char *share; /* of the pictures, of the CPU time: the trailer in 1080p, docs/figures.md, "What can be given up" */
} codecs[] = {
    {AV_CODEC_ID_H264, "nal_ref_idc is 0", "47 %, 38 %"},
    {AV_CODEC_ID_HEVC, "non-reference, of the highest sub-layer", "46 %, 34 %"},
    {AV_CODEC_ID_MPEG1VIDEO, "B pictures", "67 %, 64 %"},
    {AV_CODEC_ID_MPEG2VIDEO, "B pictures", "67 %, 63 %"},
    {AV_CODEC_ID_MPEG4, "B-VOPs", "67 %, 61 %"},
    {AV_CODEC_ID_VP8, "shown, updates no reference and no map", "45 %, 36 %"},
    {AV_CODEC_ID_VP9, "shown, refreshes no slot", "50 %, 47 %"},
    {AV_CODEC_ID_AV1, "shown, refreshes no slot", "37 %, 38 %"},
};

static const char layout[] = "%-12s%-41s%-12s%-12s%s\n";

/* AV1's decoder gives up nothing itself. */
static const char *way_of(const AVCodec *decoder)
{
    if (decoder->capabilities & AV_CODEC_CAP_GATE)
        return "jump, poll";
    if (decoder->capabilities & AV_CODEC_CAP_ABANDON)
        return "poll";
    return decoder->id == AV_CODEC_ID_AV1 ? "in advance" : "-";
}

void codec_list_print(FILE *out)
{
    fprintf(out, layout, "codec", "droppable pictures", "typically", "given up", "threads");
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        const AVCodec *const decoder = avcodec_find_decoder(codecs[i].id);
        fprintf(out, layout, avcodec_get_name(codecs[i].id), codecs[i].droppable, codecs[i].share,
                decoder ? way_of(decoder) : "no decoder",
                decoder ? codec_thread_kind_name(codec_thread_kind_of(decoder)) : "-");
    }
    fputs("others      none: late pictures are decoded and not shown\n"
          "\n"
          "typically: their part of the pictures and of the CPU time, in a trailer in 1080p as usual encoders make it, VP8 and\n"
          "VP9 with three temporal layers; often none without B pictures, and none in VP8 and VP9 without layers.\n"
          "jump: with --queue=0, a decode is left at any instruction. poll: the decoder is asked to stop, at each row of\n"
          "blocks. in advance: only a decode that has not begun is given up.\n"
          "threads: each decodes a picture (frame), they share one (slice), or the decoder has its own kind (own).\n", out);
}
