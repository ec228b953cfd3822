/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "av1_rest.h"

#include <libavutil/error.h>
#include <string.h>

int av1_rest_of(const AVPacket *packet, const struct av1_shown *shown, AVPacket **rest)
{
    const size_t size = (size_t)packet->size - shown->size;
    *rest = NULL;
    if (!size)
        return 0;
    *rest = av_packet_alloc();
    int ret = *rest ? av_new_packet(*rest, (int)size) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = av_packet_copy_props(*rest, packet);
    if (ret < 0) {
        av_packet_free(rest);
        return ret;
    }
    memcpy((*rest)->data, packet->data, shown->at);
    memcpy((*rest)->data + shown->at, packet->data + shown->at + shown->size, size - shown->at);
    return 0;
}
