/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nal_units.h"

#include "start_code.h"

#include <stdio.h>
#include <string.h>

/* ISO/IEC 14496-15: a configuration record begins with this version. FFmpeg knows it by its first bytes, too. */
enum {
    AVC_VERSION = 1, AVC_LENGTH_AT = 4, AVC_RECORD_MIN = 7,
    HEVC_LENGTH_AT = 21, HEVC_ARRAYS_AT = 22, HEVC_RECORD_MIN = 23, LENGTH_MASK = 3,
};

/* What the units of a packet that were looked at so far say. */
struct slices {
    bool any;
    bool referenced;
    int gradual;
};

/* The bytes of a unit without those that only keep start codes out of it. Beyond the end they are 0. */
struct payload {
    struct bytes bytes;
    int zeros; /* how many were just before */
};

static bool payload_ended(const struct payload *payload)
{
    return !bytes_left(&payload->bytes);
}

static uint8_t take_byte(struct payload *payload)
{
    enum { EMULATION_PREVENTION = 3, ZEROS = 2 };
    if (payload->zeros >= ZEROS && !payload_ended(payload) && *payload->bytes.at == EMULATION_PREVENTION) {
        payload->bytes.at++;
        payload->zeros = 0;
    }
    if (payload_ended(payload))
        return 0;
    const uint8_t byte = *payload->bytes.at++;
    payload->zeros = byte ? 0 : payload->zeros + 1;
    return byte;
}

/* H.264, 7.3.2.3.1: a number is the sum of bytes of 255 and one that is less. */
static uint32_t take_message_number(struct payload *payload)
{
    enum { GOES_ON = 255 };
    uint32_t sum = 0;
    while (!payload_ended(payload)) {
        const uint8_t byte = take_byte(payload);
        sum += byte;
        if (byte != GOES_ON)
            break;
    }
    return sum;
}

/* The beginning of a message of supplemental information, with a zero behind it. */
struct message {
    uint8_t data[64];
    size_t size;
};

static struct message take_message(struct payload *payload, uint32_t size)
{
    struct message message = {0};
    for (; size > 0 && !payload_ended(payload); size--) {
        const uint8_t byte = take_byte(payload);
        if (message.size < sizeof message.data - 1)
            message.data[message.size++] = byte;
    }
    return message;
}

/* H.264, D.1.8: a recovery point begins with the number of reference pictures that it takes, as an Exp-Golomb code. */
static int recovery_pictures(const struct message *message)
{
    enum { ZEROS_MAX = 16 }; /* frame_num has no more bits */
    struct bits bits = {.bytes = {message->data, message->data + message->size}};
    int zeros = 0;
    while (zeros < ZEROS_MAX && !bits.ended && !bits_flag(&bits))
        zeros++;
    return message->size ? (1 << zeros) - 1 + (int)bits_read(&bits, zeros) : 0;
}

/* Returns the build of x264 in a message of user data (H.264, D.1.7), or 0. Reads it as FFmpeg's decoder does. */
static int x264_build(const struct message *message)
{
    enum { UUID_SIZE = 16, FIRST_WITH_NUMBER = 67 };
    const char *const text = (const char *)message->data + UUID_SIZE;
    int build = 0;
    if (message->size < UUID_SIZE || sscanf(text, "x264 - core %d", &build) != 1 || build < 0)
        return 0;
    return build == 1 && !strncmp(text, "x264 - core 0000", 16) ? FIRST_WITH_NUMBER : build;
}

static void look_at_messages(struct nal_state *state, struct slices *slices, struct bytes unit)
{
    enum { USER_DATA = 5, RECOVERY_POINT = 6, TRAILING = 0x80 };
    struct payload payload = {.bytes = {unit.at + 1, unit.end}};
    while (!payload_ended(&payload)) {
        const uint32_t type = take_message_number(&payload);
        const uint32_t size = take_message_number(&payload);
        const struct message message = take_message(&payload, size);
        if (type == RECOVERY_POINT)
            slices->gradual = recovery_pictures(&message);
        else if (type == USER_DATA && x264_build(&message))
            state->x264_build = x264_build(&message);
        if (!payload_ended(&payload) && *payload.bytes.at == TRAILING)
            break;
    }
}

/* H.264, 7.4.1. Partitioned slices do not count: FFmpeg does not decode them. */
static void look_at_h264(struct nal_state *state, struct slices *slices, struct bytes unit)
{
    enum { SLICE = 1, SLICE_IDR = 5, SEI = 6, TYPE_MASK = 31, REF_IDC_MASK = 96 };
    const int type = *unit.at & TYPE_MASK;
    if (type == SEI)
        look_at_messages(state, slices, unit);
    if (type != SLICE && type != SLICE_IDR)
        return;
    slices->any = true;
    slices->referenced |= (*unit.at & REF_IDC_MASK) != 0;
}

/*
 * HEVC, 7.4.2.2: pictures of even types below 10 are not referred to within their sub-layer; only those of the highest
 * sub-layer are not referred to at all. Key pictures begin at 16; the types between are reserved, and no decoder takes
 * them for slices. Units of other layers belong to other views, which are not decoded.
 */
