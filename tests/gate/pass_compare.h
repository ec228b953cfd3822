/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expectations on decode passes; they fail the running libcheck test. */
#ifndef PASS_COMPARE_H
#define PASS_COMPARE_H

#include "decode_pass.h"

size_t count_droppable(const struct decode_pass *pass);
size_t count_abandoned(const struct decode_pass *pass);

typedef void expectation(const struct decode_pass *undisturbed, const struct decode_pass *pass);

/*
 * Expects that pass has the pictures of undisturbed, in the same order, with the same types
 * and times, and that only droppable ones are abandoned.
 */
expectation expect_same_order;

/*
 * Expects that too, that all others have the same samples, and that the decoder had nothing
 * to report that it did not report undisturbed.
 */
expectation expect_same_but_abandoned;

/*
 * Decodes the stream with random interruptions, pass after pass, expecting the same of each,
 * until at least wanted decodes were interrupted; fails the test if that takes too many
 * passes. Returns how many were.
 */
int64_t interrupt_often(const struct coded_stream *stream, expectation *expect,
                        const struct decode_pass *undisturbed, uint64_t seed, int64_t wanted);

#endif
