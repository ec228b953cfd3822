/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Logical arrivals, deadlines and laxities. Not covered: waiting, which the library on top does. */
#include "lbap_process.h"

#include <errno.h>

#include "sim_random.h"
#include "suite.h"

#define MS INT64_C(1000000)

enum { PACKETS = 300 };

/* Packets of 1000 bytes, one in 40 ms, two ahead. */
static struct lbap_process process_25_hz(void)
{
    struct lbap_process process;
    const struct lbap_workload workload = {.size_max_bytes = 1000, .period_ns = 40 * MS, .workahead_max = 2};
    ck_assert_int_eq(lbap_process_init(&process, &workload), 0);
    return process;
}

static struct lbap_verdict take(struct lbap_process *process, int64_t arrival_ns)
{
    const struct lbap_verdict verdict = lbap_process_offer(process, arrival_ns, 1000);
    lbap_process_accept(process, &verdict);
    return verdict;
}

START_TEST(first_packet_arrives_logically_when_it_arrives)
{
    struct lbap_process process = process_25_hz();
    const struct lbap_verdict verdict = take(&process, 7 * MS);
    ck_assert_int_eq(verdict.logical_arrival_ns, 7 * MS);
    ck_assert_int_eq(verdict.deadline_ns, 47 * MS);
    ck_assert(!verdict.violates);
}
END_TEST

START_TEST(early_packet_arrives_logically_a_period_after_the_one_before)
{
    struct lbap_process process = process_25_hz();
    take(&process, 0);
    ck_assert_int_eq(take(&process, 10 * MS).logical_arrival_ns, 40 * MS);
    ck_assert_int_eq(take(&process, 20 * MS).logical_arrival_ns, 80 * MS);
}
END_TEST

START_TEST(late_packet_delays_those_after_it)
{
    struct lbap_process process = process_25_hz();
    take(&process, 0);
    ck_assert_int_eq(take(&process, 55 * MS).logical_arrival_ns, 55 * MS);
    ck_assert_int_eq(take(&process, 60 * MS).logical_arrival_ns, 95 * MS);
}
END_TEST

START_TEST(more_than_the_workahead_violates)
{
    struct lbap_process process = process_25_hz();
    take(&process, 0);
    ck_assert(!take(&process, 0).violates);
    ck_assert(!take(&process, 0).violates); /* 80 ms ahead */
    ck_assert(lbap_process_offer(&process, 0, 1000).violates);
    ck_assert(lbap_process_offer(&process, 40 * MS - 1, 1000).violates);
    ck_assert(!lbap_process_offer(&process, 40 * MS, 1000).violates);
}
END_TEST

START_TEST(large_packet_violates)
{
    const struct lbap_process process = process_25_hz();
    ck_assert(!lbap_process_offer(&process, 0, 1000).violates);
    ck_assert(lbap_process_offer(&process, 0, 1001).violates);
}
END_TEST

START_TEST(offer_changes_nothing)
{
    struct lbap_process process = process_25_hz();
    take(&process, 0);
    lbap_process_offer(&process, 30 * MS, 1000);
    ck_assert_int_eq(lbap_process_offer(&process, 10 * MS, 1000).logical_arrival_ns, 40 * MS);
}
END_TEST

/* The seed's program: 15 pictures per second and 28 ms for each. */
START_TEST(laxity_is_of_the_packet_that_was_processed)
{
    struct lbap_process process;
    struct lbap_laxities laxities = {.count = 0};
    const struct lbap_workload workload = {.period_ns = 66666667};
    int64_t laxity_ns;
    ck_assert_int_eq(lbap_process_init(&process, &workload), 0);
    ck_assert(!lbap_process_laxity(&process, 0, &laxity_ns));
    for (int64_t packet = 0; packet < 200; packet++) {
        const struct lbap_verdict verdict = lbap_process_offer(&process, packet * 66666667, 0);
        lbap_process_accept(&process, &verdict);
        const int64_t cost_ns = (packet % 2 ? 36 : 20) * MS;
        ck_assert(lbap_process_laxity(&process, verdict.logical_arrival_ns + cost_ns, &laxity_ns));
        lbap_laxities_add(&laxities, laxity_ns);
    }
    ck_assert_int_eq(laxities.count, 200);
    ck_assert_int_eq(laxities.violations, 0);
    ck_assert_int_eq(laxities.least_ns, 66666667 - 36 * MS);
    ck_assert_int_eq(laxities.most_ns, 66666667 - 20 * MS);
    lbap_laxities_add(&laxities, -1);
    ck_assert_int_eq(laxities.violations, 1);
    ck_assert_int_eq(laxities.least_ns, -1);
}
END_TEST

