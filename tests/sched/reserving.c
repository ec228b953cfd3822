/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reserving.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "ns.h"
#include "thread_list.h"
#include "thread_policy.h"

enum { EXIT_SKIPPED = 77, TIMEOUT_S = 120 };

void pause_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20 * NS_PER_MS}, NULL);
}

pid_t begin_to_compute(void)
{
    const pid_t worker = fork();
    if (!worker) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ;
    }
    return worker;
}

int64_t running_ns(pid_t process)
{
    int64_t running_ns, waiting_ns;
    ck_assert(thread_list_times(process, process, &running_ns, &waiting_ns));
    return running_ns;
}

int run_reserving(const char *name, SFun begin, SFun end, const TTest *const *tests)
{
    if (!thread_policy_is_privileged()) {
        puts("skipped: reserving CPU time needs root or CAP_SYS_NICE");
        return EXIT_SKIPPED;
    }
    TCase *const cases = tcase_create(name);
    tcase_add_checked_fixture(cases, begin, end);
    tcase_set_timeout(cases, TIMEOUT_S);
    for (; *tests; tests++)
        tcase_add_test(cases, *tests);
    return suite_run_case(name, cases, CK_FORK_GETENV);
}
