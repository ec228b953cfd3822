/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include "protection_keys.h"
#include "thread.h"

#ifndef SS_AUTODISARM /* Linux 4.7 */
#define SS_AUTODISARM (1U << 31)
#endif

/* One instant on both clocks. CPU time costs a system call, so it is read only for WCETs. */
struct instant {
    int64_t now_ns;
    int64_t cpu_ns;
};

static struct instant instant_of(int64_t now_ns)
{
    const bool cpu = dlex_guard_.top && dlex_guard_.top->cpu_limit_ns < DLEX_LOOK_;
    return (struct instant){ now_ns, cpu ? dlex_cpu_ns() : 0 };
}

/* What a walk over the open blocks of a thread finds at one instant. */
struct survey {
    struct dlex_block_ *owner; /* outermost expired block that may be interrupted */
    bool hidden;               /* a block outside the shield has expired */
    int64_t next_ns;           /* the next deadline */
    int64_t next_wcet_ns;      /* when the next WCET can run out, on CLOCK_MONOTONIC */
};

static int64_t time_left_ns(const struct dlex_block_ *block, struct instant at)
{
    if (dlex_fired_ns(block))
        return 0;
    if (block->limit_ns == INT64_MAX)
        return INT64_MAX;
    return block->limit_ns - (dlex_is_wcet(block->how) ? at.cpu_ns : at.now_ns);
}

/* Notes when the limit of a block expires next, if that is earlier. Cooperative blocks need no signal. */
static void note_next(struct survey *s, const struct dlex_block_ *block, int64_t left_ns,
                      int64_t now_ns)
{
    int64_t *next_ns = dlex_is_wcet(block->how) ? &s->next_wcet_ns : &s->next_ns;
    if (left_ns < *next_ns - now_ns && !(block->how & DLEX_COOPERATIVE_))
        *next_ns = now_ns + left_ns;
}

static struct survey look(struct instant at)
{
    struct survey s = { .next_ns = INT64_MAX, .next_wcet_ns = INT64_MAX };
    const struct dlex_block_ *floor = dlex_guard_.top ? dlex_guard_.top->floor : NULL;
    bool shielded = false;
    for (struct dlex_block_ *b = dlex_guard_.top; b; b = b->outer) {
        const int64_t left_ns = time_left_ns(b, at);
        if (left_ns > 0) {
            note_next(&s, b, left_ns, at.now_ns);
        } else if (shielded) {
            s.hidden = true;
        } else {
            /* Its violation closes the blocks inside it: their limits need no timer. */
            s.owner = b;
            s.next_ns = s.next_wcet_ns = INT64_MAX;
        }
        shielded |= b == floor;
    }
    return s;
}

static int64_t earliest(const struct survey *s)
{
    return s->next_ns < s->next_wcet_ns ? s->next_ns : s->next_wcet_ns;
}

/*
 * Whether the thread has slept most of the time since the last look in its WCET blocks. Each look wakes
 * it, and takes 15 to 30 us of the CPU time that it checks. The looks would use up the WCET of a thread
 * that sleeps long (1 ms of it in 50 ms of sleep).
 */
static bool has_slept(struct thread_state *t, struct instant at)
{
    const struct instant last = { t->looked_ns, t->looked_cpu_ns };
    const long switches = dlex_notify_switches();
    const bool again = last.now_ns != 0 && switches > t->looked_switches;
    t->looked_ns = at.now_ns;
    t->looked_cpu_ns = at.cpu_ns;
    t->looked_switches = switches;
    return again && at.cpu_ns - last.cpu_ns < (at.now_ns - last.now_ns) / 2;
}

/* When to look next. A thread that sleeps is left alone: the kernel signals, at a tick of its clock,
 * that the thread runs again, and from then on the looks go on. */
static int64_t next_look(struct thread_state *t, const struct survey *s, struct instant at)
{
    if (s->next_wcet_ns != INT64_MAX && has_slept(t, at)
        && dlex_notify_when_running(&t->notify) == 0) {
        t->looked_ns = 0;
        return s->next_ns;
    }
    return earliest(s);
}

static dlex_signal_fn on_signal;

int dlex_prepare(struct thread_state *t)
{
    return dlex_timer_prepare(t, on_signal);
}

int dlex_arm(struct thread_state *t, int64_t deadline_ns)
{
    return dlex_timer_arm(t, deadline_ns, on_signal);
}

static int arm_next(struct thread_state *t, int64_t next_ns)
{
    t->armed_ns = 0;
    return next_ns == INT64_MAX ? 0 : dlex_arm(t, next_ns);
}

