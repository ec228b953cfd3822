/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fair scheduler beside other programs, and codec threads that depend on each other. Not covered: how near this is to the kernel
 * and to libavcodec, which docs/whole-machine.md compares.
 */
#include "made_up_film.h"
#include "policy_run.h"

#include <stdlib.h>

#include "suite.h"

enum { PICTURES_MAX = 512 };

static const struct fair_machine beside_8 = {.cpus = 2, .programs = 8, .weight = 1, .slice_ns = 3 * MS, .seed = 1};
static const struct fair_machine idle = {.cpus = 2, .weight = 1, .slice_ns = 3 * MS};

START_TEST(threads_share_the_cpus_fairly)
{
    ck_assert_double_eq(fair_part(&beside_8, 2, false), 2.0 / 10);
    ck_assert_double_eq(fair_part(&beside_8, 8, false), 2.0 / 16);
    ck_assert_double_eq(fair_part(&beside_8, 2, true), 1.0 / 10); /* the presenter has the other CPU */
    ck_assert_double_eq(fair_part(&beside_8, 0, false), 0);
    ck_assert_double_eq(fair_part(&idle, 1, false), 1);
    ck_assert_double_eq(fair_part(&idle, 4, false), 0.5);
}
END_TEST

START_TEST(nice_threads_weigh_less_and_none_has_more_than_a_cpu)
{
    struct fair_machine machine = beside_8;
    ck_assert_double_eq(fair_weight(0), 1);
    machine.weight = fair_weight(5); /* 0.328 */
    ck_assert_double_eq_tol(fair_part(&machine, 2, false), 2 * 0.328 / (2 * 0.328 + 8), 0.001);
    machine.weight = fair_weight(-20);
    ck_assert_double_eq(fair_part(&machine, 1, false), 1);
}
END_TEST

START_TEST(thread_that_slept_waits_a_round_at_most)
{
    const int64_t round_ns = 3 * MS * (8 + 2) / 2;
    int64_t sum_ns = 0;
    for (uint64_t what = 0; what < 1000; what++) {
        const int64_t wait_ns = fair_wait_ns(&beside_8, 2, what);
        ck_assert(wait_ns >= 0 && wait_ns < round_ns);
        ck_assert_int_eq(fair_wait_ns(&beside_8, 2, what), wait_ns);
        sum_ns += wait_ns;
    }
    ck_assert_int_le(llabs(sum_ns / 1000 - round_ns / 2), MS);
    ck_assert_int_eq(fair_wait_ns(&idle, 1, 1), 0);
}
END_TEST

static struct codec_job job(int packet, int reference, int64_t cost_ns)
{
    return (struct codec_job){
        .packet = packet, .reference = reference, .is_droppable = reference < 0, .cost_ns = cost_ns, .deadline_ns = INT64_MAX};
}

/* Runs until the first job has ended, and returns when that was. */
static int64_t first_ends_ns(struct codec_work *work, double ahead, int64_t from_ns)
{
    const struct codec_order order = {ahead};
    int64_t now_ns = from_ns;
    while (!codec_work_first_ended(work))
        codec_work_run(work, &order, &idle, false, &now_ns, INT64_MAX);
    return now_ns;
}

START_TEST(pictures_that_depend_on_nothing_are_decoded_at_once)
{
    struct codec_work work = {.count = 0};
    for (int packet = 0; packet < 4; packet++) {
        const struct codec_job added = job(packet, -1, 10 * MS);
        codec_work_add(&work, &added);
    }
    ck_assert_int_eq(first_ends_ns(&work, 1, 0), 20 * MS); /* four on two CPUs */
    for (int packet = 0; packet < 4; packet++) {
        ck_assert(codec_work_first_ended(&work));
        ck_assert_int_eq(codec_work_take(&work).packet, packet);
    }
    ck_assert_int_eq(work.count, 0);
    ck_assert_int_eq(work.received_ns, 40 * MS);
}
END_TEST

/* Returns when the second of two pictures ends, where it refers to the first. */
static int64_t second_ends_ns(double ahead)
{
    struct codec_work work = {.count = 0};
    const struct codec_job jobs[] = {job(0, -1, 12 * MS), job(1, 0, 12 * MS)};
    codec_work_add(&work, &jobs[0]);
    codec_work_add(&work, &jobs[1]);
    const int64_t at_ns = first_ends_ns(&work, ahead, 0);
    ck_assert_int_eq(at_ns, 12 * MS);
    codec_work_take(&work);
    return first_ends_ns(&work, ahead, at_ns);
}

START_TEST(picture_waits_for_the_rows_of_its_reference)
{
    ck_assert_int_eq(second_ends_ns(0), 13 * MS);   /* a twelfth behind */
    ck_assert_int_eq(second_ends_ns(0.5), 19 * MS); /* and half a picture */
    ck_assert_int_eq(second_ends_ns(1), 24 * MS);
}
END_TEST

