/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which threads are tuned and what they are granted, with made-up detections and a made-up clock. Not covered: the detector
 * (test_period_vote) and the kernel (test_tune.py).
 */
#include "tuner.h"

#include "made_up_events.h"
#include "suite.h"

#define MS INT64_C(1000000)

static struct tuner tuner;
static struct period_work work;
static struct made_up_events jobs;
static int64_t clock_ns;

/* A detection in which threads 11, 12, ... work at parts of the picture rate. */
struct scene {
    struct picture_rate rate;
    struct period_thread threads[TUNED_THREADS_MAX + 8];
    int64_t ids[TUNED_THREADS_MAX + 8];
    int count;
};

static struct scene scene_at(double hz)
{
    return (struct scene){.rate = {.verdict = hz > 0 ? PERIOD_FOUND : PERIOD_NONE, .hz = hz, .sd_hz = 0.002}};
}

static void add_thread(struct scene *scene, int part, double share)
{
    scene->ids[scene->count] = 11 + scene->count;
    scene->threads[scene->count++] = (struct period_thread){
        .events = jobs.events, .count = jobs.count, .part = part, .hz = scene->rate.hz / (part ? part : 1),
        .found = {.cpu_share = share},
    };
}

static bool detect(const struct scene *scene)
{
    return tuner_detected(&tuner, &scene->rate, scene->threads, scene->ids, scene->count, &work);
}

/* Begins with jobs of 4 ms at 25 Hz for 4 s. */
static void begin(double limit)
{
    struct sim_random random;
    sim_random_init(&random, 1);
    clock_ns = 0;
    jobs.count = 0;
    made_up_train(&jobs, &(struct made_up_train){.hz = 25, .phase = 0.5, .cpu_ms = 4}, 0, 4, &random);
    tuner_init(&tuner, &budget_defaults, limit);
}

/* An update half a second later, in which every thread used this in each of its periods. */
static void update(int64_t used_ns, bool is_exhausted)
{
    int64_t cpu_ns[BUDGET_PERIODS];
    struct tuner_sample samples[TUNED_THREADS_MAX];
    for (int i = 0; i < BUDGET_PERIODS; i++)
        cpu_ns[i] = used_ns;
    for (int i = 0; i < TUNED_THREADS_MAX; i++)
        samples[i] = (struct tuner_sample){
            .cpu_ns = cpu_ns, .periods = BUDGET_PERIODS, .budget = {.is_exhausted = is_exhausted}, .is_in_force = true,
        };
    clock_ns += 500 * MS;
    tuner_update(&tuner, clock_ns, samples);
}

static void detect_one(double hz)
{
    struct scene scene = scene_at(hz);
    add_thread(&scene, 1, 0.1);
    detect(&scene);
}

START_TEST(threads_at_the_picture_rate_and_busy_parts_of_it_are_tuned)
{
    begin(0.6);
    struct scene scene = scene_at(25);
    add_thread(&scene, 1, 0.002); /* presents */
    add_thread(&scene, 1, 0.0005); /* does nothing */
    add_thread(&scene, 3, 0.05);  /* decodes */
    add_thread(&scene, 3, 0.005); /* a timer */
    add_thread(&scene, 0, 0.3);   /* has another rate */
    ck_assert(detect(&scene));
    ck_assert_int_eq(tuner.count, 2);
    ck_assert_int_eq(tuner.threads[0].id, 11);
    ck_assert_int_eq(tuner.threads[0].budget.period_ns, 40 * MS);
    ck_assert_int_eq(tuner.threads[1].id, 13);
    ck_assert_int_eq(tuner.threads[1].budget.period_ns, 120 * MS);
}
END_TEST

START_TEST(first_budget_is_1_3_times_the_use_and_then_follows_it)
{
    begin(0.6);
    detect_one(25);
    ck_assert_int_eq(tuner.threads[0].budget.budget_ns, 5200000);
    ck_assert_double_eq(tuner_granted(&tuner), 0); /* nothing is granted before the first update */
    update(4 * MS, false);
    ck_assert_int_eq(tuner.threads[0].granted_ns, 4400000);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.11, 1e-6);
    update(8 * MS, true);
    ck_assert_int_eq(tuner.threads[0].granted_ns, 8800000);
}
END_TEST

START_TEST(period_that_the_caller_has_set_keeps_the_share)
{
    begin(0.6);
    tuner.period_ns = 20 * MS;
    detect_one(25);
    ck_assert_int_eq(tuner.threads[0].budget.period_ns, 20 * MS);
    ck_assert_int_eq(tuner.threads[0].budget.budget_ns, 2600000);
    detect_one(50); /* a new rate is taken over when it was seen twice */
    detect_one(50);
    ck_assert_double_eq(tuner.threads[0].hz, 50);
    ck_assert_int_eq(tuner.threads[0].budget.period_ns, 20 * MS);
}
END_TEST

