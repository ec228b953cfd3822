/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the functions behind the guard's, and reports two copies of libdlex in one program. */
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <dlex/signal.h>

#include "guard.h"

extern struct guard_symbol __start_guard_symbols[], __stop_guard_symbols[];

/* Does not use stdio, which may be what is missing. */
static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void *look_up(struct guard_symbol *symbol)
{
    void *const next = dlsym(RTLD_NEXT, symbol->name);
    __atomic_store_n(&symbol->next, next, __ATOMIC_RELAXED);
    return next;
}

void *guard_resolve(struct guard_symbol *symbol)
{
    void *const next = look_up(symbol);
    if (!next) {
        say("libdlex-guard: the C library has no ");
        say(symbol->name);
        say(" that the guard could call; a program linked with -static cannot use the guard\n");
        _exit(127);
    }
    return next;
}

/* Some names exist only in newer C libraries; where they are missing, no code calls them here. */
__attribute__((constructor(101))) static void resolve_all(void)
{
    dlex_check_layout_(dlex_layout_(), DLEX_VERSION, "libdlex-guard");
    dlex_try_within_disable();
    for (struct guard_symbol *s = __start_guard_symbols; s < __stop_guard_symbols; s++)
        look_up(s);
    dlex_try_within_enable();
}

void *guard_last_look(void *resource, void (*release)(void *))
{
    const bool may_throw = resource && dlex_guard_.held == 0;
    dlex_try_within_disable();
    if (may_throw)
        dlex_scoped_defer(release, resource);
    dlex_try_within_enable();
    if (may_throw)
        dlex_scoped_forget(release, resource);
    return resource;
}

static bool same_object(const void *a, const void *b)
{
    Dl_info of_a, of_b;
    return dladdr(a, &of_a) && dladdr(b, &of_b) && of_a.dli_fbase == of_b.dli_fbase;
}

GUARD_SYMBOL(sigaction)

/*
 * A program with libdlex.a inside has counters of its own, which this library cannot see when it is
 * preloaded: everything seems to work, but nothing is protected. Such a program is noticed when it
 * takes the signal that this library's libdlex would take.
 */
DLEX_API int sigaction(int number, const struct sigaction *restrict action,
                       struct sigaction *restrict old)
{
    if (action && (action->sa_flags & SA_SIGINFO) && number == dlex_signal()
        && !same_object((const void *)(uintptr_t)action->sa_sigaction,
                        (const void *)(uintptr_t)dlex_signal))
        say("libdlex-guard: the program handles the signal of libdlex itself. If it contains "
            "libdlex.a, this guard protects nothing: link it with libdlex.so, or with "
            "libdlex-guard.a too.\n");
    return NEXT(sigaction)(number, action, old);
}
