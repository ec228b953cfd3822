/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random macroblocks of a CAVLC slice: the syntax is valid, but the picture has no meaning. There is no
 * encoder, because the tests only compare the decoder with itself.
 *
 * Every 4x4 block has all the coefficients that it can have, or one less. So the neighbours of each block
 * have eight or more coefficients, and coeff_token has a fixed length (ITU-T H.264, table 9-5, nC >= 8).
 * Therefore few code tables are needed, and a field is long enough to be interrupted in the middle. The
 * missing coefficient is important: if every block wrote all its coefficients, the leftovers of an
 * interrupted macroblock would always be overwritten and never be seen.
 */
#ifndef FIELD_SLICE_H
#define FIELD_SLICE_H

#include <stdbool.h>

#include "bit_writer.h"

/* Returns a random number below limit, by xorshift64. The state must not be 0. */
uint32_t random_below(uint64_t *state, uint32_t limit);

/* Writes count macroblocks of an I slice (inter false) or a P slice with two reference fields. */
void slice_put_macroblocks(struct bit_writer *writer, uint64_t *random, int count, bool inter);

#endif
