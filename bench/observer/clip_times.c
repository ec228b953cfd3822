/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int append(struct clip_times *times, int64_t pts_ns)
{
    const int64_t count = times->count;
    if (!(count & (count - 1))) { /* a power of two, or the first one: the array is full */
        int64_t *const more = realloc(times->pts_ns, (count ? 2 * (size_t)count : 1) * sizeof *more);
        if (!more)
            return AVERROR(ENOMEM);
        times->pts_ns = more;
    }
    times->pts_ns[times->count++] = pts_ns;
    return 0;
}

static int earlier_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int read_packets(struct clip_times *times, struct clip *clip, AVPacket *packet)
{
    int ret;
    while ((ret = clip_read(clip, packet)) >= 0) {
        if (packet->stream_index == clip->video->index && packet->pts != AV_NOPTS_VALUE)
            ret = append(times, clip_pts_ns(clip->video, packet->pts));
        av_packet_unref(packet);
        if (ret < 0)
            return ret;
    }
    return ret == AVERROR_EOF ? 0 : ret;
}

int clip_times_read(struct clip_times *times, struct clip *clip, char *why, size_t why_size)
{
    *times = (struct clip_times){0};
    if (!clip->video) {
        snprintf(why, why_size, "it has no pictures");
        return AVERROR_STREAM_NOT_FOUND;
    }
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? read_packets(times, clip, packet) : AVERROR(ENOMEM);
    av_packet_free(&packet);
    if (!ret && !times->count)
        ret = AVERROR_INVALIDDATA;
    if (ret < 0) {
        snprintf(why, why_size, "its pictures cannot be counted: %s", av_err2str(ret));
        clip_times_finish(times);
        return ret;
    }
    qsort(times->pts_ns, (size_t)times->count, sizeof *times->pts_ns, earlier_first);
    return 0;
}

void clip_times_finish(struct clip_times *times)
{
    free(times->pts_ns);
    *times = (struct clip_times){0};
}
