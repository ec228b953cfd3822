/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requirement 12 of seed 000, section 4: the same source, compiled to be measured. The other
 * requirements are in test_dlex_requirements.c. Not here: the figures, and how they are written.
 */
#define DLEX_BENCHMARK

#include <stdlib.h>
#include <string.h>

#include "dlex_testing.h"

static int runs_to_its_end(int64_t ns)
{
    volatile int ended = 0;
    dlex_try_within_rel(ns) {
        burn(2 * MS);
        ended = 1;
    } dlex_handle dlex_when(dlex_timing_violation) {
        ended = 2;
    } dlex_end
    return ended;
}

START_TEST(requirement_12_segments_are_measured_instead_of_enforced)
{
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(runs_to_its_end(MS), 1);
    ck_assert_int_eq(runs_to_its_end(0), 1);
    ck_assert_int_eq(dlex_last_violation()->deadline_ns, 0);
    FILE *const report = open_memstream(&text, &size);
    ck_assert_int_eq(dlex_benchmark_write(report, DLEX_BENCHMARK_TEXT, 0.01), 0);
    fclose(report);
    ck_assert_ptr_nonnull(strstr(text, "test_dlex_measuring.c"));
    ck_assert_ptr_nonnull(strstr(text, "runs_to_its_end"));
    free(text);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { requirement_12_segments_are_measured_instead_of_enforced, NULL };
    return suite_run("libdlex measuring", 300, tests);
}
