/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "av1_packet.h"

#include <libavutil/error.h>

static struct bytes bytes_of(const uint8_t *data, size_t size)
{
    return (struct bytes){data, data ? data + size : data};
}

struct av1_shown av1_look_at_packet(struct av1_sequence *sequence, const AVPacket *packet)
{
    size_t size = 0;
    const uint8_t *const configuration = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
    if (configuration)
        av1_configure(sequence, bytes_of(configuration, size));
    return av1_look_at_unit(sequence, bytes_of(packet->data, (size_t)packet->size));
}

int av1_rest_of(const AVPacket *packet, const struct av1_shown *shown, AVPacket **rest)
{
    *rest = av_packet_alloc();
    int ret = *rest ? av_new_packet(*rest, packet->size) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = av_packet_copy_props(*rest, packet);
    if (ret < 0) {
        av_packet_free(rest);
        return ret;
    }
    const size_t size = av1_copy_rest((*rest)->data, bytes_of(packet->data, (size_t)packet->size), shown);
    if (size)
        av_shrink_packet(*rest, (int)size);
    else
        av_packet_free(rest);
    return 0;
}