START_TEST(thread_leaves_after_two_detections_without_it)
{
    begin(0.6);
    detect_one(25);
    struct scene empty = scene_at(25);
    ck_assert(!detect(&empty));
    ck_assert_int_eq(tuner.count, 1);
    detect_one(25);
    ck_assert(!detect(&empty));
    ck_assert_int_eq(tuner.count, 1); /* not two in a row */
    ck_assert(!detect(&empty));
    ck_assert_int_eq(tuner.count, 0);
}
END_TEST

START_TEST(busy_thread_without_any_rate_stays)
{
    begin(0.6);
    detect_one(25);
    for (int i = 0; i < 3; i++) {
        struct scene behind = scene_at(25);
        add_thread(&behind, 0, 0.2);
        detect(&behind);
    }
    ck_assert_int_eq(tuner.count, 1);
    for (int i = 0; i < 2; i++) {
        struct scene other = scene_at(25);
        add_thread(&other, 0, 0.2);
        other.threads[0].found.verdict = PERIOD_FOUND; /* works at another rate now */
        detect(&other);
    }
    ck_assert_int_eq(tuner.count, 0);
}
END_TEST

START_TEST(thread_that_has_ended_leaves_and_a_new_one_joins)
{
    begin(0.6);
    struct scene scene = scene_at(25);
    add_thread(&scene, 1, 0.1);
    add_thread(&scene, 1, 0.1);
    scene.ids[1] = 0;
    detect(&scene);
    ck_assert_int_eq(tuner.count, 1);
    tuner_remove(&tuner, 11);
    tuner_remove(&tuner, 11);
    ck_assert_int_eq(tuner.count, 0);
    scene.ids[1] = 12;
    detect(&scene);
    ck_assert_int_eq(tuner.count, 2);
}
END_TEST

START_TEST(pause_changes_nothing)
{
    begin(0.6);
    detect_one(25);
    update(4 * MS, false);
    const struct scene pause = {.rate = {.verdict = PERIOD_UNKNOWN}};
    for (int i = 0; i < 3; i++)
        ck_assert(!detect(&pause));
    ck_assert_int_eq(tuner.count, 1);
    ck_assert_int_eq(tuner.threads[0].granted_ns, 4400000);
}
END_TEST

START_TEST(changed_rate_is_followed_when_seen_twice)
{
    begin(0.6);
    detect_one(25);
    update(4 * MS, false);
    detect_one(50);
    ck_assert_int_eq(tuner.threads[0].budget.period_ns, 40 * MS);
    detect_one(50);
    ck_assert_int_eq(tuner.threads[0].budget.period_ns, 20 * MS);
    ck_assert_int_eq(tuner.threads[0].budget.budget_ns, 2200000); /* the share stays */
    const struct scene aperiodic = scene_at(0);
    ck_assert(!detect(&aperiodic));
    ck_assert_int_eq(tuner.count, 1);
    ck_assert(detect(&aperiodic));
    ck_assert_int_eq(tuner.count, 0);
}
END_TEST

START_TEST(sum_stays_within_the_limit)
{
    begin(0.3);
    struct scene scene = scene_at(25);
    for (int i = 0; i < 4; i++)
        add_thread(&scene, 1, 0.1);
    detect(&scene);
    update(10 * MS, true);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.3, 1e-6);
    ck_assert(tuner_is_limited(&tuner));
    update(2 * MS, false);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.22, 1e-6);
    ck_assert(!tuner_is_limited(&tuner));
}
END_TEST

START_TEST(more_threads_than_places_are_left_out)
{
    begin(0.6);
    struct scene scene = scene_at(25);
    for (int i = 0; i < TUNED_THREADS_MAX + 5; i++)
        add_thread(&scene, 1, 0.1);
    detect(&scene);
    ck_assert_int_eq(tuner.count, TUNED_THREADS_MAX);
}
END_TEST

START_TEST(refused_sum_is_lowered_and_tried_again_later)
{
    begin(0.6);
    detect_one(25);
    update(16 * MS, false);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.44, 1e-6);
    tuner_refused(&tuner, clock_ns, 0);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.396, 1e-6);
    tuner_refused(&tuner, clock_ns, 0.38);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.38, 1e-6); /* is in force */
    tuner_refused(&tuner, clock_ns, 0.38);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.342, 1e-6); /* was to be divided otherwise */
    update(16 * MS, false); /* half a second after the refusal */
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.44, 1e-6);
}
END_TEST

