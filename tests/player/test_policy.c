/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decisions of every drop policy, with invented times. Not covered: what the decoder does with them (tests/gate). */
#include "policy_decode.h"
#include "policy_present.h"

#include <check.h>

#include "suite.h"

#define MS INT64_C(1000000)

enum { FIRST_PICTURES = 8 };

static const int64_t frame_ns = 40 * MS;
static const int64_t now_ns = 1000000 * MS;

/* Both parts of the player's policy, as the player uses them together. */
struct policy {
    struct decode_policy decode;
    struct present_policy present;
};

static struct policy policy_with(const struct policy_settings *settings)
{
    struct policy policy;
    decode_policy_init(&policy.decode, settings);
    present_policy_init(&policy.present, settings);
    return policy;
}

static struct policy policy_of(enum drop_policy drop, enum deadline_rule rule)
{
    const struct policy_settings settings = {.drop = drop, .rule = rule, .base_ns = -1, .gain = -1};
    return policy_with(&settings);
}

static struct decode_order decide(struct policy *policy, int64_t skew_ns)
{
    const struct decode_view view = {
        .now_ns = now_ns, .skew_ns = skew_ns, .frame_duration = frame_duration_of(frame_ns), .sound_plays = true};
    return decode_policy_decide(&policy->decode, &view);
}

static void pass_first_pictures(struct policy *policy)
{
    for (int i = 0; i < FIRST_PICTURES; i++)
        decide(policy, 0);
}

static bool presents(struct policy *policy, int64_t skew_ns, bool had_to_be_decoded)
{
    const struct present_view view = {
        .now_ns = now_ns,
        .skew_ns = skew_ns,
        .frame_duration = frame_duration_of(frame_ns),
        .had_to_be_decoded = had_to_be_decoded,
        .is_starting = decode_policy_is_starting(&policy->decode),
    };
    return present_policy_shows(&policy->present, &view);
}

START_TEST(policy_none_never_gives_up)
{
    struct policy policy = policy_of(DROP_NONE, RULE_SLACK);
    for (int64_t skew_ns = -1000 * MS; skew_ns < 10000 * MS; skew_ns += 100 * MS) {
        const struct decode_order order = decide(&policy, skew_ns);
        ck_assert(!order.give_up);
        ck_assert_int_eq(order.deadline_ns, NO_DEADLINE);
        ck_assert(presents(&policy, skew_ns, true));
    }
}
END_TEST

START_TEST(heuristic_allows_a_lag_of_100_ms)
{
    struct policy policy = policy_of(DROP_HEURISTIC, RULE_SLACK);
    ck_assert(!decide(&policy, 100 * MS).give_up);
    ck_assert(decide(&policy, 100 * MS + 1).give_up);
}
END_TEST

START_TEST(heuristic_allows_one_frame_more_for_each_consecutive_request)
{
    struct policy policy = policy_of(DROP_HEURISTIC, RULE_SLACK);
    ck_assert(decide(&policy, 150 * MS).give_up);
    ck_assert(decide(&policy, 150 * MS).give_up);  /* after one request 140 ms are allowed */
    ck_assert(!decide(&policy, 150 * MS).give_up); /* after two requests 180 ms */
    ck_assert(decide(&policy, 150 * MS).give_up);  /* and then the limit is 100 ms again */
}
END_TEST

START_TEST(heuristic_forgets_its_requests_at_a_seek)
{
    struct policy policy = policy_of(DROP_HEURISTIC, RULE_SLACK);
    ck_assert(decide(&policy, 130 * MS).give_up);
    decode_policy_restart(&policy.decode);
    ck_assert(decide(&policy, 130 * MS).give_up); /* after one request 140 ms would be allowed */
}
END_TEST

