/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shielded blocks: an interruptible island inside a protected section, as the gate of the decoder
 * opens one. Not here: any decoder. */
#include <string.h>

#include "dlex_testing.h"

dlex_define_exception(some_error) dlex_extends(dlex_exception);

START_TEST(island_is_left_at_its_deadline_and_the_section_goes_on)
{
    log_clear();
    dlex_try_within_rel(HOUR) {
        dlex_try_within_disable();
        dlex_try_within_abs_shielded(dlex_now_ns() + SOON) {
            burn(HOUR);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('i');
        } dlex_end
        log_mark('p');
        dlex_try_within_enable();
        log_mark('e');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    ck_assert_str_eq(log_text(), "fipe");
}
END_TEST

START_TEST(same_deadline_is_taken_in_the_island_first_and_by_the_outer_block_at_enable)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    volatile int64_t island_caught_ns = 0;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        dlex_try_within_abs_shielded(deadline_ns) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            island_caught_ns = dlex_last_violation()->caught_ns;
            log_mark('i');
        } dlex_end
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "ipo");
    const struct dlex_violation *v = dlex_last_violation();
    ck_assert_int_ge(v->released_ns, island_caught_ns);
    ck_assert_int_le(v->noticed_ns, island_caught_ns);
    ck_assert_int_eq(v->deadline_ns, deadline_ns);
}
END_TEST

static void outlast_the_deadline_in_an_island(int64_t deadline_ns)
{
    dlex_try_within_abs_shielded(HOUR + deadline_ns) {
        burn_until(deadline_ns + 2 * MS);
        log_mark('b');
        dlex_try_within_disable();
        dlex_try_within_enable();
        log_mark('c');
    } dlex_handle dlex_when_any {
        log_mark('y');
    } dlex_end
}

START_TEST(outer_deadline_does_not_reach_into_the_island)
{
    ck_assert_str_eq(log_of_protected(outlast_the_deadline_in_an_island), "bcpo");
}
END_TEST

static void burn_in_an_island_with_a_later_deadline(int64_t deadline_ns)
{
    dlex_try_within_abs_shielded(deadline_ns + 3 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('i');
    } dlex_end
}

START_TEST(island_deadline_still_holds_after_an_outer_one_passed)
{
    ck_assert_str_eq(log_of_protected(burn_in_an_island_with_a_later_deadline), "ipo");
}
END_TEST

static void open_three_late_islands(int64_t deadline_ns)
{
    burn_until(deadline_ns + MS);
    for (volatile int slice = 0; slice < 3; slice++) {
        dlex_try_within_abs_shielded(deadline_ns) {
            log_mark('y');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('i');
        } dlex_end
    }
}

START_TEST(late_island_is_not_entered_and_the_outer_block_waits_for_enable)
{
    ck_assert_str_eq(log_of_protected(open_three_late_islands), "iiipo");
}
END_TEST

START_TEST(section_inside_the_island_delays_its_violation)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_disable();
    dlex_try_within_abs_shielded(deadline_ns) {
        dlex_try_within_disable();
        outlast(deadline_ns);
        log_mark('s');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('i');
    } dlex_end
    dlex_try_within_enable();
    ck_assert_str_eq(log_text(), "si");
}
END_TEST

START_TEST(island_in_a_section_of_an_island_is_interruptible)
{
    log_clear();
    const int64_t outer_ns = dlex_now_ns() + SOON;
    dlex_try_within_disable();
    dlex_try_within_abs_shielded(outer_ns) {
        dlex_try_within_disable();
        dlex_try_within_abs_shielded(outer_ns + 2 * MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('2');
        } dlex_end
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('1');
    } dlex_end
    dlex_try_within_enable();
    ck_assert_str_eq(log_text(), "21");
}
END_TEST

static void outlast_the_deadline_after_an_island_in_an_island(int64_t deadline_ns)
{
    dlex_try_within_abs_shielded(deadline_ns + HOUR) {
        dlex_try_within_abs_shielded(deadline_ns + HOUR) {
            log_mark('2');
        } dlex_end
        burn_until(deadline_ns + MS);
        log_mark('1');
    } dlex_end
}

