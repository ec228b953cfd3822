/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mpeg_pictures.h"

#include "start_code.h"

#include <stdio.h>
#include <string.h>

/* ISO/IEC 13818-2, 6.3.9: temporal_reference has ten bits, picture_coding_type three. */
static bool mpeg12_is_b(struct bytes packet)
{
    enum { PICTURE = 0, TYPE_B = 3 };
    while (find_start_code(&packet)) {
        if (*packet.at != PICTURE)
            continue;
        struct bits header = {.bytes = packet};
        bits_skip(&header, 8 + 10);
        return bits_read(&header, 3) == TYPE_B && !header.ended;
    }
    return false;
}

/* ISO/IEC 14496-2, 6.2.1. */
enum { SEQUENCE = 0xB0, USER_DATA = 0xB2, VOP = 0xB6, VOP_TYPE_SHIFT = 6, VOP_I = 0, VOP_P = 1, VOP_B = 2 };

/* An encoder that packs says so by the last letter: "DivX503b1393p". */
static void read_user_data(struct mpeg_state *state, struct bytes user_data)
{
    char text[64] = "";
    const size_t size = bytes_left(&user_data);
    memcpy(text, user_data.at, size < sizeof text ? size : sizeof text - 1);
    int version;
    int build;
    char last = '\0';
    if (sscanf(text, "DivX%dBuild%d%c", &version, &build, &last) >= 2 ||
        sscanf(text, "DivX%db%d%c", &version, &build, &last) >= 2)
        state->packed = last == 'p';
}

/* The VOPs of a packet. */
struct vops {
    int count;
    int types[2]; /* of the first two */
    bool begins_sequence;
};

static struct vops look_at_vops(struct mpeg_state *state, struct bytes packet)
{
    struct vops vops = {0};
    for (bool first = true; find_start_code(&packet); first = false) {
        const int code = *packet.at;
        const struct bytes after = {packet.at + 1, packet.end};
        vops.begins_sequence |= first && code == SEQUENCE;
        if (code == USER_DATA && !vops.count)
            read_user_data(state, after);
        if (code == VOP && bytes_left(&after) > 0 && vops.count < 2)
            vops.types[vops.count++] = *after.at >> VOP_TYPE_SHIFT;
    }
    return vops;
}

/* FFmpeg puts aside an I-VOP or B-VOP only: a P-VOP stands for a picture without content. */
static void put_aside(struct mpeg_state *state, const struct vops *vops, int which)
{
    state->put_aside = state->packed && which < vops->count && vops->types[which] != VOP_P && vops->types[which] <= VOP_B;
    state->aside_is_b = state->put_aside && vops->types[which] == VOP_B;
}

static bool mpeg4_is_b(struct mpeg_state *state, struct bytes packet)
{
    enum { EMPTY_SIZE_MAX = 7 }; /* FFmpeg looks for no VOP to put aside in so short a packet */
    const struct vops vops = look_at_vops(state, packet);
    if (!state->put_aside || vops.begins_sequence) {
        put_aside(state, &vops, 1);
        return vops.count && vops.types[0] == VOP_B;
    }
    const bool is_b = state->aside_is_b;
    put_aside(state, &vops, bytes_left(&packet) > EMPTY_SIZE_MAX ? 0 : 2);
    return is_b;
}

void mpeg_configure(struct mpeg_state *state, struct bytes configuration)
{
    state->packed = false;
    mpeg_flush(state);
    look_at_vops(state, configuration);
}

bool mpeg_packet_is_droppable(struct mpeg_state *state, struct bytes packet)
{
    return state->codec == AV_CODEC_ID_MPEG4 ? mpeg4_is_b(state, packet) : mpeg12_is_b(packet);
}

void mpeg_flush(struct mpeg_state *state)
{
    state->put_aside = false;
}
