/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A block in a program, or with -DPLUGIN in a shared object that plugin_host.c loads. Also C++. */
#include <stdio.h>

#include <dlex/dlex.h>

static int with_a_block(void)
{
    volatile int done = 0;
    dlex_try_within_rel(DLEX_S(60)) { /* the place */
        done = 1;
    } dlex_end
    return done;
}

#ifdef PLUGIN
int plugin(void);
int plugin(void)
#else
int main(void)
#endif
{
    printf("%d\n", with_a_block());
    return 0;
}
