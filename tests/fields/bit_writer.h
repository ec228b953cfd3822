/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the bits of one H.264 NAL unit: fixed and Exp-Golomb codes (ITU-T H.264, 9.1),
 * emulation prevention (7.4.1) and an Annex B start code. Aborts if there is no memory: only a
 * test uses it.
 */
#ifndef BIT_WRITER_H
#define BIT_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct bit_writer {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    uint32_t pending;  /* bits not yet in bytes, right-aligned */
    int pending_count;
    int zero_count;    /* zero bytes just written */
};

/* Starts a NAL unit after those that were written before. */
void bits_start_nal(struct bit_writer *writer, int ref_idc, int type);

/* Writes the stop bit, and zero bits up to the next byte. */
void bits_end_nal(struct bit_writer *writer);

void bits_put(struct bit_writer *writer, int count, uint32_t value); /* count <= 24 */
void bits_put_ue(struct bit_writer *writer, uint32_t value);
void bits_put_se(struct bit_writer *writer, int32_t value);

/* Writes zero bits up to the next byte. */
void bits_align(struct bit_writer *writer);

/* Frees the bytes; the writer is empty again. */
void bits_finish(struct bit_writer *writer);

#endif