START_TEST(slack_keeps_the_first_pictures_after_a_seek)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_SLACK);
    pass_first_pictures(&policy);
    ck_assert_int_ne(decide(&policy, 0).deadline_ns, NO_DEADLINE);
    decode_policy_restart(&policy.decode);
    ck_assert_int_eq(decide(&policy, 0).deadline_ns, NO_DEADLINE);
}
END_TEST

START_TEST(heuristic_does_nothing_without_sound)
{
    struct policy policy = policy_of(DROP_HEURISTIC, RULE_SLACK);
    const struct decode_view silent = {.now_ns = now_ns, .skew_ns = 5000 * MS, .frame_duration = frame_duration_of(frame_ns)};
    ck_assert(!decode_policy_decide(&policy.decode, &silent).give_up);
}
END_TEST

START_TEST(heuristic_does_not_present_what_it_gave_up)
{
    struct policy policy = policy_of(DROP_HEURISTIC, RULE_SLACK);
    const struct present_view view = {
        .skew_ns = 150 * MS, .frame_duration = frame_duration_of(frame_ns), .given_up = true, .had_to_be_decoded = true};
    ck_assert(!present_policy_shows(&policy.present, &view));
    ck_assert(presents(&policy, 5000 * MS, true));
}
END_TEST

static bool refuses(struct policy *policy, int64_t until_due_ns)
{
    const struct decode_view view = {
        .now_ns = now_ns, .frame_duration = frame_duration_of(frame_ns), .until_due_ns = until_due_ns, .presenting_ns = 5 * MS};
    const struct decode_order order = decode_policy_decide(&policy->decode, &view);
    ck_assert(!order.give_up);
    return order.refuse;
}

static void learn_droppable(struct policy *policy, int64_t wall_ns)
{
    const struct decode_use use = {.picture_class = CLASS_DROPPABLE, .cpu_ns = wall_ns, .wall_ns = wall_ns};
    decode_policy_learn(&policy->decode, &use, frame_duration_of(frame_ns));
}

/* 1.5 x 20 ms for the decode, 5 ms for presenting, and 75 ms. */
START_TEST(vlc_refuses_what_is_due_too_soon)
{
    struct policy policy = policy_of(DROP_VLC, RULE_SLACK);
    pass_first_pictures(&policy);
    ck_assert(!refuses(&policy, -1000 * MS)); /* no cost is known */
    learn_droppable(&policy, 20 * MS);
    ck_assert(!refuses(&policy, 110 * MS));
    ck_assert(refuses(&policy, 110 * MS - 1));
    learn_droppable(&policy, 20 * MS + 80 * MS); /* the average is 30 ms now */
    ck_assert(refuses(&policy, 125 * MS - 1));
    ck_assert(!refuses(&policy, 125 * MS));
}
END_TEST

START_TEST(vlc_keeps_the_first_pictures_and_forgets_at_a_seek)
{
    struct policy policy = policy_of(DROP_VLC, RULE_SLACK);
    learn_droppable(&policy, 20 * MS);
    for (int i = 0; i < FIRST_PICTURES; i++)
        ck_assert(!refuses(&policy, 0));
    ck_assert(refuses(&policy, 0));
    decode_policy_restart(&policy.decode);
    pass_first_pictures(&policy);
    ck_assert(!refuses(&policy, 0));
}
END_TEST

START_TEST(vlc_does_not_present_what_comes_far_too_late)
{
    struct policy policy = policy_of(DROP_VLC, RULE_SLACK);
    pass_first_pictures(&policy);
    refuses(&policy, 0);
    ck_assert(presents(&policy, 150 * MS, true));
    ck_assert(!presents(&policy, 151 * MS, true));
}
END_TEST

static bool presents_what_waited(struct policy *policy, int64_t skew_ns)
{
    const struct present_view view = {.skew_ns = skew_ns, .frame_duration = frame_duration_of(frame_ns), .waited = true};
    return present_policy_shows(&policy->present, &view);
}

