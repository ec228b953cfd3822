/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preloaded KIND N: a program that is written without libdlex-guard. It aborts N naive loops over the
 * heap, a stream or a mutex, or N computations, while a second thread runs the same loop without
 * aborts. It prints how many aborts it reached. preloaded.sh runs it with the guard; docs/guard.md shows
 * it without.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dlex/dlex.h>

enum { PATIENCE_S = 30 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *stream;
static volatile int aborts;
static volatile bool over;

/* A slot is emptied before its memory is freed, so an abort cannot leave a pointer that is freed again. */
static void use_heap(void)
{
    static __thread void *volatile slots[16];
    static __thread unsigned i;
    i++;
    void *const old = slots[i % 16];
    slots[i % 16] = NULL;
    free(old);
    slots[i % 16] = malloc(i * 37 % 5000);
}

static void use_stream(void)
{
    fprintf(stream, "a line of %d words\n", 5);
}

static void use_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void compute(void)
{
    __asm__ __volatile__("");
}

static const struct {
    const char *name;
    void (*use)(void);
} kinds[] = {
    { "heap", use_heap }, { "stream", use_stream }, { "mutex", use_mutex },
    { "computation", compute },
};

/* Before a signal ends the program, prints how many aborts it reached. Uses write, because stdio may be
 * broken. */
static void on_end(int signo)
{
    char text[80];
    const int n = snprintf(text, sizeof(text), "%d aborts, then %s\n", aborts,
                           signo == SIGALRM ? "it stood still"
                           : signo == SIGABRT ? "SIGABRT" : "SIGSEGV");
    _exit(write(STDOUT_FILENO, text, (size_t)n) == n ? 1 : 2);
}

static void *bystander(void *use)
{
    while (!over)
        (*(void (**)(void))use)();
    return NULL;
}

/* After an abort the thread uses the resource once more, without a deadline. There it may hang. */
static void abort_once(void (*use)(void), int64_t ns)
{
    dlex_try_within_rel(ns) {
        for (;;)
            use();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        aborts = aborts + 1;
    } dlex_end
    alarm(PATIENCE_S);
    use();
    alarm(0);
}

static void storm(void (*use)(void), int count)
{
    pthread_t thread;
    pthread_create(&thread, NULL, bystander, &use);
    for (int i = 0; i < count; i++)
        abort_once(use, 20000 + i * 7919 % 30000);
    over = true;
    alarm(PATIENCE_S);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    signal(SIGABRT, on_end);
    signal(SIGSEGV, on_end);
    signal(SIGALRM, on_end);
    stream = fopen("/dev/null", "w");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (argc == 3 && strcmp(argv[1], kinds[i].name) == 0)
            storm(kinds[i].use, atoi(argv[2]));
    printf("%d aborts\n", aborts);
    return 0;
}
