/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of --threads, what is refused, and what auto comes to. Not covered: this machine's CPUs and quotas. */
#include "threads_wish.h"

#include <check.h>
#include <errno.h>
#include <math.h>

#include "suite.h"

static const struct threads_place everywhere = {.cpus = 4, .quota_cpus = INFINITY};

static struct threads_wish parsed(const char *text)
{
    struct threads_wish wish = {-1};
    ck_assert_msg(threads_wish_parse(&wish, text) == 0, "%s", text);
    return wish;
}

static int auto_with(int cpus, double quota_cpus)
{
    const struct threads_wish wish = parsed("auto");
    const struct threads_place place = {.cpus = cpus, .quota_cpus = quota_cpus};
    return threads_wish_count(&wish, &place);
}

START_TEST(text_is_auto_or_a_number_of_threads)
{
    ck_assert_int_eq(parsed("auto").count, 0);
    ck_assert_int_eq(parsed("1").count, 1);
    ck_assert_int_eq(parsed("3").count, 3);
    ck_assert_int_eq(parsed("16").count, 16);
}
END_TEST

START_TEST(other_text_is_refused)
{
    static const char *const texts[] = {"", "0", "-1", "+2", " 2", "2 ", "2.5", "0x2", "17", "99999999999999999999", "autos",
                                        "AUTO", "two"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct threads_wish wish;
        ck_assert_msg(threads_wish_parse(&wish, texts[i]) == -EINVAL, "'%s' was taken", texts[i]);
    }
}
END_TEST

START_TEST(text_of_a_wish_means_the_same_wish)
{
    static const char *const texts[] = {"auto", "1", "16"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct threads_wish wish = parsed(texts[i]);
        char text[THREADS_WISH_TEXT_SIZE];
        ck_assert_str_eq(threads_wish_text(&wish, text), texts[i]);
    }
}
END_TEST

START_TEST(number_is_taken_as_it_is)
{
    const struct threads_wish wish = parsed("7");
    ck_assert_int_eq(threads_wish_count(&wish, &everywhere), 7);
}
END_TEST

START_TEST(auto_asks_for_a_fair_share_beside_other_programs)
{
    ck_assert_int_eq(auto_with(1, INFINITY), 1);
    ck_assert_int_eq(auto_with(2, INFINITY), 7);
    ck_assert_int_eq(auto_with(4, INFINITY), 11);
    ck_assert_int_eq(auto_with(64, INFINITY), 16); /* as many as --threads takes */
}
END_TEST

START_TEST(auto_is_one_more_than_the_cpus_where_threads_are_placed)
{
    const struct threads_wish wish = parsed("auto");
    struct threads_place place = {.cpus = 1, .quota_cpus = INFINITY, .is_placed = true};
    ck_assert_int_eq(threads_wish_count(&wish, &place), 1);
    place.cpus = 4;
    ck_assert_int_eq(threads_wish_count(&wish, &place), 5);
    ck_assert_int_eq(threads_wish_fit(&wish, &place, 1), 5);
}
END_TEST

START_TEST(large_pictures_leave_the_queue_room)
{
    const struct threads_wish wish = parsed("auto");
    const struct threads_place two_cpus = {.cpus = 2, .quota_cpus = INFINITY};
    ck_assert_int_eq(threads_wish_fit(&wish, &two_cpus, 50), 7);
    ck_assert_int_eq(threads_wish_fit(&wish, &two_cpus, 27), 5); /* 6 would be even */
    ck_assert_int_eq(threads_wish_fit(&wish, &two_cpus, 10), 3);
    ck_assert_int_eq(threads_wish_fit(&wish, &two_cpus, 0), 3);
    const struct threads_wish seven = parsed("7");
    ck_assert_int_eq(threads_wish_fit(&seven, &two_cpus, 10), 7);
    const struct threads_place with_quota = {.cpus = 4, .quota_cpus = 2};
    ck_assert_int_eq(threads_wish_fit(&wish, &with_quota, 50), 2);
}
END_TEST

START_TEST(auto_leaves_threads_for_the_rest_of_the_player)
{
    const struct threads_wish wish = parsed("auto");
    struct threads_place place = {.cpus = 2, .quota_cpus = INFINITY};
    static const struct {
        int64_t room;
        int count;
    } cases[] = {{INT64_MAX, 7}, {100, 7}, {15, 7}, {14, 6}, {9, 1}, {8, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        place.most = threads_wish_most(cases[i].room);
        ck_assert_int_eq(threads_wish_count(&wish, &place), cases[i].count);
        ck_assert_int_le(threads_wish_fit(&wish, &place, 0), cases[i].count);
    }
    const struct threads_wish seven = parsed("7");
    ck_assert_int_eq(threads_wish_count(&seven, &place), 7);
}
END_TEST

START_TEST(quota_counts_rounded_up)
{
    ck_assert_int_eq(auto_with(4, 2), 2);
    ck_assert_int_eq(auto_with(4, 1.5), 2);
    ck_assert_int_eq(auto_with(4, 2.01), 3);
    ck_assert_int_eq(auto_with(4, 0.375), 1);
    ck_assert_int_eq(auto_with(2, 3.5), 7); /* more than there are */
}
END_TEST

START_TEST(auto_is_one_without_a_queue_and_under_a_reservation)
{
    const struct threads_wish wish = parsed("auto");
    struct threads_place place = everywhere;
    place.is_serial = true;
    ck_assert_int_eq(threads_wish_count(&wish, &place), 1);
    place = everywhere;
    place.has_reservation = true;
    ck_assert_int_eq(threads_wish_count(&wish, &place), 1);
}
END_TEST

START_TEST(several_threads_are_refused_there)
{
    struct threads_place serial = everywhere;
    struct threads_place reserved = everywhere;
    serial.is_serial = reserved.has_reservation = true;
    const struct threads_wish two = parsed("2");
    ck_assert_ptr_nonnull(threads_wish_refusal(&two, &serial));
    ck_assert_ptr_nonnull(threads_wish_refusal(&two, &reserved));
    ck_assert_ptr_null(threads_wish_refusal(&two, &everywhere));
    static const char *const harmless[] = {"auto", "1"};
    for (size_t i = 0; i < 2; i++) {
        const struct threads_wish wish = parsed(harmless[i]);
        ck_assert_ptr_null(threads_wish_refusal(&wish, &serial));
        ck_assert_ptr_null(threads_wish_refusal(&wish, &reserved));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        text_is_auto_or_a_number_of_threads,
        other_text_is_refused,
        text_of_a_wish_means_the_same_wish,
        number_is_taken_as_it_is,
        auto_asks_for_a_fair_share_beside_other_programs,
        auto_is_one_more_than_the_cpus_where_threads_are_placed,
        large_pictures_leave_the_queue_room,
        auto_leaves_threads_for_the_rest_of_the_player,
        quota_counts_rounded_up,
        auto_is_one_without_a_queue_and_under_a_reservation,
        several_threads_are_refused_there,
        NULL,
    };
    return suite_run("threads_wish", SUITE_TIMEOUT_DEFAULT, tests);
}
