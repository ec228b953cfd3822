/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random macroblocks of a CABAC slice of a field: the syntax is valid, but the picture has no meaning. There is no
 * encoder, because the tests only compare the decoder with itself.
 *
 * Few kinds of macroblocks are written, so that few contexts are needed: samples as they are (I_PCM), and in P slices
 * prediction of 16x16 samples with one of two references, a vector and all luma blocks coded. Each block has about half of
 * its coefficients, so that leftovers of an interrupted macroblock show.
 */
#ifndef FIELD_CABAC_H
#define FIELD_CABAC_H

#include <stdbool.h>

#include "bit_writer.h"

/* Writes the slice data, with its stop bit: `rows` whole rows of `width` macroblocks, of an I or a P slice. */
void cabac_put_macroblocks(struct bit_writer *bits, uint64_t *random, int width, int rows, bool inter, int qp);

#endif