START_TEST(late_applies_to_every_picture_that_waited_unless_all_are_to_be_shown)
{
    struct policy slack = policy_of(DROP_DEADLINE, RULE_SLACK), heuristic = policy_of(DROP_HEURISTIC, RULE_SLACK);
    struct policy none = policy_of(DROP_NONE, RULE_SLACK), paper = policy_of(DROP_DEADLINE, RULE_PAPER);
    ck_assert(!presents_what_waited(&slack, 151 * MS));
    ck_assert(!presents_what_waited(&heuristic, 151 * MS));
    ck_assert(presents_what_waited(&none, 5000 * MS));
    ck_assert(presents_what_waited(&paper, 5000 * MS));
    ck_assert(presents(&heuristic, 5000 * MS, true)); /* it did not wait */
}
END_TEST

START_TEST(paper_deadline_is_37_ms_at_25_fps_in_synchrony)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_PAPER);
    ck_assert_int_eq(decide(&policy, 0).deadline_ns, now_ns + 37 * MS);
}
END_TEST

START_TEST(paper_deadline_is_shorter_by_one_percent_of_the_lag)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_PAPER);
    ck_assert_int_eq(decide(&policy, 100 * MS).deadline_ns, now_ns + 36 * MS);
    ck_assert_int_eq(decide(&policy, -100 * MS).deadline_ns, now_ns + 38 * MS);
    ck_assert_int_eq(decide(&policy, 10000 * MS).deadline_ns, now_ns - 63 * MS);
}
END_TEST

START_TEST(paper_takes_base_and_gain_from_the_settings)
{
    const struct policy_settings settings = {.drop = DROP_DEADLINE, .rule = RULE_PAPER, .base_ns = 5 * MS, .gain = 0.5};
    struct policy policy = policy_with(&settings);
    ck_assert_int_eq(decide(&policy, 2 * MS).deadline_ns, now_ns + 4 * MS);
}
END_TEST

START_TEST(paper_scales_with_the_frame_duration)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_PAPER);
    const struct decode_view view = {.now_ns = now_ns, .frame_duration = frame_duration_of(20 * MS), .sound_plays = true};
    ck_assert_int_eq(decode_policy_decide(&policy.decode, &view).deadline_ns, now_ns + 18 * MS + MS / 2);
}
END_TEST

START_TEST(paper_presents_late_pictures)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_PAPER);
    pass_first_pictures(&policy);
    decide(&policy, 0);
    ck_assert(presents(&policy, 5000 * MS, true));
}
END_TEST

START_TEST(slack_keeps_the_first_pictures)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_SLACK);
    for (int i = 0; i < FIRST_PICTURES; i++)
        ck_assert_int_eq(decide(&policy, 500 * MS).deadline_ns, NO_DEADLINE);
    ck_assert_int_ne(decide(&policy, 500 * MS).deadline_ns, NO_DEADLINE);
}
END_TEST

START_TEST(slack_ends_a_tolerance_after_the_picture_is_due)
{
    const struct policy_settings settings = {.drop = DROP_DEADLINE, .rule = RULE_SLACK, .base_ns = 30 * MS, .gain = -1};
    struct policy policy = policy_with(&settings);
    pass_first_pictures(&policy);
    ck_assert_int_eq(decide(&policy, -25 * MS).deadline_ns, now_ns + 55 * MS);
    ck_assert_int_eq(decide(&policy, 25 * MS).deadline_ns, now_ns + 5 * MS);
    ck_assert_int_eq(decide(&policy, 50 * MS).deadline_ns, now_ns - 20 * MS);
}
END_TEST

START_TEST(slack_does_not_present_a_hopelessly_late_reference)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_SLACK);
    pass_first_pictures(&policy);
    decide(&policy, 0);
    ck_assert(presents(&policy, 150 * MS, true)); /* the limit is 50 ms of tolerance and 100 ms */
    ck_assert(!presents(&policy, 150 * MS + 1, true));
}
END_TEST

