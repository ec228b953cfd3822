/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What decoding ahead leaves of a quota, against a model of a control group's bandwidth. */
#include "allowance.h"

#include "ns.h"
#include "suite.h"

#include <check.h>
#include <math.h>

#define MS NS_PER_MS
#define FRAME_NS (40 * MS)
#define PRESENTING_NS MS
#define STEP_NS (MS / 10)
#define QUOTA 0.1675

static void limit(struct allowance *allowance, double quota)
{
    allowance_init(allowance);
    allowance_set_quota(allowance, quota, 0, 0);
}

START_TEST(without_a_quota_there_is_always_some_left)
{
    struct allowance allowance;
    allowance_init(&allowance);
    allowance_renew(&allowance, 0, 0, MS);
    ck_assert(allowance_is_left(&allowance, INT64_MAX));
}
END_TEST

START_TEST(each_picture_renews_what_the_quota_gives_less_what_presenting_takes)
{
    struct allowance allowance;
    limit(&allowance, 0.25);
    ck_assert(allowance_is_left(&allowance, INT64_MAX)); /* before the first picture is presented */
    allowance_renew(&allowance, 0, 0, PRESENTING_NS);
    allowance_renew(&allowance, FRAME_NS, 0, PRESENTING_NS); /* 9.9 ms of 10, less 1 ms */
    ck_assert(allowance_is_left(&allowance, 8 * MS));
    ck_assert(!allowance_is_left(&allowance, 9 * MS));
    allowance_renew(&allowance, 2 * FRAME_NS, 0, PRESENTING_NS); /* nothing was used; all but 1 ms of that is lost */
    ck_assert(allowance_is_left(&allowance, 9 * MS));
    ck_assert(!allowance_is_left(&allowance, 10 * MS));
    allowance_renew(&allowance, 3 * FRAME_NS, 15 * MS, PRESENTING_NS); /* 4.1 ms of 10.9 too much were used */
    ck_assert(allowance_is_left(&allowance, 15 * MS + 4 * MS));
    ck_assert(!allowance_is_left(&allowance, 15 * MS + 5 * MS));
    allowance_renew(&allowance, 6 * FRAME_NS, 25 * MS, PRESENTING_NS); /* three times as long until the next one */
    ck_assert(allowance_is_left(&allowance, 25 * MS + 24 * MS));
    ck_assert(!allowance_is_left(&allowance, 25 * MS + 25 * MS));
    allowance_renew(&allowance, 0, 30 * MS, PRESENTING_NS); /* the time stamps jump back */
    ck_assert(!allowance_is_left(&allowance, 30 * MS));
    allowance_renew(&allowance, 75 * FRAME_NS, 30 * MS, PRESENTING_NS); /* a skip of 3 s to a key picture */
    ck_assert(allowance_is_left(&allowance, 30 * MS + 742 * MS));
    ck_assert(!allowance_is_left(&allowance, 30 * MS + 743 * MS));
    allowance_renew(&allowance, 1075 * FRAME_NS, 773 * MS, PRESENTING_NS); /* a gap earns no more than 10 s do */
    ck_assert(allowance_is_left(&allowance, 773 * MS + 2474 * MS));
    ck_assert(!allowance_is_left(&allowance, 773 * MS + 2475 * MS));
}
END_TEST

START_TEST(what_was_used_while_the_clock_stood_is_not_paid_back)
{
    struct allowance allowance;
    limit(&allowance, 0.25);
    allowance_start(&allowance, 50 * MS);
    ck_assert(allowance_is_left(&allowance, INT64_MAX)); /* no picture is presented yet */
    allowance_renew(&allowance, 0, 0, PRESENTING_NS);
    allowance_start(&allowance, 60 * MS);
    allowance_renew(&allowance, FRAME_NS, 60 * MS, PRESENTING_NS);
    ck_assert(allowance_is_left(&allowance, 60 * MS + 8 * MS));
    ck_assert(!allowance_is_left(&allowance, 60 * MS + 9 * MS));
    allowance_stop(&allowance, 65 * MS); /* 5 of 9.9 ms are used */
    allowance_start(&allowance, 100 * MS);
    ck_assert(allowance_is_left(&allowance, 100 * MS + 3 * MS));
    ck_assert(!allowance_is_left(&allowance, 100 * MS + 4 * MS));
    allowance_renew(&allowance, 2 * FRAME_NS, 100 * MS + 30 * MS, PRESENTING_NS);
    ck_assert(!allowance_is_left(&allowance, 100 * MS + 30 * MS));
    allowance_stop(&allowance, 140 * MS);
    allowance_start(&allowance, 200 * MS); /* the debt of before the pause is forgiven */
    allowance_renew(&allowance, 3 * FRAME_NS, 200 * MS, PRESENTING_NS);
    ck_assert(allowance_is_left(&allowance, 200 * MS + 8 * MS));
    ck_assert(!allowance_is_left(&allowance, 200 * MS + 9 * MS));
}
END_TEST