static void try_at(int64_t now_s, double running, double waiting)
{
    const struct tuner_starving starving[] = {{.id = 11, .running = running, .waiting = waiting}, {.id = 12, .running = 0.5}};
    tuner_try(&tuner, now_s * 1000 * MS, starving, 2);
}

START_TEST(starving_thread_is_tried_until_its_rate_shows)
{
    begin(0.6);
    try_at(3, 0.2, 0.5);
    ck_assert_int_eq(tuner.count, 1); /* the other one does not wait */
    ck_assert(tuner.threads[0].is_on_trial);
    update(0, true);
    ck_assert_double_eq_tol(tuner_granted(&tuner), 0.6, 1e-6);
    detect_one(25);
    ck_assert_int_eq(tuner.count, 1);
    ck_assert(!tuner.threads[0].is_on_trial);
    ck_assert_int_eq(tuner.threads[0].budget.period_ns, 40 * MS);
    try_at(100, 0.2, 0.5);
    ck_assert_int_eq(tuner.count, 1);
}
END_TEST

/* Thread 12, which decodes ahead, has no rate yet. */
START_TEST(threads_on_trial_keep_their_shares_when_a_rate_is_found)
{
    begin(0.6);
    const struct tuner_starving starving[] = {{.id = 11, .running = 0.05, .waiting = 0.25}, {.id = 12, .running = 0.1, .waiting = 0.5}};
    tuner_try(&tuner, 3000 * MS, starving, 2);
    detect_one(25);
    ck_assert_int_eq(tuner.count, 2);
    ck_assert(!tuner.is_trial);
    for (int i = 0; i < 2; i++) {
        ck_assert(!tuner.threads[i].is_on_trial);
        ck_assert_int_eq(tuner.threads[i].budget.period_ns, 40 * MS);
        ck_assert_int_eq(tuner.threads[i].is_adopted, i == 1);
    }
    ck_assert_int_le(6 * MS - tuner.threads[0].budget.budget_ns, 1); /* three times what it used, but for rounding */
    ck_assert_int_le(12 * MS - tuner.threads[1].budget.budget_ns, 1);
}
END_TEST

START_TEST(trial_gives_more_to_the_thread_whose_budget_runs_out)
{
    const struct tuner_sample samples[] = {{.is_in_force = true}, {.is_in_force = true, .budget = {.is_exhausted = true}}};
    const struct tuner_starving starving[] = {{.id = 11, .running = 0.2, .waiting = 0.5}, {.id = 12, .running = 0.2, .waiting = 0.5}};
    begin(0.6);
    tuner_try(&tuner, 3000 * MS, starving, 2);
    for (int i = 0; i < 4; i++) {
        clock_ns += 500 * MS;
        tuner_update(&tuner, clock_ns, samples);
        ck_assert_double_eq_tol(tuner_granted(&tuner), 0.6, 1e-6);
    }
    ck_assert_int_lt(tuner.threads[0].granted_ns, 7 * MS); /* 0.6 of 27 ms, less a fifth each time */
    ck_assert_int_gt(tuner.threads[1].granted_ns, 9 * MS);
}
END_TEST

/* Thread 11 presents, and thread 12 decodes ahead: it has no rate, and this share of a CPU. */
static void detect_ahead(double share)
{
    struct scene scene = scene_at(25);
    add_thread(&scene, 1, 0.01);
    add_thread(&scene, 0, share);
    detect(&scene);
}

START_TEST(thread_that_starves_beside_a_known_rate_is_tuned_while_it_works)
{
    begin(0.6);
    detect_ahead(0.05);
    ck_assert_int_eq(tuner.count, 1);
    const struct tuner_starving starving = {.id = 12, .running = 0.05, .waiting = 0.6};
    tuner_try(&tuner, clock_ns, &starving, 1);
    tuner_try(&tuner, clock_ns, &starving, 1);
    ck_assert_int_eq(tuner.count, 2);
    ck_assert_int_eq(tuner.threads[1].budget.period_ns, 40 * MS);
    ck_assert_int_eq(tuner.threads[1].budget.budget_ns, 6 * MS);
    for (int i = 0; i < 3; i++)
        detect_ahead(0.05);
    ck_assert_int_eq(tuner.count, 2);
    detect_ahead(0.001);
    detect_ahead(0.001);
    ck_assert_int_eq(tuner.count, 1);
}
END_TEST

START_TEST(thread_that_was_not_seen_at_a_change_follows_later)
{
    begin(0.6);
    detect_ahead(0.05);
    struct scene other = scene_at(50);
    other.ids[0] = 13;
    other.threads[0] = (struct period_thread){.events = jobs.events, .count = jobs.count, .part = 1, .hz = 50, .found = {.cpu_share = 0.2}};
    other.count = 1;
    detect(&other);
    detect(&other); /* thread 11 was missed once */
    struct scene both = scene_at(50);
    add_thread(&both, 1, 0.01);
    detect(&both);
    ck_assert_int_eq(tuner.threads[0].id, 11);
    ck_assert_int_eq(tuner.threads[0].budget.period_ns, 20 * MS);
}
END_TEST

