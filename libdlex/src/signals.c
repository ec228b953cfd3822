/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "signals.h"

/* The number of the signal: 0 for the default one, positive for one that was chosen, negative for one
 * that is fixed. It is one word, so that handlers may read and fix it. */
static _Atomic int choice;

/* Whether the handler is installed: from then on it is not checked again. Several threads may install
 * it at once; a lock here would be one more that a fork has to wait for. */
static _Atomic bool taken;

/* The library's handler; NULL: no thread has begun to install it. */
static dlex_signal_fn *_Atomic own_handler;

static int number_of(int chosen)
{
    if (chosen == 0)
        return SIGRTMIN + 7;
    return chosen < 0 ? -chosen : chosen;
}

int dlex_signal(void)
{
    return number_of(atomic_load(&choice));
}

static int fix_number(void)
{
    int chosen = atomic_load(&choice);
    while (chosen >= 0 && !atomic_compare_exchange_weak(&choice, &chosen, -number_of(chosen)))
        ;
    return number_of(chosen);
}

/* Signals that the kernel raises for a fault at an instruction. Masking them, or returning from their
 * handler as if nothing had happened, would end or hang the program. */
static bool is_fault(int signo)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (faults[i] == signo)
            return true;
    }
    return false;
}

/* An ignored signal is free, because the process may have inherited that from its parent. SIG_DFL and
 * SIG_IGN mean the same with SA_SIGINFO as without: Go's runtime leaves them so. The library's own
 * handler may have been installed by another thread's first block, or by one that was in the middle of it
 * when the process was forked. */
static bool is_free(const struct sigaction *now)
{
    dlex_signal_fn *const own = atomic_load(&own_handler);
    if (now->sa_handler == SIG_DFL || now->sa_handler == SIG_IGN)
        return true;
    return own && (now->sa_flags & SA_SIGINFO) && now->sa_sigaction == own;
}

/* Returns 0, or -EBUSY when another part of the program handles the signal. */
static int check_free(int signo)
{
    struct sigaction now;
    if (sigaction(signo, NULL, &now) < 0)
        return -errno;
    return is_free(&now) ? 0 : -EBUSY;
}

int dlex_use_signal(int signo)
{
    if (signo == SIGKILL || signo == SIGSTOP || is_fault(signo))
        return -EINVAL;
    int chosen = atomic_load(&choice);
    if (chosen < 0)
        return signo == -chosen ? 0 : -EBUSY;
    const int err = check_free(signo);
    if (err)
        return err;
    while (!atomic_compare_exchange_weak(&choice, &chosen, signo)) {
        if (chosen < 0)
            return signo == -chosen ? 0 : -EBUSY;
    }
    return 0;
}

/* If the number is not free, dlex_use_signal may still change it, unless handlers mask it already. */
static int take(dlex_signal_fn *on_signal)
{
    atomic_store(&own_handler, on_signal);
    const int signo = dlex_signal();
    const int err = check_free(signo);
    if (err)
        return err;
    /* The signal is blocked in its handler: if several come at once, the kernel would otherwise begin
     * the handler of one within that of another, whose mask is then that of a ppoll or the like. A
     * jump out of the handler sets the mask of the interrupted code, which has the signal unblocked. The
     * handler takes the thread's alternate stack, if there is one: a late signal may find the thread on the
     * small stack of a coroutine. */
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    action.sa_sigaction = on_signal;
    sigemptyset(&action.sa_mask);
    if (sigaction(fix_number(), &action, NULL) < 0)
        return -errno;
    atomic_store(&taken, true);
    return 0;
}

int dlex_signal_take(dlex_signal_fn *on_signal)
{
    return atomic_load(&taken) ? 0 : take(on_signal);
}

void dlex_signal_admit(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, dlex_signal());
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

int dlex_sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
    const int own = fix_number();
    if (signo == own) {
        errno = EINVAL;
        return -1;
    }
    if (!act)
        return sigaction(signo, NULL, old);
    struct sigaction masked = *act;
    sigaddset(&masked.sa_mask, own);
    /* Must not be interrupted between the kernel's action and the caller's knowledge of it. */
    dlex_try_within_disable();
    const int ret = sigaction(signo, &masked, old);
    dlex_try_within_enable();
    return ret;
}

/* With the guard held. */
static void remember_mask(struct dlex_block_ *block, const sigset_t *before)
{
    if (!block || block->mask_known)
        return;
    block->mask = *before;
    /* The signal may have been blocked until the thread was prepared; restoring that would switch off
     * violations. */
    sigdelset(&block->mask, dlex_signal());
    block->mask_known = 1;
}

/* A thread with a timer has the library's signal blocked only in handlers of dlex_sigaction. The mask
 * of such a handler ends with it. */
static bool is_of_a_handler(const sigset_t *mask)
{
    return dlex_thread_state.has_timer && sigismember(mask, dlex_signal());
}

int dlex_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t allowed, before;
    dlex_try_within_disable();
    if (set) {
        allowed = *set;
        if (how != SIG_UNBLOCK)
            sigdelset(&allowed, dlex_signal());
    }
    const int err = pthread_sigmask(how, set ? &allowed : NULL, &before);
    if (!err && set && !is_of_a_handler(&before))
        remember_mask(dlex_guard_.top, &before);
    if (!err && old)
        *old = before;
    dlex_try_within_enable();
    return err;
}

void dlex_sigmask_restore_(struct dlex_block_ *block)
{
    pthread_sigmask(SIG_SETMASK, &block->mask, NULL);
}

void dlex_sigmask_pass_(struct dlex_block_ *block)
{
    remember_mask(block->outer, &block->mask);
}
