// SPDX-License-Identifier: LGPL-2.1-or-later
// A plug-in in C++ whose block is in an inline function. Its site is one for all plug-ins that have the same function.
#include <cstdio>

#include <dlex/dlex.h>

inline int shared_function(void)
{
    volatile int done = 0;
    dlex_try_within_rel(DLEX_S(60)) {
        done = 1;
    } dlex_end
    return done;
}

extern "C" int plugin(void);

int plugin(void)
{
    std::printf("%d\n", shared_function());
    std::fflush(stdout);
    return 0;
}
