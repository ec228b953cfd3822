/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The macroblocks of a CAVLC slice, made up at random: the syntax is valid and what it shows
 * means nothing. There is no encoder in it, for only the decoder's agreement with itself is tested.
 *
 * Every 4x4 block has all the coefficients it can have, or one less. Then each block's neighbours
 * have eight or more of them and coeff_token is of fixed length (ITU-T H.264, table 9-5,
 * nC >= 8), so hardly any code tables are needed, and a field is long enough to be interrupted in
 * its middle. The one that is missing matters: where a block writes all its coefficients, leftovers
 * of an interrupted macroblock would never be seen.
 */
#ifndef FIELD_SLICE_H
#define FIELD_SLICE_H

#include <stdbool.h>

#include "bit_writer.h"

/* xorshift64; the state must not be 0. Returns a number below limit. */
uint32_t random_below(uint64_t *state, uint32_t limit);

/* Writes count macroblocks of an I slice (inter false) or a P slice with two reference fields. */
void slice_put_macroblocks(struct bit_writer *writer, uint64_t *random, int count, bool inter);

#endif
