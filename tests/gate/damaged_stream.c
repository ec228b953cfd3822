/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "damaged_stream.h"

bool damaged_stream_changes(size_t packet)
{
    return packet % 4 == 3;
}

int damaged_stream(struct coded_stream *damaged, const struct coded_stream *stream, uint64_t random)
{
    *damaged = (struct coded_stream){.parameters = avcodec_parameters_alloc()};
    int ret = damaged->parameters ? avcodec_parameters_copy(damaged->parameters, stream->parameters)
                                  : AVERROR(ENOMEM);
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++) {
        ret = stream_append(damaged, stream->packets[i]);
        AVPacket *packet = ret < 0 ? NULL : damaged->packets[i];
        if (!packet || !damaged_stream_changes(i) || packet->size < 128)
            continue;
        ret = av_packet_make_writable(packet);
        for (int j = 0; ret >= 0 && j < 3; j++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            packet->data[64 + (random >> 33) % (packet->size - 64)] ^= 0x55;
        }
    }
    return ret;
}
