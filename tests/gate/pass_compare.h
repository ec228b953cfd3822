/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expectations on decode passes; they fail the running libcheck test. */
#ifndef PASS_COMPARE_H
#define PASS_COMPARE_H

#include "decode_pass.h"

size_t count_droppable(const struct decode_pass *pass);
size_t count_abandoned(const struct decode_pass *pass);

/*
 * Expects that pass has the pictures of undisturbed, in the same order, with the same types
 * and times, that only droppable ones are abandoned, that all others have the same
 * samples, and that the decoder had nothing to report that it did not report undisturbed.
 */
void expect_same_but_abandoned(const struct decode_pass *undisturbed,
                               const struct decode_pass *pass);

/*
 * Decodes the stream with random interruptions, pass after pass, comparing each, until at
 * least wanted decodes were interrupted; fails the test if most_passes do not do.
 * Returns how many were.
 */
int64_t interrupt_often(const struct coded_stream *stream,
                        const struct decode_pass *undisturbed, uint64_t seed, int64_t wanted,
                        int most_passes);

#endif