static void look_at_hevc(struct nal_state *state, struct slices *slices, struct bytes unit)
{
    enum { RESERVED = 10, KEY_PICTURE = 16, KEY_PICTURE_END = 22, SEQUENCE_PARAMETERS = 33, HEADER_SIZE = 2 };
    struct bits bits = {.bytes = unit};
    bits_skip(&bits, 1);
    const uint32_t type = bits_read(&bits, 6);
    const uint32_t layer = bits_read(&bits, 6);
    const int sub_layer = (int)bits_read(&bits, 3) - 1;
    if (bits.ended || layer != 0)
        return;
    if (type == SEQUENCE_PARAMETERS && bytes_left(&unit) > HEADER_SIZE) {
        bits_skip(&bits, 4); /* sps_video_parameter_set_id */
        state->highest_layer = (int)bits_read(&bits, 3);
    } else if (type < RESERVED || (type >= KEY_PICTURE && type < KEY_PICTURE_END)) {
        slices->any = true;
        slices->referenced |= type >= KEY_PICTURE || type % 2 || sub_layer != state->highest_layer;
    }
}

static void look_at_unit(struct nal_state *state, struct slices *slices, struct bytes unit)
{
    if (state->codec == AV_CODEC_ID_H264)
        look_at_h264(state, slices, unit);
    else
        look_at_hevc(state, slices, unit);
}

/* Takes a big-endian number. The caller has made sure that it is there. */
static uint32_t take_number(struct bytes *bytes, int size)
{
    uint32_t number = 0;
    while (size-- > 0)
        number = number << 8 | *bytes->at++;
    return number;
}

/* Takes the next unit with its length, or what is left of it. Returns false if there is no byte of it. */
static bool take_unit(struct bytes *bytes, int length_size, struct bytes *unit)
{
    if (bytes_left(bytes) <= (size_t)length_size)
        return false;
    const uint32_t length = take_number(bytes, length_size);
    *unit = *bytes;
    if (length <= bytes_left(bytes))
        unit->end = bytes->at + length;
    bytes->at = unit->end;
    return true;
}

static struct slices look_at_units(struct nal_state *state, struct bytes bytes)
{
    struct slices slices = {0};
    struct bytes unit;
    if (state->has_lengths) {
        while (take_unit(&bytes, state->length_size, &unit))
            if (bytes_left(&unit))
                look_at_unit(state, &slices, unit);
    } else {
        while (find_start_code(&bytes))
            look_at_unit(state, &slices, bytes); /* its end is not looked for: the next start code ends no header */
    }
    return slices;
}

/* ISO/IEC 14496-15, 8.3.3.1: arrays of units, each array with its type, each unit with a length of two bytes. */
static void look_at_hevc_record(struct nal_state *state, struct bytes record)
{
    enum { COUNT_SIZE = 2, LENGTH_SIZE = 2 };
    struct slices ignored = {0};
    state->has_lengths = true;
    state->length_size = (record.at[HEVC_LENGTH_AT] & LENGTH_MASK) + 1;
    int arrays = record.at[HEVC_ARRAYS_AT];
    record.at += HEVC_RECORD_MIN;
    while (arrays-- > 0 && bytes_left(&record) > COUNT_SIZE) {
        record.at++; /* the type */
        uint32_t count = take_number(&record, COUNT_SIZE);
        struct bytes unit;
        while (count-- > 0 && take_unit(&record, LENGTH_SIZE, &unit))
            if (bytes_left(&unit))
                look_at_unit(state, &ignored, unit);
    }
}

void nal_configure(struct nal_state *state, struct bytes configuration)
{
    const size_t size = bytes_left(&configuration);
    const uint8_t *const at = configuration.at;
    state->has_lengths = state->codec == AV_CODEC_ID_H264 && size >= AVC_RECORD_MIN && at[0] == AVC_VERSION;
    if (state->has_lengths)
        state->length_size = (at[AVC_LENGTH_AT] & LENGTH_MASK) + 1;
    else if (state->codec == AV_CODEC_ID_HEVC && size >= HEVC_RECORD_MIN && (at[0] || at[1] || at[2] > 1))
        look_at_hevc_record(state, configuration);
    else
        look_at_units(state, configuration);
}

/* As FFmpeg does: some files of H.264 have start codes, although their configuration speaks of lengths. */
static void recognise_lengths(struct nal_state *state, struct bytes packet)
{
    enum { LENGTH_SIZE = 4, START_CODE = 1, SECOND_LENGTH_AT = 5 };
    const size_t size = bytes_left(&packet);
    if (state->codec != AV_CODEC_ID_H264 || state->length_size != LENGTH_SIZE || size < LENGTH_SIZE)
        return;
    const uint32_t first = AV_RB32(packet.at);
    if (size > 2 * LENGTH_SIZE && first == START_CODE && AV_RB32(packet.at + SECOND_LENGTH_AT) > size)
        state->has_lengths = false;
    else if (first > START_CODE && first <= size)
        state->has_lengths = true;
}

struct nal_facts nal_look_at_packet(struct nal_state *state, struct bytes packet)
{
    recognise_lengths(state, packet);
    const struct slices slices = look_at_units(state, packet);
    return (struct nal_facts){.droppable = slices.any && !slices.referenced, .gradual = slices.gradual};
}
