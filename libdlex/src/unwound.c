/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds out whether pthread_exit or a cancellation is ending the calling thread. The cleanup of a block
 * runs alike when its body is left by return, by a C++ exception, and, with -fexceptions, when the
 * thread is unwound. Only the first two are mistakes, and neither the compiler nor the unwinder reports
 * which it was. Without -fexceptions no code of the library runs, and blocks stay open whose frames are
 * gone. glibc knows, and publishes for debuggers the place where it notes that a thread is exiting.
 */
#include <dlfcn.h>

#include "thread.h"

#ifdef __GLIBC__
/* A field of glibc's nptl_db interface: size in bits, number of elements, offset in the thread's
 * descriptor. */
struct field {
    uint32_t bits, count, offset;
};
/* NULL in a static program, and before the constructor. */
static const struct field *cancelhandling;

__attribute__((constructor)) static void find_field(void)
{
    const struct field *const found = dlsym(RTLD_DEFAULT, "_thread_db_pthread_cancelhandling");
    if (found && found->bits == 32)
        cancelhandling = found;
}

const volatile int *dlex_exit_state(void)
{
    static const int unknown = 0;
    const char *const descriptor = (const char *)pthread_self();
    return cancelhandling ? (const volatile int *)(descriptor + cancelhandling->offset) : &unknown;
}

bool dlex_thread_may_be_unwound(void)
{
    return !cancelhandling || (*dlex_exit_state() & DLEX_EXITING);
}

/* Cancellation, and set*id in all threads, are handlers of glibc's own. glibc lets no other code block
 * their signals, so a mask that has one of them is that of such a handler. A thread that is exiting may
 * never have returned from the handler of cancellation. */
bool dlex_is_in_libc_handler(const sigset_t *mask)
{
    enum { SIGNAL_OF_CANCELLATION = 32, SIGNAL_OF_SETXID = 33 };
    return sigismember(mask, SIGNAL_OF_SETXID) == 1
           || (sigismember(mask, SIGNAL_OF_CANCELLATION) == 1 && !dlex_thread_may_be_unwound());
}
#else
const volatile int *dlex_exit_state(void)
{
    static const int unknown = 0;
    return &unknown;
}

bool dlex_thread_may_be_unwound(void)
{
    return false;
}

bool dlex_is_in_libc_handler(const sigset_t *mask)
{
    (void)mask;
    return false;
}
#endif
