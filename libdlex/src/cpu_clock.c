/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlex/dlex.h>

#include <time.h>

#ifdef DLEX_TEST_CPU_CLOCK
/* For tests that stop the thread at every instruction: CPU time then stands still, so that they
 * set it. */
extern int64_t dlex_test_cpu_ns(void);

int64_t dlex_cpu_ns(void)
{
    return dlex_test_cpu_ns();
}
#else
int64_t dlex_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif
