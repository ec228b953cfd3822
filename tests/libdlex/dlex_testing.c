/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dlex_testing.h"

static __thread char text[64];
static __thread volatile int length;

void burn_until(int64_t time_ns)
{
    while (dlex_now_ns() < time_ns)
        ;
}

void burn(int64_t ns)
{
    burn_until(dlex_now_ns() + ns);
}

void log_clear(void)
{
    length = 0;
    text[0] = '\0';
}

void log_mark(char letter)
{
    if (length + 1 < (int)sizeof(text)) {
        text[length] = letter;
        text[length + 1] = '\0';
        length = length + 1;
    }
}

const char *log_text(void)
{
    return text;
}

int run_suite(const char *name, const TTest *const *tests, int count)
{
    Suite *suite = suite_create(name);
    for (int i = 0; i < count; i++) {
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_set_timeout(tcase, 120);
        tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
