/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls a gate's run with its own deadline inside a protected section. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdint.h>

#include <libavcodec/avcodec.h>

/*
 * Returns what run(avctx, arg) returns, or AVERROR(ECANCELED) if run was aborted because limit_ns had
 * passed.
 */
int interrupt_after(int64_t limit_ns, int (*run)(AVCodecContext *, void *),
                    AVCodecContext *avctx, void *arg);

#endif
