/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far to decode ahead: the texts of --queue and the limits that they mean. Not covered: the memory of this machine. */
#include "queue_wish.h"

#include <check.h>
#include <errno.h>

#include "ns.h"
#include "suite.h"

#define MIB (INT64_C(1) << 20)

static struct queue_wish parsed(const char *text)
{
    struct queue_wish wish = {0};
    ck_assert_msg(queue_wish_parse(&wish, text) == 0, "%s", text);
    return wish;
}

START_TEST(amounts_are_pictures_times_or_sizes)
{
    static const struct {
        const char *text;
        struct queue_wish wish;
    } cases[] = {
        {"0", {QUEUE_NONE, 0}},
        {"auto", {QUEUE_AUTO, 0}},
        {"1", {QUEUE_PICTURES, 1}},
        {"50", {QUEUE_PICTURES, 50}},
        {"1.5s", {QUEUE_SPAN, 1500 * NS_PER_MS}},
        {"300ms", {QUEUE_SPAN, 300 * NS_PER_MS}},
        {"128MiB", {QUEUE_BYTES, 128 * MIB}},
        {"0.5GiB", {QUEUE_BYTES, 512 * MIB}},
        {"64KiB", {QUEUE_BYTES, 64 * 1024}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct queue_wish wish = parsed(cases[i].text);
        ck_assert_int_eq(wish.kind, cases[i].wish.kind);
        ck_assert_int_eq(wish.value, cases[i].wish.value);
    }
}
END_TEST

START_TEST(text_that_is_no_amount_is_refused)
{
    static const char *const texts[] = {"", "-1", "+5", " 5", "1.5", "5 s", "s", "5m", "5x", "0x10", "nan", "inf", "1e400s", "1e9s", "1e1", "5E0MiB",
                                        "0s", "0.1ns", "10001", "99999999999s", "autos", "5s5", "0.0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct queue_wish wish;
        ck_assert_msg(queue_wish_parse(&wish, texts[i]) == -EINVAL, "'%s' was taken", texts[i]);
    }
}
END_TEST

START_TEST(text_of_a_wish_means_the_same_wish)
{
    static const char *const texts[] = {"0", "auto", "50", "1.5s", "300ms", "128MiB", "1KiB"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct queue_wish wish = parsed(texts[i]);
        char text[QUEUE_WISH_TEXT_SIZE];
        const struct queue_wish again = parsed(queue_wish_text(&wish, text));
        ck_assert_int_eq(again.kind, wish.kind);
        ck_assert_int_eq(again.value, wish.value);
    }
}
END_TEST

START_TEST(each_amount_limits_one_thing)
{
    struct queue_wish wish = parsed("50");
    struct queue_limit limit = queue_limit_of(&wish, 0);
    ck_assert(limit.pictures == 50 && limit.bytes == INT64_MAX && limit.span_ns == INT64_MAX);
    wish = parsed("2s");
    limit = queue_limit_of(&wish, 0);
    ck_assert(limit.pictures == INT64_MAX && limit.bytes == INT64_MAX && limit.span_ns == 2 * NS_PER_S);
    wish = parsed("64MiB");
    limit = queue_limit_of(&wish, 0);
    ck_assert(limit.pictures == INT64_MAX && limit.bytes == 64 * MIB && limit.span_ns == INT64_MAX);
}
END_TEST

START_TEST(auto_is_the_least_of_2_s_256_mib_and_an_eighth_of_the_memory)
{
    const struct queue_wish wish = parsed("auto");
    struct queue_limit limit = queue_limit_of(&wish, INT64_MAX);
    ck_assert_int_eq(limit.bytes, 256 * MIB);
    ck_assert_int_eq(limit.span_ns, 2 * NS_PER_S);
    limit = queue_limit_of(&wish, 800 * MIB);
    ck_assert_int_eq(limit.bytes, 100 * MIB);
}
END_TEST

START_TEST(pictures_in_codec_threads_are_a_part_of_the_limit)
{
    const struct picture_size size = {.duration_ns = 40 * NS_PER_MS, .bytes = 3 * MIB};
    const struct queue_limit limit = {.pictures = 50, .bytes = 64 * MIB, .span_ns = 2 * NS_PER_S};
    const struct queue_limit rest = queue_limit_less(&limit, 3, &size);
    ck_assert_int_eq(rest.pictures, 47);
    ck_assert_int_eq(rest.bytes, 55 * MIB);
    ck_assert_int_eq(rest.span_ns, 1880 * NS_PER_MS);
    const struct queue_limit none = queue_limit_less(&limit, 0, &size);
    ck_assert(none.pictures == limit.pictures && none.bytes == limit.bytes && none.span_ns == limit.span_ns);
}
END_TEST

START_TEST(no_limit_stays_none_and_a_small_one_is_used_up)
{
    const struct picture_size size = {.duration_ns = 40 * NS_PER_MS, .bytes = 3 * MIB};
    const struct queue_limit limit = {.pictures = 2, .bytes = INT64_MAX, .span_ns = 100 * NS_PER_MS};
    const struct queue_limit rest = queue_limit_less(&limit, 3, &size);
    ck_assert(rest.pictures == 0 && rest.bytes == INT64_MAX && rest.span_ns == 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        amounts_are_pictures_times_or_sizes,
        text_that_is_no_amount_is_refused,
        text_of_a_wish_means_the_same_wish,
        each_amount_limits_one_thing,
        auto_is_the_least_of_2_s_256_mib_and_an_eighth_of_the_memory,
        pictures_in_codec_threads_are_a_part_of_the_limit,
        no_limit_stays_none_and_a_small_one_is_used_up,
        NULL,
    };
    return suite_run("queue_wish", SUITE_TIMEOUT_DEFAULT, tests);
}
