/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a thread does about its timer outside blocks: before its first block, and before it sleeps. */
#include "thread.h"

int dlex_thread_init(void)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_try_within_disable();
    const int err = dlex_prepare(t);
    if (t->is_ending)
        dlex_give_back(t);
    dlex_try_within_enable();
    return err;
}

void dlex_idle(void)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_try_within_disable();
    if (t->has_timer && t->armed_ns) {
        t->armed_ns = 0;
        dlex_rearm(t, dlex_now_ns());
        if (!t->armed_ns)
            dlex_notify_arm(&t->notify, INT64_MAX);
        dlex_notify_flush(&t->notify);
    }
    dlex_target_flush(&t->target);
    dlex_try_within_enable();
}
