/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_stamps.h"

#include "clip.h"
#include "ns.h"

#include <string.h>

static void remove_first(struct picture_stamps *stamps)
{
    stamps->count--;
    memmove(&stamps->dts_ns[0], &stamps->dts_ns[1], (size_t)stamps->count * sizeof stamps->dts_ns[0]);
}

void picture_stamps_clear(struct picture_stamps *stamps)
{
    stamps->count = 0;
}

void picture_stamps_add(struct picture_stamps *stamps, const AVStream *stream, const AVPacket *packet)
{
    const int64_t dts_ns = clip_pts_ns(stream, packet->dts);
    /* FFmpeg gives B pictures of a stream without PTS their DTS as PTS. That of MXF does so with all pictures. */
    const bool is_own = packet->pts != packet->dts || (!stamps->has_packet && !stream->codecpar->video_delay);
    stamps->has_pts |= packet->pts != AV_NOPTS_VALUE && is_own;
    stamps->has_packet = true;
    if (stamps->has_pts || dts_ns == NS_UNKNOWN)
        return;
    if (stamps->count == PICTURE_STAMPS_MAX)
        remove_first(stamps);
    int place = stamps->count++;
    for (; place > 0 && stamps->dts_ns[place - 1] > dts_ns; place--)
        stamps->dts_ns[place] = stamps->dts_ns[place - 1];
    stamps->dts_ns[place] = dts_ns;
}

int64_t picture_stamps_take(struct picture_stamps *stamps, const AVStream *stream, const AVFrame *picture, int delay)
{
    if (stamps->has_pts || !stamps->count)
        return clip_pts_ns(stream, picture->pts);
    while (stamps->count > delay + 1)
        remove_first(stamps);
    const int64_t first_ns = stamps->dts_ns[0];
    remove_first(stamps);
    return first_ns;
}
