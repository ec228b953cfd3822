/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlex/dlex.h>

#include <time.h>

int64_t dlex_now_ns(void)
{
    return dlex_clock_ns_();
}

int64_t dlex_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
