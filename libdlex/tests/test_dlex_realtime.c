/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread of fixed priority that never yields its processor is interrupted too. The test needs the
 * right to such a priority, and is skipped without it. Not here: SCHED_DEADLINE, and how late the
 * violation is. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "dlex_testing.h"

enum { SKIPPED = 77 };

/* After this time the test has failed, and must release the processor. */
static const int64_t PATIENCE_NS = 5000 * MS;

static int compute_at_fixed_priority(void)
{
    volatile int aborted = 0;
    for (volatile int i = 0; i < 20; i++) {
        dlex_try_within_rel(MS) {
            burn(PATIENCE_NS);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborted = aborted + 1;
        } dlex_end
        if (aborted <= i)
            break;
    }
    return aborted;
}

static void share_one_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
}

START_TEST(thread_that_computes_at_fixed_priority_is_interrupted_on_one_processor)
{
    ck_assert_int_eq(compute_at_fixed_priority(), 20);
}
END_TEST

int main(void)
{
    const struct sched_param middle = { .sched_priority = 50 };
    const TTest *const tests[] = {
        thread_that_computes_at_fixed_priority_is_interrupted_on_one_processor, NULL,
    };
    share_one_processor();
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &middle) != 0) {
        printf("skipped: no right to SCHED_FIFO priority 50 (ulimit -r)\n");
        return SKIPPED;
    }
    return suite_run("libdlex at fixed priority", 120, tests);
}
