/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin_host PLUGIN: opens a block, and then runs the function of a plug-in, which opens one too. */
#include <dlfcn.h>
#include <stdio.h>

#include <dlex/dlex.h>

int main(int argc, char **argv)
{
    volatile int done = 0;
    void *const plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*const run)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin") : NULL;
    if (!run)
        return 2;
    dlex_try_within_rel(DLEX_S(60)) {
        done = 1;
    } dlex_end
    printf("host %d\n", done);
    fflush(stdout);
    return run();
}
