/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pass_compare.h"

#include <check.h>

enum { MOST_PASSES = 400 }; /* if so many are not enough, the machine is broken */

size_t count_droppable(const struct decode_pass *pass)
{
    size_t count = 0;
    for (size_t i = 0; i < pass->picture_count; i++)
        count += pass->pictures[i].droppable;
    return count;
}

size_t count_abandoned(const struct decode_pass *pass)
{
    size_t count = 0;
    for (size_t i = 0; i < pass->picture_count; i++)
        count += pass->pictures[i].abandoned;
    return count;
}

void expect_same_order(const struct decode_pass *undisturbed, const struct decode_pass *pass)
{
    ck_assert_uint_gt(pass->picture_count, 0);
    ck_assert_uint_eq(pass->picture_count, undisturbed->picture_count);
    ck_assert_int_eq(pass->rejected_count, undisturbed->rejected_count);
    ck_assert_int_eq(pass->stray_count, 0);
    for (size_t i = 0; i < pass->picture_count; i++) {
        const struct fingerprint *expected = &undisturbed->pictures[i], *got = &pass->pictures[i];
        ck_assert_int_eq(got->pts, expected->pts);
        ck_assert_int_eq(got->packet, expected->packet);
        ck_assert_int_eq(got->type, expected->type);
        ck_assert_int_eq(got->droppable, expected->droppable);
        ck_assert_msg(got->droppable || !got->abandoned, "reference picture at %lld abandoned",
                      (long long)got->pts);
    }
}

void expect_same_but_abandoned(const struct decode_pass *undisturbed,
                               const struct decode_pass *pass)
{
    expect_same_order(undisturbed, pass);
    ck_assert_int_eq(pass->log_count, undisturbed->log_count);
    for (size_t i = 0; i < pass->picture_count; i++) {
        const struct fingerprint *expected = &undisturbed->pictures[i], *got = &pass->pictures[i];
        ck_assert_int_eq(got->damaged, expected->damaged);
        if (!got->abandoned)
            ck_assert_mem_eq(got->hash, expected->hash, sizeof(got->hash));
    }
}

int64_t interrupt_often(const struct coded_stream *stream, expectation *expect,
                        const struct decode_pass *undisturbed, uint64_t seed, int64_t wanted)
{
    /* Deadlines are random, up to the mean length of a run, so most of them pass inside a run. */
    struct decode_pass whole = {.policy = GATE_OPEN};
    ck_assert_int_eq(pass_decode(&whole, stream), 0);
    ck_assert_int_gt(whole.run_count, 0);
    const int64_t mean_run_ns = whole.run_total_ns / whole.run_count;
    pass_finish(&whole);

    int64_t interrupted = 0;
    for (int i = 0; interrupted < wanted && i < MOST_PASSES; i++) {
        struct decode_pass pass = {
            .policy = GATE_RANDOM,
            .seed = (seed + i) * 0x9E3779B97F4A7C15u | 1, /* xorshift must not start at 0 */
            .longest_run_ns = mean_run_ns,
        };
        ck_assert_int_eq(pass_decode(&pass, stream), 0);
        expect(undisturbed, &pass);
        ck_assert_uint_eq(count_abandoned(&pass),
                          (size_t)(pass.interrupted_count + pass.refused_count));
        interrupted += pass.interrupted_count;
        pass_finish(&pass);
    }
    ck_assert_int_ge(interrupted, wanted);
    return interrupted;
}