START_TEST(new_quota_counts_for_the_time_until_the_next_picture)
{
    struct allowance allowance;
    limit(&allowance, 2);
    allowance_renew(&allowance, 0, 0, PRESENTING_NS);
    allowance_renew(&allowance, FRAME_NS, 0, PRESENTING_NS); /* 79.2 ms */
    allowance_set_quota(&allowance, 0.5, 20 * MS, FRAME_NS / 2); /* 9.9 ms in the 20 ms that are left */
    ck_assert(allowance_is_left(&allowance, 20 * MS + 8 * MS));
    ck_assert(!allowance_is_left(&allowance, 20 * MS + 9 * MS));
    allowance_set_quota(&allowance, 1, 30 * MS, FRAME_NS / 4); /* 0.1 ms were too much, and 9.9 ms come */
    ck_assert(allowance_is_left(&allowance, 30 * MS + 8 * MS));
    ck_assert(!allowance_is_left(&allowance, 30 * MS + 9 * MS));
    allowance_renew(&allowance, 2 * FRAME_NS, 39 * MS, PRESENTING_NS); /* 0.8 ms are kept, and 39.6 come */
    ck_assert(allowance_is_left(&allowance, 39 * MS + 39 * MS));
    ck_assert(!allowance_is_left(&allowance, 39 * MS + 40 * MS));
    allowance_set_quota(&allowance, 0.5, 39 * MS, -MS); /* the picture is late */
    ck_assert(!allowance_is_left(&allowance, 39 * MS));
    allowance_renew(&allowance, 77 * FRAME_NS, 39 * MS, PRESENTING_NS);
    allowance_set_quota(&allowance, 0.25, 100 * MS, 3000 * MS); /* a skip of 3 s to a key picture has just begun */
    ck_assert(allowance_is_left(&allowance, 100 * MS + 741 * MS));
    ck_assert(!allowance_is_left(&allowance, 100 * MS + 742 * MS));
}
END_TEST

START_TEST(quota_that_appears_limits_at_once_and_one_that_ends_no_more)
{
    struct allowance allowance;
    allowance_init(&allowance);
    allowance_set_quota(&allowance, 0.25, 0, 0);
    ck_assert(allowance_is_left(&allowance, INT64_MAX)); /* no picture is presented yet */
    allowance_set_quota(&allowance, INFINITY, 0, 0);
    for (int i = 0; i <= 3; i++)
        allowance_renew(&allowance, i * FRAME_NS, 70 * MS * i, PRESENTING_NS);
    allowance_set_quota(&allowance, 0.25, 220 * MS, FRAME_NS); /* what was used before is no debt */
    ck_assert(allowance_is_left(&allowance, 220 * MS + 8 * MS));
    ck_assert(!allowance_is_left(&allowance, 220 * MS + 9 * MS));
    allowance_set_quota(&allowance, INFINITY, 240 * MS, FRAME_NS);
    ck_assert(allowance_is_left(&allowance, INT64_MAX));
}
END_TEST

/* A program that may use 6.7 ms of every 40 ms, decodes ahead, and presents a picture every 40 ms. */
struct model {
    struct allowance allowance;
    bool pauses; /* within a decode */
    int64_t now_ns, used_ns;
    int64_t left_ns;       /* of the quota in this period */
    int64_t decoding_ns;   /* what is left of the decode in progress */
    int64_t presenting_ns; /* and of presenting */
    int decoded, presented, late;
};

/* The quota was twice as large until then, and the allowance learns that it changed 0.3 s later. */
static const int64_t halved_ns = 75 * FRAME_NS, followed_ns = 75 * FRAME_NS + 300 * MS;

static int64_t cost_ns(int picture)
{
    return picture % 50 == 0 ? 16 * MS : picture % 2 ? 5 * MS / 2 : 7 * MS;
}

