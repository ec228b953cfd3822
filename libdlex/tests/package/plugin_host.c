/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin_host PLUGIN...: opens a block, and then runs the function of each plug-in, which opens one too. */
#include <dlfcn.h>
#include <stdio.h>

#include <dlex/dlex.h>

static int run_plugin(const char *path)
{
    void *const plugin = dlopen(path, RTLD_NOW);
    int (*const run)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin") : NULL;
    return run ? run() : 2;
}

int main(int argc, char **argv)
{
    volatile int done = 0;
    dlex_try_within_rel(DLEX_S(60)) {
        done = 1;
    } dlex_end
    printf("host %d\n", done);
    fflush(stdout);
    int ret = argc > 1 ? 0 : 2;
    for (int i = 1; i < argc && !ret; i++)
        ret = run_plugin(argv[i]);
    return ret;
}
