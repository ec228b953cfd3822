/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leaves out the loop filter of single pictures, by AVCodecContext.skip_loop_filter.
 *
 * libavcodec copies the field to a codec thread together with the packet, so a change concerns the next packet and no earlier
 * one. Three of its decoders ask the field anew for each picture, and nothing but the picture's samples depends on the answer:
 * H.264 asks for each slice, VP8 for each picture, and HEVC for each block (deblocking and SAO). Others do not ask (VP9, MPEG,
 * libdav1d), keep what they found at a header (VC-1), or filter references when these are used (VP6).
 *
 * The field is AVDISCARD_ALL or AVDISCARD_DEFAULT here. The values in between choose pictures by rules of their own:
 * AVDISCARD_NONREF would be wrong for HEVC, where pictures of a higher sub-layer may refer to such pictures.
 */
#ifndef PLAYER_LOOP_FILTER_H
#define PLAYER_LOOP_FILTER_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

/* Returns whether the loop filter of one picture can be left out, and not those of others. */
bool loop_filter_is_separate(const AVCodecContext *avctx);

/* Before avcodec_send_packet. Changes nothing if the loop filter is not separate. */
void loop_filter_leave_out(AVCodecContext *avctx, bool left_out);

#endif