START_TEST(deadline_ends_droppable_pictures_only)
{
    struct codec_work work = {.count = 0};
    struct codec_job droppable = job(1, -1, 10 * MS);
    struct codec_job needed = job(0, -1, 10 * MS);
    droppable.deadline_ns = needed.deadline_ns = 4 * MS;
    needed.is_droppable = false;
    codec_work_add(&work, &needed);
    codec_work_add(&work, &droppable);
    ck_assert_int_eq(first_ends_ns(&work, 0, 0), 10 * MS);
    ck_assert(!codec_work_take(&work).is_aborted);
    const struct codec_job aborted = codec_work_take(&work);
    ck_assert(aborted.is_aborted);
    ck_assert_int_eq(aborted.done_ns, 4 * MS);
    ck_assert_int_eq(aborted.end_ns, 4 * MS);
}
END_TEST

/* -- a player on a whole machine ------------------------------------------------------------------------------------ */

static struct frame_record rows[PICTURES_MAX];

static struct policy_outcome play(const char *types, int64_t cost_ns, int threads, const struct fair_machine *machine,
                                  enum drop_policy drop)
{
    struct made_up_film made;
    const struct cpu_supply none = {.kind = SUPPLY_PART};
    made_up_film_init(&made, types, cost_ns);
    struct playing_setting setting = made_up_setting(&made, &none);
    setting.policy = (struct policy_settings){.drop = drop, .rule = RULE_PLAN, .base_ns = -1, .gain = -1};
    setting.queue = 8;
    setting.machine = *machine;
    setting.threads = threads;
    const struct policy_outcome outcome = policy_run(&setting, rows);
    made_up_film_finish(&made);
    return outcome;
}

START_TEST(every_picture_is_shown_in_time_where_there_are_cpus)
{
    for (int threads = 1; threads <= CODEC_WORK_MAX; threads++) {
        const struct policy_outcome outcome = play(made_up_groups(6, 12), 20 * MS, threads, &idle, DROP_DEADLINE);
        ck_assert_int_eq(outcome.tally.shown, 150);
        for (int place = 20; place < 150; place++)
            ck_assert_int_le(rows[place].skew_ns, 3 * MS / 2 * threads + 2 * MS);
    }
}
END_TEST

/* Beside 8 programs one thread gets 0.22 of a CPU, and decoding wants 0.3. */
START_TEST(more_threads_get_more_of_a_busy_machine)
{
    const char *const types = made_up_groups(6, 12);
    const int one = play(types, 12 * MS, 1, &beside_8, DROP_DEADLINE).tally.shown;
    const int two = play(types, 12 * MS, 2, &beside_8, DROP_DEADLINE).tally.shown;
    ck_assert_int_lt(one, 120);
    ck_assert_int_gt(two, one + 20);
    ck_assert_int_eq(play(types, 12 * MS, 4, &beside_8, DROP_DEADLINE).tally.shown, 150);
}
END_TEST

START_TEST(without_a_policy_codec_threads_fall_behind_too)
{
    ck_assert_int_eq(play(made_up_groups(6, 12), 30 * MS, 2, &beside_8, DROP_NONE).tally.shown, 150);
    ck_assert_int_gt(rows[149].skew_ns, 1000 * MS);
}
END_TEST

/* The plan learns what all threads receive together, and what each picture costs. */
START_TEST(plan_with_codec_threads_gives_up_what_it_must)
{
    const struct policy_outcome outcome = play(made_up_groups(6, 12), 25 * MS, 4, &beside_8, DROP_DEADLINE);
    ck_assert_int_eq(outcome.tally.late, 0);
    ck_assert_int_gt(outcome.tally.skipped, 10);
    ck_assert_int_lt(outcome.tally.skipped, 75);
    ck_assert_double_lt(prediction_mape(&outcome.prediction), 0.01);
    for (int place = 20; place < 150; place++)
        if (rows[place].verdict == VERDICT_SHOWN)
            ck_assert_int_le(rows[place].skew_ns, 60 * MS);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        threads_share_the_cpus_fairly,
        nice_threads_weigh_less_and_none_has_more_than_a_cpu,
        thread_that_slept_waits_a_round_at_most,
        pictures_that_depend_on_nothing_are_decoded_at_once,
        picture_waits_for_the_rows_of_its_reference,
        deadline_ends_droppable_pictures_only,
        every_picture_is_shown_in_time_where_there_are_cpus,
        more_threads_get_more_of_a_busy_machine,
        without_a_policy_codec_threads_fall_behind_too,
        plan_with_codec_threads_gives_up_what_it_must,
        NULL,
    };
    return suite_run("whole_machine", 60, tests);
}
