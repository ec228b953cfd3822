/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of decode passes. A failed check fails the running libcheck test. */
#ifndef PASS_COMPARE_H
#define PASS_COMPARE_H

#include "decode_pass.h"

size_t count_droppable(const struct decode_pass *pass);
size_t count_abandoned(const struct decode_pass *pass);

typedef void expectation(const struct decode_pass *undisturbed, const struct decode_pass *pass);

/*
 * Expects that pass has the same pictures as undisturbed, in the same order, with the same types and
 * times, and that only droppable pictures are abandoned.
 */
expectation expect_same_order;

/*
 * Expects the same, and that all other pictures have the same samples, and that the decoder reported
 * nothing more than in the undisturbed pass.
 */
expectation expect_same_but_abandoned;

/*
 * Decodes the stream with random interruptions, pass after pass, until at least wanted decodes were
 * interrupted, and expects the same of each pass. Fails the test if that takes too many passes. Returns
 * how many decodes were interrupted.
 */
int64_t interrupt_often(const struct coded_stream *stream, expectation *expect,
                        const struct decode_pass *undisturbed, uint64_t seed, int64_t wanted);

#endif
