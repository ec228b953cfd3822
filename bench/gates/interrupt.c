/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "interrupt.h"

#include <dlex/dlex.h>

int interrupt_after(int64_t limit_ns, int (*run)(AVCodecContext *, void *),
                    AVCodecContext *avctx, void *arg)
{
    volatile int ret = AVERROR(ECANCELED); /* survives the jump */
    dlex_try_within_abs_shielded(dlex_now_ns() + limit_ns) {
        ret = run(avctx, arg);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        ret = AVERROR(ECANCELED); /* run may have ended just before the deadline */
    } dlex_end
    return ret;
}
