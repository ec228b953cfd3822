/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every construct once, in words that are C11 and C++17 alike. Exit code 0: all of it worked. */
#include <dlex/dlex.h>

#define MS (1000 * 1000)
#define HOUR (INT64_C(3600) * 1000 * MS)

dlex_declare_exception(no_room);
dlex_define_exception(no_room) dlex_extends(dlex_exception);

struct point {
    int x, y;
};

static int finals;

static void fail_with_finally(void)
{
    dlex_try {
        dlex_throw(no_room);
    } dlex_finally {
        finals++;
    } dlex_end
}

static int code_of_exception(void)
{
    volatile int code = 0;
    dlex_try {
        fail_with_finally();
    } dlex_handle dlex_when(dlex_timing_violation) {
        code = 1;
    } dlex_when(no_room) {
        code = dlex_caught() == &no_room ? 2 : 3;
    } dlex_when_any {
        dlex_rethrow();
    } dlex_end
    return code;
}

static void use_up(int64_t ns)
{
    const int64_t end_ns = dlex_cpu_ns() + ns;
    while (dlex_cpu_ns() < end_ns)
        ;
}

static int violations(void)
{
    volatile int count = 0;
    dlex_try_within_rel(2 * MS) {
        use_up(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        count = count + 1;
    } dlex_end
    dlex_try_within_abs(dlex_now_ns() + 2 * MS) {
        dlex_try_within_disable();
        use_up(4 * MS);
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_timing_violation) {
        count = count + (dlex_expired_ns() >= 0 && dlex_last_violation()->released_ns > 0);
    } dlex_end
    dlex_try_within_wcet(2 * MS) {
        use_up(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        count = count + 1;
    } dlex_end
    dlex_try_within_rel_cooperative(2 * MS) {
        for (;;)
            dlex_checkpoint();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        count = count + 1;
    } dlex_end
    dlex_try_within_disable();
    dlex_try_within_rel_shielded(2 * MS) {
        use_up(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        count = count + 1;
    } dlex_end
    dlex_try_within_enable();
    return count;
}

#if defined __clang__ && defined __cplusplus
#define HAS_DLEX_RETURN 0 /* see dlex/exception.h */
#else
#define HAS_DLEX_RETURN 1
static struct point point_out_of_two_blocks(void)
{
    const struct point here = { 3, 4 };
    dlex_try_within_rel(HOUR) {
        dlex_try {
            dlex_return(here);
        } dlex_finally {
            finals++;
        } dlex_end
    } dlex_finally {
        finals++;
    } dlex_end
    return here;
}

static void return_nothing(void)
{
    dlex_try {
        dlex_return_void();
    } dlex_finally {
        finals++;
    } dlex_end
    finals = 1000;
}
#endif

static int return_plainly(void)
{
    dlex_try_within_rel(HOUR) {
        return dlex_remaining_ns() > 0 && dlex_deadline_ns() != INT64_MAX;
    } dlex_end
    return 0;
}

int main(void)
{
    if (dlex_thread_init() != 0)
        return 1;
    if (code_of_exception() != 2 || finals != 1)
        return 2;
    if (violations() != 5)
        return 3;
#if HAS_DLEX_RETURN
    if (point_out_of_two_blocks().y != 4 || finals != 3)
        return 4;
    return_nothing();
    if (finals != 4)
        return 5;
#endif
    if (!return_plainly())
        return 7;
    dlex_idle();
    return dlex_remaining_ns() == INT64_MAX ? 0 : 6;
}
