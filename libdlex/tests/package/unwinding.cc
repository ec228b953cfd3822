/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ways out of a body that has a finally part, for C with -fexceptions and for C++. An argument says which. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dlex/dlex.h>

static const char *how;

static int is(const char *way)
{
    return strcmp(how, way) == 0;
}

static void go(void)
{
#ifdef __cplusplus
    if (is("throw"))
        throw 1;
#endif
    if (is("pthread_exit"))
        pthread_exit(NULL);
    for (;;)
        pause();
}

static int leave(void)
{
    dlex_try_within_rel(DLEX_S(3600)) {
        if (is("return"))
            return 3;
#if !(defined __clang__ && defined __cplusplus)
        if (is("dlex_return"))
            dlex_return(4);
#endif
        go();
    } dlex_finally {
        puts("finally");
    } dlex_handle dlex_when(dlex_exception) {
        puts("handler");
    } dlex_end
    return 5;
}

static void *thread(void *unused)
{
#ifdef __cplusplus
    try {
        leave();
    } catch (int) {
        puts("caught outside");
    }
#else
    leave();
#endif
    puts("went on");
    return unused;
}


int main(int argc, char **argv)
{
    pthread_t id;
    if (argc < 2)
        return 2;
    how = argv[1];
    pthread_create(&id, NULL, thread, NULL);
    if (is("cancel"))
        pthread_cancel(id);
    pthread_join(id, NULL);
    puts("end");
    return 0;
}