START_TEST(another_delay_moves_the_deadline_only)
{
    struct lbap_process process;
    const struct lbap_workload workload = {.size_max_bytes = 1, .period_ns = 40 * MS, .delay_ns = 15 * MS};
    ck_assert_int_eq(lbap_process_init(&process, &workload), 0);
    const struct lbap_verdict verdict = lbap_process_offer(&process, 5 * MS, 1);
    lbap_process_accept(&process, &verdict);
    ck_assert_int_eq(verdict.deadline_ns, 20 * MS);
    ck_assert_int_eq(lbap_process_offer(&process, 5 * MS, 1).logical_arrival_ns, 45 * MS);
}
END_TEST

START_TEST(impossible_workloads_are_refused)
{
    static const struct lbap_workload workloads[] = {
        {.period_ns = 0}, {.period_ns = -1}, {.period_ns = 1, .size_max_bytes = -1}, {.period_ns = 1, .workahead_max = -1},
        {.period_ns = 1, .delay_ns = -1},
    };
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        struct lbap_process process;
        ck_assert_int_eq(lbap_process_init(&process, &workloads[i]), -EINVAL);
    }
}
END_TEST

START_TEST(greatest_values_mean_no_limit)
{
    struct lbap_process process;
    struct lbap_workload workload = {.size_max_bytes = INT64_MAX, .period_ns = 40 * MS, .workahead_max = INT64_MAX};
    ck_assert_int_eq(lbap_process_init(&process, &workload), 0);
    for (int packet = 0; packet < 5; packet++) {
        const struct lbap_verdict verdict = lbap_process_offer(&process, 0, INT64_MAX);
        ck_assert(!verdict.violates);
        ck_assert_int_eq(verdict.logical_arrival_ns, packet * 40 * MS);
        lbap_process_accept(&process, &verdict);
    }
    workload = (struct lbap_workload){.period_ns = INT64_MAX, .delay_ns = INT64_MAX};
    ck_assert_int_eq(lbap_process_init(&process, &workload), 0);
    for (int packet = 0; packet < 3; packet++) {
        const struct lbap_verdict verdict = lbap_process_offer(&process, 5, 0);
        ck_assert_int_eq(verdict.violates, packet > 0);
        ck_assert_int_eq(verdict.logical_arrival_ns, packet ? INT64_MAX : 5);
        ck_assert_int_eq(verdict.deadline_ns, INT64_MAX);
        lbap_process_accept(&process, &verdict);
    }
}
END_TEST

/*
 * Packets that do not violate are within the bound: in any interval that a packet begins, of length t, at most R t + W more.
 * Sources send bursts, and what violates is not accepted.
 */
START_TEST(accepted_packets_are_linearly_bounded)
{
    struct sim_random random;
    sim_random_init(&random, 1);
    int refused = 0;
    for (int round = 0; round < 50; round++) {
        struct lbap_process process = process_25_hz();
        int64_t arrivals_ns[PACKETS], arrival_ns = 0;
        int count = 0;
        while (count < PACKETS) {
            arrival_ns += sim_random_uniform(&random) < 0.5 ? 0 : sim_random_exponential_ns(&random, 60 * MS);
            const struct lbap_verdict verdict = lbap_process_offer(&process, arrival_ns, 1);
            refused += verdict.violates;
            if (verdict.violates)
                continue;
            lbap_process_accept(&process, &verdict);
            arrivals_ns[count++] = arrival_ns;
        }
        for (int i = 0; i < count; i++)
            for (int k = i + 1; k < count; k++)
                suite_check((k - i - 2) * 40 * MS <= arrivals_ns[k] - arrivals_ns[i]);
    }
    ck_assert_int_gt(refused, 100);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        first_packet_arrives_logically_when_it_arrives,
        early_packet_arrives_logically_a_period_after_the_one_before,
        late_packet_delays_those_after_it,
        more_than_the_workahead_violates,
        large_packet_violates,
        offer_changes_nothing,
        laxity_is_of_the_packet_that_was_processed,
        another_delay_moves_the_deadline_only,
        impossible_workloads_are_refused,
        greatest_values_mean_no_limit,
        accepted_packets_are_linearly_bounded,
        NULL,
    };
    return suite_run("lbap_process", 60, tests);
}