START_TEST(slack_tolerates_more_lag_for_each_missed_picture)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_SLACK);
    pass_first_pictures(&policy);
    decide(&policy, 0);
    ck_assert(!presents(&policy, 250 * MS, true));
    present_policy_miss(&policy.present, now_ns); /* after two missed pictures: 150 ms and 2 * 60 ms */
    ck_assert(presents(&policy, 250 * MS, true));
    ck_assert(!presents(&policy, 250 * MS, true)); /* and then the limit is 150 ms again */
}
END_TEST

START_TEST(slack_presents_every_droppable_picture_that_came_out_whole)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_SLACK);
    pass_first_pictures(&policy);
    decide(&policy, 0);
    ck_assert(presents(&policy, 500 * MS, false));
}
END_TEST

START_TEST(slack_forgets_missed_pictures_at_a_seek)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_SLACK);
    pass_first_pictures(&policy);
    decide(&policy, 0);
    ck_assert(!presents(&policy, 250 * MS, true));
    present_policy_miss(&policy.present, now_ns);
    present_policy_restart(&policy.present);
    ck_assert(!presents(&policy, 250 * MS, true)); /* after two missed pictures it would be shown */
}
END_TEST

/* A machine that needs step_ns for each picture. Returns how many it misses before one is presented. */
static int misses(struct policy *policy, int64_t *at_ns, int64_t step_ns)
{
    struct present_view view = {.skew_ns = 100000 * MS, .frame_duration = frame_duration_of(frame_ns), .had_to_be_decoded = true};
    for (int missed = 0; missed < 1000; missed++) {
        view.now_ns = *at_ns += step_ns;
        if (present_policy_shows(&policy->present, &view))
            return missed;
    }
    return 1000;
}

START_TEST(slack_presents_a_picture_after_at_most_a_second_without_one)
{
    struct policy policy = policy_of(DROP_DEADLINE, RULE_SLACK);
    int64_t at_ns = now_ns;
    pass_first_pictures(&policy);
    decide(&policy, 0);
    for (int round = 0; round < 2; round++)
        ck_assert_int_eq(misses(&policy, &at_ns, frame_ns), 25);
    ck_assert_int_eq(misses(&policy, &at_ns, 12 * frame_ns), 3); /* a second of real time, not of the film */
    ck_assert_int_eq(misses(&policy, &at_ns, MS), 1000); /* pictures that waited during a stop are not shown one by one */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        policy_none_never_gives_up,
        heuristic_allows_a_lag_of_100_ms,
        heuristic_allows_one_frame_more_for_each_consecutive_request,
        heuristic_forgets_its_requests_at_a_seek,
        slack_keeps_the_first_pictures_after_a_seek,
        heuristic_does_nothing_without_sound,
        late_applies_to_every_picture_that_waited_unless_all_are_to_be_shown,
        vlc_refuses_what_is_due_too_soon,
        vlc_keeps_the_first_pictures_and_forgets_at_a_seek, vlc_does_not_present_what_comes_far_too_late,
        heuristic_does_not_present_what_it_gave_up,
        paper_deadline_is_37_ms_at_25_fps_in_synchrony,
        paper_deadline_is_shorter_by_one_percent_of_the_lag,
        paper_takes_base_and_gain_from_the_settings,
        paper_scales_with_the_frame_duration,
        paper_presents_late_pictures,
        slack_keeps_the_first_pictures,
        slack_ends_a_tolerance_after_the_picture_is_due,
        slack_does_not_present_a_hopelessly_late_reference,
        slack_presents_every_droppable_picture_that_came_out_whole,
        slack_tolerates_more_lag_for_each_missed_picture,
        slack_forgets_missed_pictures_at_a_seek,
        slack_presents_a_picture_after_at_most_a_second_without_one,
        NULL,
    };
    return suite_run("policy", SUITE_TIMEOUT_DEFAULT, tests);
}
