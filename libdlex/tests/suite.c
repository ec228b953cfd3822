/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "suite.h"

#include <stdlib.h>

static int run(Suite *suite, enum fork_status fork_status)
{
    SRunner *const runner = srunner_create(suite);
    srunner_set_fork_status(runner, fork_status);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int suite_run(const char *name, double timeout_s, const TTest *const *tests)
{
    Suite *const suite = suite_create(name);
    for (; *tests; tests++) {
        TCase *const alone = tcase_create((*tests)->name);
        tcase_set_timeout(alone, timeout_s);
        tcase_add_test(alone, *tests);
        suite_add_tcase(suite, alone);
    }
    return run(suite, CK_FORK_GETENV);
}

int suite_run_case(const char *name, TCase *tests, enum fork_status fork_status)
{
    Suite *const suite = suite_create(name);
    suite_add_tcase(suite, tests);
    return run(suite, fork_status);
}
