/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bit_writer.h"

#include <assert.h>
#include <stdlib.h>

static void put_raw_byte(struct bit_writer *writer, uint8_t byte)
{
    if (writer->size == writer->capacity) {
        writer->capacity = writer->capacity ? 2 * writer->capacity : 65536;
        writer->bytes = realloc(writer->bytes, writer->capacity);
        if (!writer->bytes)
            abort();
    }
    writer->bytes[writer->size++] = byte;
}

static void put_payload_byte(struct bit_writer *writer, uint8_t byte)
{
    if (writer->zero_count == 2 && byte <= 3) {
        put_raw_byte(writer, 3);
        writer->zero_count = 0;
    }
    put_raw_byte(writer, byte);
    writer->zero_count = byte ? 0 : writer->zero_count + 1;
}

void bits_start_nal(struct bit_writer *writer, int ref_idc, int type)
{
    assert(!writer->pending_count);
    for (int i = 0; i < 3; i++)
        put_raw_byte(writer, 0);
    put_raw_byte(writer, 1);
    put_raw_byte(writer, ref_idc << 5 | type);
    writer->zero_count = 0;
}

void bits_put(struct bit_writer *writer, int count, uint32_t value)
{
    assert(count <= 24 && value < 1u << count);
    writer->pending = writer->pending << count | value;
    writer->pending_count += count;
    while (writer->pending_count >= 8) {
        writer->pending_count -= 8;
        put_payload_byte(writer, writer->pending >> writer->pending_count);
    }
}

void bits_put_ue(struct bit_writer *writer, uint32_t value)
{
    int length = 0;
    while ((value + 1) >> (length + 1))
        length++;
    bits_put(writer, length, 0);
    bits_put(writer, length + 1, value + 1);
}

void bits_put_se(struct bit_writer *writer, int32_t value)
{
    bits_put_ue(writer, value > 0 ? 2 * value - 1 : -2 * value);
}

void bits_align(struct bit_writer *writer)
{
    if (writer->pending_count)
        bits_put(writer, 8 - writer->pending_count, 0);
}

void bits_end_nal(struct bit_writer *writer)
{
    bits_put(writer, 1, 1);
    bits_align(writer);
}

void bits_finish(struct bit_writer *writer)
{
    free(writer->bytes);
    *writer = (struct bit_writer){0};
}
