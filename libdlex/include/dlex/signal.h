/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/signal.h: the library's signal, and how the application's own signals live beside it.
 *
 * THE SIGNAL. A violation reaches a thread as a signal sent to that thread alone. The library owns one
 * number in the whole process, from the first timed block or dlex_thread_init on; the program must not
 * replace its handler. The number is a property of the program, so no environment variable changes it.
 * A thread that uses timing constraints must not block this signal: it would get no violations.
 *
 * Under gdb each violation stops the program, until gdb is given "handle SIG41 nostop noprint pass". 41 is
 * SIGRTMIN + 7 with glibc; musl has 42 there; after dlex_use_signal it is the number chosen.
 *
 * THE STACK. The library's handler runs on the alternate stack of the thread (sigaltstack), if there is one
 * and it is free. Its memory must have room for 1 KiB more than the kernel's own frame, which is at most
 * sysconf(_SC_MINSIGSTKSZ), besides what handlers of the program need that share it: each of the two may
 * interrupt the other. A thread that changes stacks (swapcontext, a goroutine of Go) needs an
 * alternate stack: a late signal may find it on a stack that is too small for the kernel's frame.
 * So does one whose stack has a protection key (pkeys(7)), since a handler starts with the rights to key 0
 * only; its thread-local memory must be of key 0.
 *
 * HANDLERS OF THE APPLICATION. A deadline may pass while the thread is in a signal handler of the
 * application. There are three ways to handle that:
 *
 *   1. Install the handler with dlex_sigaction. The violation waits until the handler has returned,
 *      and is taken then. This is the way to choose: nothing is lost. The handler may open blocks.
 *      Their constraints cannot interrupt it, as the library's signal is blocked there: a timed block
 *      that is late when it is opened gets its violation, before its body, and needs a handler for it,
 *      because an exception must not leave a signal handler; any other block runs to its end, and
 *      dlex_checkpoint does nothing.
 *   2. Let the handler begin with dlex_try_within_disable and end with dlex_try_within_enable. It
 *      is then never left in the middle, but a violation that has waited is taken by the enable,
 *      and the kernel's return from the handler is skipped: the handler's own signal, and those of its
 *      sa_mask, stay blocked. Give it SA_NODEFER and an empty sa_mask, and nothing stays blocked.
 *   3. Do neither. The handler may be left at any instruction, its signals blocked as in 2.
 *
 * The same is true of a handler on an alternate stack (sigaltstack): after a jump out of it the kernel
 * sees by the stack pointer that the stack is free again. This does not hold with SS_AUTODISARM: after
 * a jump out of a handler (2 and 3) the thread has no alternate stack until it calls sigaltstack again.
 * The memory of an alternate stack must not lie in the thread's own stack, nor above that of the main
 * thread.
 *
 * The handlers of libc itself, for cancellation and for setting the ids of all threads, are never left.
 *
 * THE SIGNAL MASK. A jump does not touch the mask of the thread: if the body changed the mask itself,
 * the change stays when the body is aborted. If it changed the mask by dlex_sigmask, the change does
 * not stay.
 *
 *     dlex_try_within_rel(DLEX_MS(2)) {
 *         dlex_sigmask(SIG_BLOCK, &terminal_signals, NULL);
 *         rewrite(screen);                          // may be aborted
 *         dlex_sigmask(SIG_UNBLOCK, &terminal_signals, NULL);
 *     } dlex_end                                    // unblocked again in any case
 *
 * Calls that change the mask for a moment (ppoll, pselect, sigsuspend, epoll_pwait) need no care: the
 * mask from before the call is in force again after an abort inside them. There is one exception: if a
 * handler of way 2 or 3 interrupts such a call and is left, the mask of the call stays.
 *
 * exec. The new program starts with the default action for the signal, which would end the program.
 * With the Linux notification nothing can arrive there. With the POSIX one (Meson's option
 * notification) a signal can be on its way while exec begins: call dlex_idle first, outside timed
 * blocks. A thread that binds triggers (dlex/trigger.h) calls it with either notification. Neither
 * needs care when fork is followed by exec in one protected section, nor with posix_spawn.
 *
 * THE POSIX NOTIFICATION is a thread of the library, which sends the signals. A thread with a real-time
 * policy should have that policy before its first timed block, since the library's thread takes the
 * next higher priority then; see dlex_signal(3).
 *
 * The idea of a signal for each thread, and of a real-time signal, is that of seed 000, section 6.2.
 */
#ifndef DLEX_SIGNAL_H
#define DLEX_SIGNAL_H

#include <signal.h>

#include <dlex/exception.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of the library's signal: SIGRTMIN + 7 unless dlex_use_signal chose another. Any
 * thread, also in signal handlers. */
DLEX_API int dlex_signal(void);

/*
 * Chooses the signal, for a program in which another part needs the default one. Call it early in main:
 * before the first timed block, and before dlex_thread_init and dlex_sigaction, of any thread. A
 * real-time signal is best; another signal for which the program and the kernel have no use will do.
 * Returns 0, also if this is the number in use already; or, having changed nothing,
 *   -EINVAL  signo is not a signal, cannot be caught, or stands for a fault of the program,
 *   -EBUSY   the number is fixed already, or the program has a handler for signo.
 * After dlex_timer_error with EBUSY (the default signal has a handler) it may still be called.
 */
DLEX_API int dlex_use_signal(int signo);

/*
 * Does what sigaction(2) does, with the library's signal added to sa_mask: a violation does not leave
 * the handler in the middle, it is taken when the handler has returned. act and old may be NULL as
 * there. From now on the number of the library's signal is fixed. Returns 0; or -1 with errno as
 * sigaction, and EINVAL for the library's own signal. Any thread, also in signal handlers. The call is
 * a protected section by itself.
 */
DLEX_API int dlex_sigaction(int signo, const struct sigaction *act, struct sigaction *old);

/*
 * Does what pthread_sigmask(3) does, but its effect ends with the block if that is aborted: the
 * innermost open block of the thread remembers the mask that was in force before the first such call in
 * its body, and when an exception or a violation ends the body, that mask is in force again before the
 * finally part. A body that ends by itself, or by return, break or goto, leaves the mask as it set it;
 * the remembered mask passes to the block around, if that one remembers none itself. The library's
 * signal is taken out of the signals to block, and *old shows truly whether it was blocked. Returns 0
 * or a positive error number, as pthread_sigmask does. Safe in handlers of dlex_sigaction, where no
 * block remembers anything: pair the calls. In other handlers use pthread_sigmask, whose effect ends
 * with the handler.
 */
DLEX_API int dlex_sigmask(int how, const sigset_t *set, sigset_t *old);

#ifdef __cplusplus
}
#endif

#endif