START_TEST(trial_without_a_rate_ends_and_is_repeated_a_minute_later)
{
    begin(0.6);
    const struct scene aperiodic = scene_at(0);
    try_at(3, 0.2, 0.5);
    ck_assert(detect(&aperiodic));
    ck_assert_int_eq(tuner.count, 1);
    try_at(14, 0.9, 0);
    ck_assert_int_eq(tuner.count, 1);
    try_at(15, 0.9, 0);
    ck_assert_int_eq(tuner.count, 0);
    try_at(74, 0.2, 0.5);
    ck_assert_int_eq(tuner.count, 0);
    try_at(75, 0.2, 0.5);
    ck_assert_int_eq(tuner.count, 1);
}
END_TEST

START_TEST(thread_that_does_not_starve_is_not_tried)
{
    begin(0.6);
    try_at(3, 0.9, 0.1);
    try_at(4, 0.005, 0.9);
    ck_assert_int_eq(tuner.count, 0);
}
END_TEST

/* Threads of which those at the rate use this share of a CPU, and another one uses 0.2. */
static bool doubts_after(int64_t observed_ns, double hz, double share, bool does_other_starve, bool is_behind)
{
    struct scene scene = scene_at(hz);
    const bool is_starving[] = {false, does_other_starve};
    add_thread(&scene, 1, share);
    add_thread(&scene, 0, 0.2);
    return tuner_doubts(&tuner, &scene.rate, scene.threads, is_starving, scene.count, is_behind, observed_ns);
}

static bool doubts(double hz, double share, bool does_other_starve)
{
    return doubts_after(4000 * MS, hz, share, does_other_starve, false);
}

START_TEST(rate_of_next_to_nothing_is_doubted)
{
    begin(0.6);
    ck_assert(doubts(20, 0.002, false)); /* a sound server's thread */
    ck_assert(doubts(50, 0.002, true));
    ck_assert(!doubts(25, 0.002, false)); /* the presenter, before the decoders are recognised */
    ck_assert(!doubts(20, 0.15, true));
    ck_assert(!doubts(25, 0.15, true));
    ck_assert(!doubts(0, 0.15, true)); /* not periodic is a verdict */
    ck_assert(doubts_after(2000 * MS, 125, 0.15, false, false));
    ck_assert(!doubts_after(2000 * MS, 50, 0.15, false, false));
    ck_assert(doubts_after(4000 * MS, 125, 0.15, false, true)); /* it catches up */
    ck_assert(!doubts_after(4000 * MS, 125, 0.15, false, false));
    ck_assert(!doubts_after(4000 * MS, 25, 0.15, false, true));
    detect_one(125);
    ck_assert(!doubts_after(4000 * MS, 125, 0.15, false, true)); /* known */
}
END_TEST

START_TEST(period_of_a_trial_is_no_rate)
{
    begin(0.6);
    const struct scene its_own = scene_at(1000.0 / 27), other = scene_at(36);
    ck_assert(!tuner_sees_trial(&tuner, &its_own.rate));
    try_at(3, 0.2, 0.5);
    ck_assert(tuner_sees_trial(&tuner, &its_own.rate));
    ck_assert(!tuner_sees_trial(&tuner, &other.rate));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        threads_at_the_picture_rate_and_busy_parts_of_it_are_tuned,
        first_budget_is_1_3_times_the_use_and_then_follows_it,
        period_that_the_caller_has_set_keeps_the_share,
        thread_leaves_after_two_detections_without_it,
        busy_thread_without_any_rate_stays,
        thread_that_has_ended_leaves_and_a_new_one_joins,
        pause_changes_nothing,
        changed_rate_is_followed_when_seen_twice,
        sum_stays_within_the_limit,
        more_threads_than_places_are_left_out,
        refused_sum_is_lowered_and_tried_again_later,
        starving_thread_is_tried_until_its_rate_shows,
        threads_on_trial_keep_their_shares_when_a_rate_is_found,
        trial_gives_more_to_the_thread_whose_budget_runs_out,
        thread_that_starves_beside_a_known_rate_is_tuned_while_it_works,
        thread_that_was_not_seen_at_a_change_follows_later,
        trial_without_a_rate_ends_and_is_repeated_a_minute_later,
        thread_that_does_not_starve_is_not_tried,
        rate_of_next_to_nothing_is_doubted,
        period_of_a_trial_is_no_rate,
        NULL,
    };
    return suite_run("tuner", SUITE_TIMEOUT_DEFAULT, tests);
}
