/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The anytime idiom: each step stores a better result, and the last result counts when the deadline comes.
 * Succeeds if the values that the aborted body stored through a pointer and in a static object are there. */
#include <stdio.h>

#include <dlex/dlex.h>

#ifndef PUBLISH
#define PUBLISH() dlex_publish()
#endif

struct result {
    double pi;
    long steps;
};
static long calls;

__attribute__((noinline)) static void refine(struct result *best, long limit)
{
    dlex_try_within_rel(DLEX_MS(5)) {
        double pi = 0;
        for (long n = 0; n < limit; n++) {
            pi += (n % 2 ? -4.0 : 4.0) / (double)(2 * n + 1);
            best->pi = pi;
            best->steps = n + 1;
            PUBLISH();
        }
    } dlex_handle dlex_when(dlex_deadline_violation) {
    } dlex_end
}

__attribute__((noinline)) static void count(long limit)
{
    dlex_try_within_rel(DLEX_MS(5)) {
        for (long n = 0; n < limit; n++) {
            calls += n & 3;
            PUBLISH();
        }
    } dlex_handle dlex_when(dlex_deadline_violation) {
    } dlex_end
}

int main(void)
{
    struct result best = { -1, -1 };
    /* Repeats the block if the machine was so busy that the deadline passed before the body began. */
    for (int i = 0; i < 20 && best.steps < 100; i++)
        refine(&best, 1L << 40);
    for (int i = 0; i < 20 && calls == 0; i++)
        count(1L << 40);
    printf("%ld steps, pi %g, %ld calls\n", best.steps, best.pi, calls);
    return best.steps >= 100 && best.pi > 3.1 && best.pi < 3.2 && calls > 0 ? 0 : 1;
}