void dlex_note_pending(struct thread_state *t, int64_t now_ns)
{
    if (!dlex_guard_.pending) {
        t->noticed_ns = now_ns;
        t->noticed_cpu_ns = dlex_cpu_ns();
    }
    dlex_guard_.pending = 1;
}

int dlex_rearm(struct thread_state *t, int64_t now_ns)
{
    const struct survey s = look(instant_of(now_ns));
    if (s.owner || s.hidden) /* the signal was lost, or the violation waits for the end of a section */
        dlex_note_pending(t, now_ns);
    return arm_next(t, earliest(&s));
}

/*
 * Restores what the return from the handler would restore, since the jump skips that return. The kernel
 * takes a stack with SS_AUTODISARM away from the thread at every signal. This handler runs on that stack, so
 * it can be given back only after the jump: the next signal would begin at its top, over these frames. Until
 * then no other handler may run, because it would find no alternate stack.
 */
static void restore_as_on_return(struct thread_state *t)
{
    const ucontext_t *const uc = t->interrupted;
    if ((unsigned)uc->uc_stack.ss_flags & SS_AUTODISARM) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        t->disarmed = uc;
    } else {
        pthread_sigmask(SIG_SETMASK, &uc->uc_sigmask, NULL);
    }
}

/* AddressSanitizer does not know a stack that is disarmed: it has marked parts of the frames that the jump left
 * there, and would report later handlers. */
static void forget_frames_on(const stack_t *stack)
{
#ifdef __SANITIZE_ADDRESS__
    extern void __asan_unpoison_memory_region(const volatile void *address, size_t size);
    __asan_unpoison_memory_region(stack->ss_sp, stack->ss_size);
#else
    (void)stack;
#endif
}

void dlex_rearm_stack(struct thread_state *t)
{
    const ucontext_t *const uc = t->disarmed;
    stack_t stack = uc->uc_stack;
    sigset_t mask = uc->uc_sigmask;
    stack.ss_flags = (int)SS_AUTODISARM;
    t->disarmed = NULL;
    forget_frames_on(&stack);
    sigaltstack(&stack, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Returns what is known of the violation before it reaches the block. */
static struct dlex_violation violation_of(const struct thread_state *t, const struct dlex_block_ *owner,
                                          struct instant at, enum expiry_source source)
{
    const int64_t fired_ns = dlex_fired_ns(owner);
    const bool cpu = !fired_ns && dlex_is_wcet(owner->how);
    const bool waited = source == EXPIRY_LIFTED;
    const int64_t limit_ns = fired_ns ? fired_ns : owner->limit_ns;
    /* The firing may have come after the clock was read. */
    const int64_t now_ns = cpu ? at.cpu_ns : at.now_ns > fired_ns ? at.now_ns : fired_ns;
    const int64_t noticed_ns = cpu ? t->noticed_cpu_ns : t->noticed_ns;
    return (struct dlex_violation){
        .type = fired_ns ? &dlex_trigger_violation : cpu ? &dlex_wcet_violation : &dlex_deadline_violation,
        .deadline_ns = limit_ns,
        .noticed_ns = waited && noticed_ns >= limit_ns ? noticed_ns : now_ns,
        .released_ns = waited ? now_ns : 0,
    };
}

_Noreturn static void deliver(struct thread_state *t, struct dlex_block_ *owner,
                              struct instant at, enum expiry_source source)
{
    t->violation = violation_of(t, owner, at, source);
    t->passing = true;
    /* Inside a call that sleeps, also in a handler that has interrupted one, libc lets cancellation come
     * at any instruction, and ppoll, pselect, sigsuspend and epoll_pwait have a signal mask of their own.
     * The jump skips the place where both would end, so cancellation stays deferred. */
    if (source == EXPIRY_SIGNAL)
        restore_as_on_return(t);
    pthread_setcancelstate(t->cancellation.state, NULL);
    dlex_unwind(t->violation.type, owner, owner->site->where);
}

static void block_signal(void)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, dlex_signal());
    pthread_sigmask(SIG_BLOCK, &own, NULL);
}

/* With the guard held and the signal blocked: it comes when it is unblocked. */
static void send_to_self(struct thread_state *t)
{
    if (t->has_timer)
        dlex_arm(t, dlex_now_ns());
    else /* a forked child, whose blocks have triggers but no deadlines */
        pthread_kill(pthread_self(), dlex_signal());
}

/*
 * Whether the thread is in a handler that must not be left in the middle: in one of dlex_sigaction,
 * where the signal is blocked, or in a handler of the program that has interrupted one of libc. In the
 * second case the signal gets blocked here, until the handler of the program returns.
 */
