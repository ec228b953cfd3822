/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rt_limit.h"

#include <stdio.h>
#include <sys/resource.h>

enum { US_PER_MS = 1000 };

static bool is_finite(rlim_t limit)
{
    return limit != RLIM_INFINITY;
}

enum rt_limit rt_limit_lift(pid_t process, int64_t *limit_us)
{
    static const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit before;
    if (prlimit(process, RLIMIT_RTTIME, NULL, &before) || !is_finite(before.rlim_cur))
        return RT_LIMIT_NONE;
    *limit_us = (int64_t)before.rlim_cur;
    if (!prlimit(process, RLIMIT_RTTIME, &none, NULL))
        return RT_LIMIT_LIFTED;
    const struct rlimit most = {before.rlim_max, before.rlim_max};
    const bool is_raised = !prlimit(process, RLIMIT_RTTIME, &most, NULL);
    return is_raised && !is_finite(before.rlim_max) ? RT_LIMIT_LIFTED : RT_LIMIT_STAYS;
}

const char *rt_limit_text(enum rt_limit found, pid_t process, const char *name, int64_t limit_us, char text[RT_LIMIT_TEXT_SIZE])
{
    snprintf(text, RT_LIMIT_TEXT_SIZE, "%s (process %d) had its real-time CPU time limited to %.0f ms (RLIMIT_RTTIME), as clients of "
             "rtkit do; %s", name, (int)process, (double)limit_us / US_PER_MS,
             found == RT_LIMIT_LIFTED
                 ? "the limit was lifted, because the kernel kills a program that decodes for longer under a fixed priority"
                 : "only root may lift it (CAP_SYS_RESOURCE), and under a fixed priority the kernel kills a program that computes "
                   "for longer without sleeping");
    return text;
}

bool rt_limit_is_first(struct rt_limit_reports *reports, pid_t process)
{
    for (int i = 0; i < reports->count; i++)
        if (reports->process[i] == process)
            return false;
    if (reports->count < RT_LIMIT_REPORTS_MAX)
        reports->process[reports->count++] = process;
    return true;
}
