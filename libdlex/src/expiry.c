/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "thread.h"

/* What a walk over the open blocks of a thread finds at one instant. */
struct survey {
    struct dlex_block_ *owner; /* outermost expired block that may be interrupted */
    bool hidden;               /* a block outside the shield has expired */
    int64_t next_ns;           /* earliest deadline that has not passed */
};

static struct survey look(const struct thread_state *t, int64_t now_ns)
{
    struct survey s = { .next_ns = INT64_MAX };
    bool shielded = false;
    for (struct dlex_block_ *b = t->top; b; b = b->outer) {
        if (b->deadline_ns > now_ns) {
            if (b->deadline_ns < s.next_ns)
                s.next_ns = b->deadline_ns;
        } else if (shielded) {
            s.hidden = true;
        } else {
            /* Its violation closes the blocks inside it: their deadlines need no timer. */
            s.owner = b;
            s.next_ns = INT64_MAX;
        }
        shielded |= b == t->floor;
    }
    return s;
}

static int arm_next(struct thread_state *t, int64_t next_ns)
{
    t->armed_ns = 0;
    return next_ns == INT64_MAX ? 0 : dlex_timer_arm(t, next_ns);
}

int dlex_rearm(struct thread_state *t, int64_t now_ns)
{
    return arm_next(t, look(t, now_ns).next_ns);
}

_Noreturn static void deliver(struct thread_state *t, struct dlex_block_ *owner, int64_t now_ns,
                              enum expiry_source source)
{
    t->violation = (struct dlex_violation){
        .deadline_ns = owner->deadline_ns,
        .noticed_ns = source == EXPIRY_LIFTED && t->noticed_ns >= owner->deadline_ns
                          ? t->noticed_ns : now_ns,
        .released_ns = source == EXPIRY_LIFTED ? now_ns : 0,
    };
    dlex_unwind(t, &dlex_deadline_violation, owner, owner->where);
}

/* One look, with the guard held. Returns whether a block outside the shield waits. */
static bool attend_once(struct thread_state *t, enum expiry_source source)
{
    const bool waiting = dlex_guard_.pending;
    dlex_guard_.pending = 0;
    const int64_t now_ns = dlex_now_ns();
    const struct survey s = look(t, now_ns);
    if (t->armed_ns <= now_ns)
        arm_next(t, s.next_ns);
    else if (source == EXPIRY_SIGNAL)
        /* A signal of an earlier arming. Were it of this one after all, by a rounding of clocks,
         * the expiry would be lost; arming again costs less than proving that it cannot be. */
        dlex_timer_arm(t, t->armed_ns);
    if (s.hidden && !waiting)
        t->noticed_ns = now_ns;
    if (s.owner) {
        if (s.hidden)
            dlex_guard_.pending = 1;
        deliver(t, s.owner, now_ns, source);
    }
    return s.hidden;
}

void dlex_attend(struct thread_state *t, enum expiry_source source)
{
    bool hidden;
    do {
        dlex_guard_.depth = 1;
        DLEX_FENCE_();
        hidden = attend_once(t, source);
        DLEX_FENCE_();
        dlex_guard_.depth = 0;
    } while (dlex_guard_.pending);
    if (hidden)
        dlex_guard_.pending = 1;
}

static uintptr_t interrupted_sp(const void *context)
{
    const ucontext_t *uc = context;
#if defined(__x86_64__)
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
#elif defined(__i386__)
    return (uintptr_t)uc->uc_mcontext.gregs[REG_ESP];
#elif defined(__aarch64__)
    return (uintptr_t)uc->uc_mcontext.sp;
#else
    (void)uc;
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

void dlex_on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    struct thread_state *t = &dlex_thread_state;
    if (dlex_guard_.depth > 0) {
        if (!dlex_guard_.pending)
            t->noticed_ns = dlex_now_ns();
        dlex_guard_.pending = 1;
        return;
    }
    /* Nothing below sets errno when it succeeds, and arming a timer that exists succeeds; a jump
     * therefore leaves it as it was. */
    const int saved_errno = errno;
    dlex_try_within_disable();
    dlex_discard_left(t, 0, interrupted_sp(context));
    DLEX_FENCE_();
    dlex_guard_.depth = 0;
    dlex_attend(t, EXPIRY_SIGNAL);
    errno = saved_errno;
}

void dlex_lift_(void)
{
    if (dlex_guard_.depth < 0)
        dlex_misuse("dlex_try_within_enable", "no section is open");
    dlex_attend(&dlex_thread_state, EXPIRY_LIFTED);
}

int64_t dlex_remaining_ns(void)
{
    const struct dlex_block_ *top = dlex_thread_state.top;
    if (!top || top->earliest_ns == INT64_MAX)
        return INT64_MAX;
    return top->earliest_ns - dlex_now_ns();
}

const struct dlex_violation *dlex_last_violation(void)
{
    return &dlex_thread_state.violation;
}

int64_t dlex_expired_ns(void)
{
    const struct dlex_violation *v = &dlex_thread_state.violation;
    return v->caught_ns - v->deadline_ns;
}