START_TEST(island_still_shields_after_one_inside_it_ended)
{
    ck_assert_str_eq(log_of_protected(outlast_the_deadline_after_an_island_in_an_island), "21po");
}
END_TEST

START_TEST(block_inside_the_island_obeys_the_island_deadline)
{
    log_clear();
    dlex_try_within_disable();
    dlex_try_within_abs_shielded(dlex_now_ns() + SOON) {
        dlex_try_within_rel(HOUR) {
            burn(HOUR);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('i');
    } dlex_end
    dlex_try_within_enable();
    ck_assert_str_eq(log_text(), "fi");
}
END_TEST

static void throw_through_an_island(int64_t deadline_ns)
{
    dlex_try {
        dlex_try_within_abs_shielded(deadline_ns + HOUR) {
            dlex_throw(some_error);
        } dlex_end
    } dlex_handle dlex_when(some_error) {
        burn_until(deadline_ns + MS);
        log_mark('s');
    } dlex_end
}

START_TEST(exception_through_the_island_restores_the_section)
{
    ck_assert_str_eq(log_of_protected(throw_through_an_island), "spo");
}
END_TEST

static int return_from_island(int64_t deadline_ns)
{
    dlex_try_within_abs_shielded(deadline_ns) {
        return 1;
    } dlex_end
    return 0;
}

static void outlast_the_deadline_after_a_return(int64_t deadline_ns)
{
    if (return_from_island(deadline_ns + HOUR))
        log_mark('r');
    burn_until(deadline_ns + MS);
}

START_TEST(return_out_of_the_island_restores_the_section)
{
    ck_assert_str_eq(log_of_protected(outlast_the_deadline_after_a_return), "rpo");
}
END_TEST

START_TEST(shield_without_a_section_delays_the_outer_violation)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_abs_shielded(deadline_ns + HOUR) {
            outlast(deadline_ns);
            log_mark('b');
        } dlex_finally {
            log_mark('f');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "bfo");
}
END_TEST

/* Imitates how the player decodes a picture: sections, slices in islands, one deadline for all. Returns
 * false if anything except the slices was interrupted, or if a slice went on after its deadline. */
static bool decode_like_the_player(int64_t deadline_ns, volatile int *aborted)
{
    volatile int in_section = 0, slices_aborted = 0, delivered = 0;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        in_section = 1;
        for (volatile int slice = 0; slice < 4 && !slices_aborted; slice++) {
            dlex_try_within_abs_shielded(deadline_ns) {
                burn(3000);
            } dlex_handle dlex_when(dlex_deadline_violation) {
                slices_aborted = 1;
            } dlex_end
            burn(500);
        }
        in_section = 0;
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        delivered = 1;
    } dlex_end
    *aborted += slices_aborted;
    return !in_section && (!slices_aborted || delivered);
}

START_TEST(storm_of_pictures_interrupts_nothing_but_slices)
{
    volatile int aborted = 0;
    int wrong = 0;
    for (int i = 0; i < 20000; i++)
        wrong += !decode_like_the_player(dlex_now_ns() + i * 7919 % 20000, &aborted);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_gt(aborted, 1000);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        island_is_left_at_its_deadline_and_the_section_goes_on,
        same_deadline_is_taken_in_the_island_first_and_by_the_outer_block_at_enable,
        outer_deadline_does_not_reach_into_the_island,
        island_deadline_still_holds_after_an_outer_one_passed,
        late_island_is_not_entered_and_the_outer_block_waits_for_enable,
        section_inside_the_island_delays_its_violation,
        island_in_a_section_of_an_island_is_interruptible,
        island_still_shields_after_one_inside_it_ended,
        block_inside_the_island_obeys_the_island_deadline,
        exception_through_the_island_restores_the_section,
        return_out_of_the_island_restores_the_section,
        shield_without_a_section_delays_the_outer_violation,
        storm_of_pictures_interrupts_nothing_but_slices,
        NULL,
    };
    return suite_run("libdlex shielded blocks", 120, tests);
}