static bool is_in_handler(struct thread_state *t)
{
    sigset_t blocked;
    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0)
        return false;
    const bool is_blocked = sigismember(&blocked, dlex_signal());
    if (!is_blocked && !dlex_is_in_libc_handler(&blocked))
        return false;
    if (!is_blocked)
        block_signal();
    if (t->has_timer || !is_blocked)
        send_to_self(t);
    return true;
}

/*
 * Returns the block that may take a violation now: the outermost expired one or one inside it; NULL:
 * none yet. In a handler that must not be left it is not known which blocks were opened there, except
 * for the one that is being opened just now. The others wait for the signal, which comes when it is
 * unblocked. A thread without a timer may have blocked all signals for good: there a checkpoint cannot
 * wait for one.
 */
static struct dlex_block_ *taker(struct thread_state *t, const struct survey *s,
                                 struct instant at, enum expiry_source source)
{
    if (!s->owner || source == EXPIRY_SIGNAL
        || (source == EXPIRY_CHECKPOINT && !t->has_timer) || !is_in_handler(t))
        return s->owner;
    struct dlex_block_ *const newest = dlex_guard_.top;
    return source == EXPIRY_OPENING && time_left_ns(newest, at) <= 0 ? newest : NULL;
}

/* Looks once, with the guard held. Returns whether any block waits: a block outside the shield, or any
 * block for the signal to be unblocked. */
static bool attend_once(struct thread_state *t, enum expiry_source source)
{
    const bool waiting = dlex_guard_.pending;
    dlex_guard_.pending = 0;
    const struct instant at = instant_of(dlex_now_ns());
    const struct survey s = look(at);
    const int64_t next_ns = source == EXPIRY_SIGNAL ? next_look(t, &s, at) : earliest(&s);
    if (t->armed_ns <= at.now_ns || next_ns < t->armed_ns)
        arm_next(t, next_ns);
    else if (source == EXPIRY_SIGNAL)
        /* This is a signal of an earlier arming. If it were of this one after all, by a rounding of
         * clocks, the expiry would be lost; arming again costs less than a proof that this cannot
         * happen. */
        dlex_arm(t, t->armed_ns);
    if (s.hidden && !waiting) {
        t->noticed_ns = at.now_ns;
        t->noticed_cpu_ns = at.cpu_ns;
    }
    struct dlex_block_ *const owner = taker(t, &s, at, source);
    if (owner) {
        if (s.hidden || owner != s.owner)
            dlex_guard_.pending = 1;
        deliver(t, owner, at, source);
    }
    return s.hidden || s.owner;
}

void dlex_attend(struct thread_state *t, enum expiry_source source)
{
    bool hidden;
    if (dlex_guard_.held > 0)
        return;
    do {
        dlex_guard_.depth = 1;
        DLEX_FENCE_();
        dlex_cancellation_hold(&t->cancellation);
        hidden = attend_once(t, source);
        dlex_cancellation_allow(&t->cancellation);
        DLEX_FENCE_();
        dlex_guard_.depth = 0;
    } while (dlex_guard_.pending);
    if (hidden)
        dlex_guard_.pending = 1;
}

static inline bool may_check(const struct dlex_block_ *top, int depth)
{
    return top && depth <= top->cooperative && dlex_guard_.held == 0;
}

static void deliver_expired(struct thread_state *t, int64_t now_ns, enum expiry_source source)
{
    dlex_try_within_disable();
    dlex_discard_left(t, 0, dlex_stack_pointer());
    if (may_check(dlex_guard_.top, dlex_guard_.depth - 1)) {
        const struct instant at = instant_of(now_ns);
        const struct survey s = look(at);
        dlex_cancellation_hold(&t->cancellation);
        struct dlex_block_ *const owner = taker(t, &s, at, source);
        if (owner)
            deliver(t, owner, at, source);
        dlex_cancellation_allow(&t->cancellation);
    }
    dlex_try_within_enable();
}

/* Returns when the first of the triggers of these blocks was fired; INT64_MAX: none was. */
static int64_t earliest_firing_ns(const struct dlex_block_ *top)
{
    int64_t earliest_ns = INT64_MAX;
    for (const struct dlex_block_ *b = top; b; b = b->outer) {
        const int64_t fired_ns = dlex_fired_ns(b);
        if (fired_ns && fired_ns < earliest_ns)
            earliest_ns = fired_ns;
    }
    return earliest_ns;
}

static inline bool has_time(const struct dlex_block_ *top, int64_t now_ns)
{
    if (now_ns >= top->deadline_ns)
        return false;
    if (top->cpu_limit_ns == INT64_MAX)
        return true;
    return earliest_firing_ns(top) == INT64_MAX
           && (top->cpu_limit_ns == DLEX_LOOK_ || dlex_cpu_ns() < top->cpu_limit_ns);
}

