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

START_TEST(without_a_quota_there_is_always_some_left)
{
    struct allowance allowance;
    allowance_init(&allowance, INFINITY);
    allowance_renew(&allowance, 0, 0, MS);
    ck_assert(allowance_is_left(&allowance, INT64_MAX));
}
END_TEST

START_TEST(each_picture_renews_what_the_quota_gives_less_what_presenting_takes)
{
    struct allowance allowance;
    allowance_init(&allowance, 0.25);
    ck_assert(allowance_is_left(&allowance, INT64_MAX)); /* before the first picture is presented */
    allowance_renew(&allowance, 0, 0, PRESENTING_NS);
    allowance_renew(&allowance, FRAME_NS, 0, PRESENTING_NS); /* 9.9 ms of 10, less 1 ms */
    ck_assert(allowance_is_left(&allowance, 8 * MS));
    ck_assert(!allowance_is_left(&allowance, 9 * MS));
    allowance_renew(&allowance, 2 * FRAME_NS, 0, PRESENTING_NS); /* nothing was used, and that is lost */
    ck_assert(!allowance_is_left(&allowance, 9 * MS));
    allowance_renew(&allowance, 3 * FRAME_NS, 14 * MS, PRESENTING_NS); /* 4.1 ms too much were used */
    ck_assert(allowance_is_left(&allowance, 14 * MS + 2 * MS));
    ck_assert(!allowance_is_left(&allowance, 14 * MS + 5 * MS));
    allowance_renew(&allowance, 6 * FRAME_NS, 24 * MS, PRESENTING_NS); /* three times as long until the next one */
    ck_assert(allowance_is_left(&allowance, 24 * MS + 22 * MS));
    ck_assert(!allowance_is_left(&allowance, 24 * MS + 29 * MS));
    allowance_renew(&allowance, 0, 30 * MS, PRESENTING_NS); /* the time stamps jump back */
    ck_assert(!allowance_is_left(&allowance, 30 * MS));
    allowance_renew(&allowance, 1000 * FRAME_NS, 30 * MS, PRESENTING_NS); /* a gap earns no more than a second does */
    ck_assert(!allowance_is_left(&allowance, 30 * MS + 247 * MS));
}
END_TEST

/* A program that may use 6.7 ms of every 40 ms, decodes ahead, and presents a picture every 40 ms. */
struct model {
    struct allowance allowance;
    int64_t now_ns, used_ns;
    int64_t left_ns;       /* of the quota in this period */
    int64_t decoding_ns;   /* what is left of the decode in progress */
    int64_t presenting_ns; /* and of presenting */
    int decoded, presented, late;
};

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
    *work_ns -= STEP_NS;
    model->left_ns -= STEP_NS;
    model->used_ns += STEP_NS;
    if (work_ns != &model->presenting_ns || *work_ns > 0)
        return;
    model->presented++;
    model->late += model->now_ns - due_ns > 3 * MS;
    allowance_renew(&model->allowance, due_ns + FRAME_NS, model->used_ns, PRESENTING_NS);
}

/* Returns how many of 150 pictures are presented late if they are due this long after the quota's periods begin. */
static int late_pictures(double quota, int64_t phase_ns)
{
    struct model model = {0};
    allowance_init(&model.allowance, quota);
    while (model.presented < 150) {
        const int64_t due_ns = phase_ns + model.presented * FRAME_NS;
        if (model.now_ns % FRAME_NS == 0)
            model.left_ns = 67 * STEP_NS;
        if (model.now_ns >= due_ns && model.presenting_ns <= 0)
            model.presenting_ns = PRESENTING_NS;
        if (model.decoding_ns <= 0 && allowance_is_left(&model.allowance, model.used_ns))
            model.decoding_ns = cost_ns(model.decoded++);
        run_step(&model, due_ns);
        model.now_ns += STEP_NS;
    }
    ck_assert_int_gt(model.decoded, 150); /* and it gets ahead */
    return model.late;
}

START_TEST(pictures_are_in_time_although_decoding_wants_the_whole_quota)
{
    int most_late = 0;
    for (int64_t phase_ns = 0; phase_ns < FRAME_NS; phase_ns += 5 * MS) {
        ck_assert_int_lt(late_pictures(0.1675, phase_ns), 36);
        const int late = late_pictures(INFINITY, phase_ns);
        most_late = late > most_late ? late : most_late;
    }
    ck_assert_int_gt(most_late, 100);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        without_a_quota_there_is_always_some_left,
        each_picture_renews_what_the_quota_gives_less_what_presenting_takes,
        pictures_are_in_time_although_decoding_wants_the_whole_quota,
        NULL,
    };
    return suite_run("allowance", SUITE_TIMEOUT_DEFAULT, tests);
}
