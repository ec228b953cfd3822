/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cleanup of a block runs alike when its body is left by return, by a C++ exception, and, with
 * -fexceptions, when pthread_exit or a cancellation unwinds the thread. Only the first two are mistakes,
 * and neither the compiler nor the unwinder says which it was. glibc knows, and has for debuggers the
 * place where it notes that a thread is exiting. Other libraries do not unwind threads.
 */
#include <dlfcn.h>

#include "thread.h"

#ifdef __GLIBC__
/* Of glibc's nptl_db interface: size in bits, number of elements, offset in the thread's descriptor. */
struct field {
    uint32_t bits, count, offset;
};
enum { EXITING = 0x10 }; /* in cancelhandling, since NPTL is there */

bool dlex_thread_is_unwound(void)
{
    const struct field *const cancelhandling = dlsym(RTLD_DEFAULT, "_thread_db_pthread_cancelhandling");
    if (!cancelhandling || cancelhandling->bits != 32)
        return true;
    const char *const descriptor = (const char *)pthread_self();
    return *(const volatile int *)(descriptor + cancelhandling->offset) & EXITING;
}
#else
bool dlex_thread_is_unwound(void)
{
    return false;
}
#endif