void dlex_check(struct thread_state *t, int64_t now_ns, enum expiry_source source)
{
    if (dlex_is_exiting(t)) {
        dlex_try_within_disable();
        dlex_forget_at_exit(t);
        dlex_try_within_enable();
    }
    const struct dlex_block_ *const top = dlex_guard_.top;
    if (top && !has_time(top, now_ns) && may_check(top, dlex_guard_.depth))
        deliver_expired(t, now_ns, source);
}

void dlex_check_(int64_t now_ns)
{
    dlex_check(&dlex_thread_state, now_ns, EXPIRY_CHECKPOINT);
}

/* Forgets blocks that were left by longjmp, as seen from the interrupted code or, without it, from here. The
 * sections outside them are in force again, even if an island among these blocks had opened them to
 * violations: returns how many there are. */
static int depth_after_discarding(struct thread_state *t, const ucontext_t *interrupted)
{
    dlex_guard_.depth = 1;
    DLEX_FENCE_();
    if (interrupted)
        dlex_discard_left_by(t, interrupted);
    else
        dlex_discard_left(t, 0, dlex_stack_pointer());
    return dlex_guard_.depth - 1;
}

/* Makes the signal come again when the interrupted handler returns: until then it is blocked, as it is
 * here, and pending. */
static void come_after_handler(struct thread_state *t, ucontext_t *uc)
{
    sigaddset(&uc->uc_sigmask, dlex_signal());
    dlex_guard_.depth = 1;
    DLEX_FENCE_();
    send_to_self(t);
    DLEX_FENCE_();
    dlex_guard_.depth = 0;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    protection_keys_allow_all();
    struct thread_state *t = &dlex_thread_state;
    if (dlex_guard_.depth > 0 || dlex_guard_.held > 0) {
        dlex_note_pending(t, dlex_now_ns());
        return;
    }
    /* The thread is ending: its blocks are dead, and a handler must not release what they hold. */
    if (dlex_is_exiting(t) && !t->is_ending)
        return;
    /* Nothing below sets errno when it succeeds, and arming a timer that exists succeeds; so a jump
     * leaves errno as it was. */
    const int saved_errno = errno;
    t->interrupted = context;
    if (t->level > 0 && (t->has_timer || t->target.number)
        && dlex_is_in_libc_handler(&t->interrupted->uc_sigmask)) {
        come_after_handler(t, context);
        errno = saved_errno;
        return;
    }
    const int depth = depth_after_discarding(t, context);
    if (depth > 0)
        dlex_note_pending(t, dlex_now_ns());
    DLEX_FENCE_();
    dlex_guard_.depth = depth;
    if (depth == 0)
        dlex_attend(t, EXPIRY_SIGNAL);
    errno = saved_errno;
}

void dlex_lift_(void)
{
    struct thread_state *t = &dlex_thread_state;
    const int missing = -dlex_guard_.depth;
    if (dlex_is_exiting(t)) {
        dlex_guard_.depth = 1;
        DLEX_FENCE_();
        dlex_forget_at_exit(t);
    }
    const int depth = depth_after_discarding(t, NULL) - missing;
    if (depth < 0)
        dlex_misuse("dlex_try_within_enable", "no section is open");
    DLEX_FENCE_();
    dlex_guard_.depth = depth;
    if (depth == 0)
        dlex_attend(t, EXPIRY_LIFTED);
}

int64_t dlex_deadline_ns(void)
{
    const struct dlex_block_ *top = dlex_guard_.top;
    if (!top)
        return INT64_MAX;
    if (top->cpu_limit_ns == INT64_MAX)
        return top->deadline_ns;
    const int64_t fired_ns = earliest_firing_ns(top);
    return fired_ns < top->deadline_ns ? fired_ns : top->deadline_ns;
}

int64_t dlex_least_left_ns_(int64_t left_ns)
{
    const struct dlex_block_ *top = dlex_guard_.top;
    if (!top) /* in a handler, while the outermost block ends */
        return left_ns;
    if (top->cpu_limit_ns < DLEX_LOOK_) {
        const int64_t cpu_left_ns = top->cpu_limit_ns - dlex_cpu_ns();
        if (cpu_left_ns < left_ns)
            left_ns = cpu_left_ns;
    }
    const int64_t fired_ns = earliest_firing_ns(top);
    const int64_t since_ns = fired_ns == INT64_MAX ? INT64_MAX : fired_ns - dlex_now_ns();
    return since_ns < left_ns ? since_ns : left_ns;
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
