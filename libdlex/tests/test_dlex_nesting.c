/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requirement 5 of seed 000, section 4: blocks within blocks, as deep as the stack goes; the other
 * requirements are in test_dlex_requirements.c. Not here: every pair of constructs.
 */
#include <pthread.h>

#include "dlex_testing.h"

static void burn_cpu(int64_t ns)
{
    const int64_t end_ns = dlex_cpu_ns() + ns;
    while (dlex_cpu_ns() < end_ns)
        ;
}

/* Blocks with deadlines and WCETs in random order. All limits are far away except that of one block in
 * the middle. */
enum { DEPTH = 12000, MIDDLE = DEPTH / 3 };

static struct nest {
    unsigned seed;
    int64_t middle_ns; /* the limit of the block in the middle */
    int opened, finals, handled, handled_at, ended;
    char middle_kind;
} nest;

/* The call goes through a pointer, so that the compiler cannot turn it into a loop: each level needs its
 * own frame. */
static void descend(int level);
static void (*volatile next_level)(int level) = descend;

static void go_deeper(int level)
{
    nest.opened++;
    if (level < DEPTH)
        next_level(level + 1);
    else
        burn_cpu(HOUR);
}

static void note_handler(int level)
{
    nest.handled++;
    nest.handled_at = level;
}

static void descend_by_deadline(int level, int64_t limit_ns)
{
    dlex_try_within_rel(limit_ns) {
        go_deeper(level);
    } dlex_finally {
        nest.finals++;
    } dlex_handle dlex_when(dlex_timing_violation) {
        note_handler(level);
    } dlex_end
}

static void descend_by_wcet(int level, int64_t limit_ns)
{
    dlex_try_within_wcet(limit_ns) {
        go_deeper(level);
    } dlex_finally {
        nest.finals++;
    } dlex_handle dlex_when(dlex_timing_violation) {
        note_handler(level);
    } dlex_end
}

static void descend(int level)
{
    nest.seed = nest.seed * 1103515245 + 12345;
    const bool wcet = nest.seed >> 16 & 1;
    const int64_t limit_ns = level == MIDDLE ? nest.middle_ns : HOUR + level;
    if (level == MIDDLE)
        nest.middle_kind = wcet ? 'w' : 'd';
    if (wcet)
        descend_by_wcet(level, limit_ns);
    else
        descend_by_deadline(level, limit_ns);
    nest.ended++; /* blocks inside the owner do not get here */
}

/* A machine that needs long to open all blocks gets more time. */
static void *descend_with_each_kind(void *kinds)
{
    for (nest.seed = 1; nest.seed < 1000;) {
        const unsigned seed = nest.seed;
        for (int64_t limit_ns = 50 * MS; limit_ns < HOUR / 10; limit_ns *= 2) {
            nest = (struct nest){ .seed = seed, .middle_ns = limit_ns };
            descend(1);
            if (nest.opened == DEPTH)
                break;
        }
        if (nest.opened != DEPTH || nest.finals != DEPTH || nest.handled != 1
            || nest.handled_at != MIDDLE || nest.ended != MIDDLE)
            return NULL;
        ((bool *)kinds)[nest.middle_kind == 'w'] = true;
        if (((bool *)kinds)[0] && ((bool *)kinds)[1])
            return kinds;
        nest.seed = seed + 1;
    }
    return NULL;
}

START_TEST(requirement_5_nesting_of_deadlines_and_wcets_12000_deep)
{
    bool kinds[2] = { false, false };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, (size_t)1 << 28), 0);
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, &attributes, descend_with_each_kind, kinds), 0);
    pthread_join(thread, &result);
    pthread_attr_destroy(&attributes);
    ck_assert_int_eq(nest.opened, DEPTH);
    ck_assert_int_eq(nest.finals, DEPTH);
    ck_assert_int_eq(nest.handled, 1);
    ck_assert_int_eq(nest.handled_at, MIDDLE);
    ck_assert_int_eq(nest.ended, MIDDLE);
    ck_assert_ptr_nonnull(result);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        requirement_5_nesting_of_deadlines_and_wcets_12000_deep,
        NULL,
    };
    return suite_run("libdlex nesting", 300, tests);
}
