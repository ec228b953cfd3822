/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scheduling policies as text, and those that every thread may have. Not covered: the privileged kinds
 * (test_placement.py). */
#include "thread_policy.h"

#include <check.h>
#include <errno.h>

#include "suite.h"

START_TEST(policy_is_written_as_it_is_read)
{
    static const char *const texts[] = {"other", "fifo:1", "fifo:99", "rr:5", "deadline:15/40", "deadline:3.15/8",
                                        "deadline:0.5/0.5"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct thread_policy policy;
        char text[THREAD_POLICY_TEXT_SIZE];
        ck_assert_int_eq(thread_policy_parse(&policy, texts[i]), 0);
        ck_assert_str_eq(thread_policy_text(&policy, text), texts[i]);
    }
}
END_TEST

START_TEST(reservation_is_in_nanoseconds)
{
    struct thread_policy policy;
    ck_assert_int_eq(thread_policy_parse(&policy, "deadline:3.15/8"), 0);
    ck_assert_int_eq(policy.kind, THREAD_DEADLINE);
    ck_assert_int_eq(policy.runtime_ns, 3150000);
    ck_assert_int_eq(policy.period_ns, 8000000);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    static const char *const texts[] = {
        "", ":", "other:", "other:1", "others", "fif:5", "fifo", "fifo:", "fifo:0", "fifo:100", "fifo:5x", "fifo:-1", "fifo: 5",
        "rr:1.5", "deadline", "deadline:", "deadline:15", "deadline:15/", "deadline:/40", "deadline:41/40", "deadline:0/40",
        "deadline:-1/40", "deadline:15/40/40", "deadline:15/40 ", "deadline:inf/40", "deadline:nan/nan", "deadline:1/9e9",
        "deadline:0.001/40", "quota:15/40", "deadline:calibrated/40",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct thread_policy policy;
        ck_assert_msg(thread_policy_parse(&policy, texts[i]) == -EINVAL, "%s was accepted", texts[i]);
    }
}
END_TEST

START_TEST(kernel_reports_the_policy_that_was_set)
{
    static const struct thread_policy other = {.kind = THREAD_OTHER};
    struct thread_policy actual = {.kind = THREAD_RR};
    ck_assert_int_eq(thread_policy_set(0, &other), 0);
    ck_assert_int_eq(thread_policy_get(0, &actual), 0);
    ck_assert_int_eq(actual.kind, THREAD_OTHER);
}
END_TEST

/* Kernels before Linux 6.12 have no slices that a thread could choose; they report none. */
START_TEST(slice_of_other_is_the_one_that_was_set)
{
    static const struct thread_policy other = {.kind = THREAD_OTHER, .runtime_ns = 100000};
    struct thread_policy actual;
    ck_assert_int_eq(thread_policy_set(0, &other), 0);
    ck_assert_int_eq(thread_policy_get(0, &actual), 0);
    ck_assert(actual.runtime_ns == 100000 || actual.runtime_ns == 0);
}
END_TEST

START_TEST(thread_that_does_not_exist_is_an_error)
{
    static const struct thread_policy fifo = {.kind = THREAD_FIFO, .priority = 1};
    struct thread_policy actual;
    ck_assert_int_eq(thread_policy_set(0x3ffffff0, &fifo), -ESRCH);
    ck_assert_int_eq(thread_policy_get(0x3ffffff0, &actual), -ESRCH);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        policy_is_written_as_it_is_read, reservation_is_in_nanoseconds, nonsense_is_refused,
        kernel_reports_the_policy_that_was_set, slice_of_other_is_the_one_that_was_set,
        thread_that_does_not_exist_is_an_error, NULL,
    };
    return suite_run("thread_policy", SUITE_TIMEOUT_DEFAULT, tests);
}
