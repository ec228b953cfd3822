/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "png_packet.h"

#include "picture_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { LENGTH_SIZE = 4, TYPE_SIZE = 4, CHUNKS_SIZE = 1024, STREAM_SIZE = 64, BITS = 8, GREY = 0, NO_FILTER = 0 };

int png_packet_width(int width)
{
    return width + width / 2;
}

/* Each row begins with its filter. What cannot be compressed grows by less than a thousandth, and by the stream's ends. */
size_t png_packet_capacity(int width, int height)
{
    const size_t rows = (size_t)height * ((size_t)png_packet_width(width) + 1);
    return rows + rows / 1000 + STREAM_SIZE + CHUNKS_SIZE;
}

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        *at++ = (uint8_t)(value >> shift);
    return at;
}

/* Returns where the chunk's data begin. Its length and checksum follow by chunk_end. */
static uint8_t *chunk_begin(uint8_t *chunk, const char *type)
{
    memcpy(chunk + LENGTH_SIZE, type, TYPE_SIZE);
    return chunk + LENGTH_SIZE + TYPE_SIZE;
}

/* Returns where the next chunk begins. */
static uint8_t *chunk_end(uint8_t *chunk, uint8_t *end)
{
    uint8_t *const type = chunk + LENGTH_SIZE;
    put_u32(chunk, (uint32_t)(end - type - TYPE_SIZE));
    return put_u32(end, (uint32_t)crc32(0, type, (uInt)(end - type)));
}

static uint8_t *put_header(uint8_t *chunk, const struct png_planes *planes)
{
    static const uint8_t form[] = {BITS, GREY, 0, 0, 0};
    uint8_t *at = chunk_begin(chunk, "IHDR");
    at = put_u32(at, (uint32_t)png_packet_width(planes->width));
    at = put_u32(at, (uint32_t)planes->height);
    memcpy(at, form, sizeof form);
    return chunk_end(chunk, at + sizeof form);
}

static uint8_t *put_comment(uint8_t *chunk, int64_t number)
{
    static const char key[] = "Comment"; /* with its 0 */
    uint8_t *at = chunk_begin(chunk, "tEXt");
    memcpy(at, key, sizeof key);
    at += sizeof key;
    return chunk_end(chunk, at + sprintf((char *)at, "picture %" PRId64 " of the camera", number));
}

/* There is room for all that the stream gives. */
static int feed(z_stream *stream, const uint8_t *data, int size)
{
    stream->next_in = (uint8_t *)data; /* zlib does not write there */
    stream->avail_in = (uInt)size;
    return deflate(stream, Z_NO_FLUSH) == Z_OK ? 0 : -EIO;
}

static int feed_rows(z_stream *stream, const struct png_planes *planes)
{
    static const uint8_t filter = NO_FILTER, black[STORE_SIDE_MAX / 2];
    const int half = planes->width / 2;
    int error = 0;
    for (int y = 0; y < planes->height && !error; y++) {
        error = feed(stream, &filter, 1);
        if (!error)
            error = feed(stream, planes->whole + (size_t)y * (size_t)planes->width, planes->width);
        if (!error)
            error = feed(stream, y < planes->height / 2 ? planes->halved + (size_t)y * (size_t)half : black, half);
    }
    if (error)
        return error;
    stream->avail_in = 0;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? 0 : -EIO;
}

/* *chunk: where it begins, then where the next one begins. */
static int put_rows(uint8_t **chunk, const struct png_planes *planes, int level)
{
    z_stream stream = {0};
    if (deflateInit(&stream, level) != Z_OK)
        return -ENOMEM;
    stream.next_out = chunk_begin(*chunk, "IDAT");
    stream.avail_out = (uInt)(png_packet_capacity(planes->width, planes->height) - CHUNKS_SIZE);
    const int error = feed_rows(&stream, planes);
    if (!error)
        *chunk = chunk_end(*chunk, stream.next_out);
    deflateEnd(&stream);
    return error;
}

int64_t png_packet_write(uint8_t *packet, const struct png_planes *planes, int64_t number, int level)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    memcpy(packet, signature, sizeof signature);
    uint8_t *at = put_header(packet + sizeof signature, planes);
    at = put_comment(at, number);
    const int error = put_rows(&at, planes, level);
    if (error)
        return error;
    at = chunk_end(at, chunk_begin(at, "IEND"));
    return at - packet;
}