/* The thread that presents comes first. */
static void run_step(struct model *model, int64_t due_ns)
{
    int64_t *const work_ns = model->presenting_ns > 0 ? &model->presenting_ns : &model->decoding_ns;
    if (model->left_ns <= 0 || *work_ns <= 0)
        return;
    if (work_ns == &model->decoding_ns && model->pauses && !allowance_is_left(&model->allowance, model->used_ns))
        return;
    *work_ns -= STEP_NS;
    model->left_ns -= STEP_NS;
    model->used_ns += STEP_NS;
    if (work_ns != &model->presenting_ns || *work_ns > 0)
        return;
    model->presented++;
    model->late += model->now_ns - due_ns > 3 * MS;
    allowance_renew(&model->allowance, due_ns + FRAME_NS, model->used_ns, PRESENTING_NS);
}

/* Presenting one takes PRESENTING_NS on average. */
static void start_work(struct model *model, int64_t due_ns)
{
    if (model->now_ns >= due_ns && model->presenting_ns <= 0)
        model->presenting_ns = model->presented % 2 ? PRESENTING_NS / 2 : PRESENTING_NS * 3 / 2;
    if (model->decoding_ns <= 0 && allowance_is_left(&model->allowance, model->used_ns))
        model->decoding_ns = cost_ns(model->decoded++);
}

static void begin_period(struct model *model, bool is_large)
{
    model->left_ns = (is_large ? 2 : 1) * 67 * STEP_NS;
}

/* Plays 150 pictures; the quota is halved in the middle. The first picture is due when a period is half over. */
static struct model play_halved(bool follows)
{
    struct model model = {.pauses = true};
    limit(&model.allowance, 2 * QUOTA);
    while (model.presented < 150) {
        const int64_t due_ns = FRAME_NS / 2 + model.presented * FRAME_NS;
        if (model.now_ns % FRAME_NS == 0)
            begin_period(&model, model.now_ns < halved_ns);
        if (model.now_ns == followed_ns && follows)
            allowance_set_quota(&model.allowance, QUOTA, model.used_ns, due_ns - model.now_ns);
        start_work(&model, due_ns);
        run_step(&model, due_ns);
        model.now_ns += STEP_NS;
    }
    return model;
}

START_TEST(after_the_quota_was_halved_pictures_are_late_until_that_is_known)
{
    ck_assert_int_le(play_halved(true).late, 15);
    ck_assert_int_gt(play_halved(false).late, 60);
}
END_TEST

/* Plays 150 pictures that are due this long after the quota's periods begin. */
static struct model play(double quota, bool pauses, int64_t phase_ns)
{
    struct model model = {.pauses = pauses};
    limit(&model.allowance, quota);
    while (model.presented < 150) {
        const int64_t due_ns = phase_ns + model.presented * FRAME_NS;
        if (model.now_ns % FRAME_NS == 0)
            begin_period(&model, false);
        start_work(&model, due_ns);
        run_step(&model, due_ns);
        model.now_ns += STEP_NS;
    }
    return model;
}

START_TEST(pictures_are_in_time_although_decoding_wants_the_whole_quota)
{
    int most_late = 0;
    for (int64_t phase_ns = 0; phase_ns < FRAME_NS; phase_ns += 5 * MS) {
        const struct model model = play(QUOTA, false, phase_ns);
        ck_assert_int_lt(model.late, 45);
        ck_assert_int_gt(model.decoded, 150); /* and it gets ahead */
        const int late = play(INFINITY, false, phase_ns).late;
        most_late = late > most_late ? late : most_late;
    }
    ck_assert_int_gt(most_late, 100);
}
END_TEST

START_TEST(a_decode_that_pauses_delays_no_picture_and_uses_the_quota)
{
    for (int64_t phase_ns = 0; phase_ns < FRAME_NS; phase_ns += 5 * MS) {
        const struct model model = play(QUOTA, true, phase_ns);
        ck_assert_int_le(model.late, 1); /* the first one, before which nothing is limited */
        ck_assert_int_gt(model.used_ns, (int64_t)(0.98 * QUOTA * (double)model.now_ns));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        without_a_quota_there_is_always_some_left,
        each_picture_renews_what_the_quota_gives_less_what_presenting_takes,
        new_quota_counts_for_the_time_until_the_next_picture,
        quota_that_appears_limits_at_once_and_one_that_ends_no_more,
        what_was_used_while_the_clock_stood_is_not_paid_back,
        pictures_are_in_time_although_decoding_wants_the_whole_quota,
        a_decode_that_pauses_delays_no_picture_and_uses_the_quota,
        after_the_quota_was_halved_pictures_are_late_until_that_is_known,
        NULL,
    };
    return suite_run("allowance", SUITE_TIMEOUT_DEFAULT, tests);
}
