/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a process begins an instance, as pman_query says. Not covered: how long after its release that is. */
#include "pman_members.h"

#include "pman_shared.h"

#include <signal.h>
#include <unistd.h>

#include "suite.h"

static const struct pman_timing each = {.period = 1};

/* Not when it was released. */
START_TEST(query_says_when_the_process_began_its_last_instance)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(members_query(pman, "a").last_start_ns, -1);
    const int64_t before_ns = pman_now_ns();
    ck_assert_int_eq(pman_wait(pman, "a"), 0);
    const int64_t after_ns = pman_now_ns(), start_ns = members_query(pman, "a").last_start_ns;
    ck_assert_int_ge(start_ns, before_ns);
    ck_assert_int_le(start_ns, after_ns);
    ck_assert_int_eq(pman_epilogue(pman, "a"), 0);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(members_query(pman, "a").last_start_ns, start_ns);
    ck_assert_int_eq(pman_procdel(pman, "a"), 0);
    members_add(pman, "a", each, NULL); /* where the other one was */
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(members_query(pman, "a").last_start_ns, -1);
    pman_close(&pman);
}
END_TEST

START_TEST(process_that_gets_a_signal_begins_then)
{
    struct pman *pman;
    signal(SIGRTMIN, SIG_IGN);
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_SIGNAL), 0);
    ck_assert_int_eq(members_query(pman, "a").last_start_ns, -1);
    const int64_t before_ns = pman_now_ns();
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    const int64_t after_ns = pman_now_ns(), start_ns = members_query(pman, "a").last_start_ns;
    ck_assert_int_ge(start_ns, before_ns);
    ck_assert_int_le(start_ns, after_ns);
    pman_close(&pman);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        query_says_when_the_process_began_its_last_instance,
        process_that_gets_a_signal_begins_then,
        NULL,
    };
    return suite_run("pman_starts", 60, tests);
}
