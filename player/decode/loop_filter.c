/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "loop_filter.h"

bool loop_filter_is_separate(const AVCodecContext *avctx)
{
    return avctx->codec_id == AV_CODEC_ID_H264 || avctx->codec_id == AV_CODEC_ID_HEVC || avctx->codec_id == AV_CODEC_ID_VP8;
}

void loop_filter_leave_out(AVCodecContext *avctx, bool left_out)
{
    avctx->skip_loop_filter = left_out && loop_filter_is_separate(avctx) ? AVDISCARD_ALL : AVDISCARD_DEFAULT;
}
