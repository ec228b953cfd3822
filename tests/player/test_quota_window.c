/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What decoding ahead leaves of a quota, against a model of a control group's bandwidth. */
#include "quota_window.h"

#include "ns.h"
#include "suite.h"

#include <check.h>
#include <stdbool.h>

#define MS NS_PER_MS
#define STEP_NS (MS / 10)
#define LOOK_NS MS
enum { PICTURES = 400 };

static const struct quota_presenting presenting = {.next_due_ns = 0, .frame_duration_ns = 400 * MS, .cpu_ns = MS};

START_TEST(decoding_is_free_until_a_halt_was_seen)
{
    struct quota_window window;
    quota_window_init(&window, 10 * MS, 40 * MS);
    ck_assert_int_eq(quota_window_pause_ns(&window, 0, 100 * MS, &presenting), 0);
    quota_window_begin(&window, 0, 100 * MS);
    ck_assert_int_eq(quota_window_pause_ns(&window, 9 * MS, 108 * MS, &presenting), 0);
    ck_assert_int_eq(quota_window_pause_ns(&window, 9 * MS, 109 * MS, &presenting), 40 * MS);
    const struct quota_presenting nothing = {.frame_duration_ns = 1};
    ck_assert_int_eq(quota_window_pause_ns(&window, 9 * MS, 109 * MS, &nothing), 0);
    quota_window_init(&window, 0, 0); /* no quota */
    quota_window_begin(&window, 0, 100 * MS);
    ck_assert_int_eq(quota_window_pause_ns(&window, 9 * MS, 1000 * MS, &presenting), 0);
}
END_TEST

START_TEST(periods_follow_each_other)
{
    struct quota_window window;
    quota_window_init(&window, 10 * MS, 40 * MS);
    quota_window_begin(&window, 5 * MS, 0);
    ck_assert_int_eq(quota_window_pause_ns(&window, 20 * MS, 10 * MS, &presenting), 45 * MS);
    ck_assert_int_eq(quota_window_pause_ns(&window, 45 * MS, 10 * MS, &presenting), 0);
    ck_assert_int_eq(quota_window_pause_ns(&window, 60 * MS, 20 * MS, &presenting), 85 * MS);
    /* What was used since this period began is not known: 3 ms at most. */
    ck_assert_int_eq(quota_window_pause_ns(&window, 128 * MS, 30 * MS, &presenting), 0);
    ck_assert_int_eq(quota_window_pause_ns(&window, 133 * MS, 36 * MS, &presenting), 165 * MS);
}
END_TEST

START_TEST(decoding_has_half_of_the_quota_whatever_presenting_takes)
{
    struct quota_window window;
    const struct quota_presenting costly = {.next_due_ns = 0, .frame_duration_ns = MS, .cpu_ns = MS};
    quota_window_init(&window, 10 * MS, 40 * MS);
    quota_window_begin(&window, 0, 0);
    ck_assert_int_eq(quota_window_pause_ns(&window, 4 * MS, 4 * MS, &costly), 0);
    ck_assert_int_eq(quota_window_pause_ns(&window, 5 * MS, 5 * MS, &costly), 40 * MS);
}
END_TEST

/* A program that decodes ahead as fast as it can, and presents a picture at each frame. */
struct model {
    struct quota_window window;
    struct quota_presenting presenting;
    bool gives_way;
    int64_t now_ns, used_ns;
    int64_t left_ns;       /* of the quota in this period */
    int64_t pause_ns;      /* decoding pauses until then */
    int64_t look_ns;       /* when it looks again */
    int64_t presenting_ns; /* what is left of presenting a picture */
    int64_t decoded_ns;
    int presented, late;
};

/* The kernel's halt ends where a period begins; the program looks at once. */
static void refill(struct model *model, int64_t quota_ns)
{
    if (model->left_ns <= 0) {
        quota_window_begin(&model->window, model->now_ns, model->used_ns);
        model->look_ns = model->now_ns;
    }
    model->left_ns = quota_ns;
}

static void look(struct model *model)
{
    if (model->now_ns < model->look_ns || model->now_ns < model->pause_ns || !model->gives_way)
        return;
    model->pause_ns = quota_window_pause_ns(&model->window, model->now_ns, model->used_ns, &model->presenting);
    model->look_ns = model->now_ns + LOOK_NS;
}

/* One CPU; the thread that presents comes first. */
static void run_step(struct model *model, int64_t due_ns)
{
    const bool presents = model->presenting_ns > 0;
    if (model->left_ns <= 0 || (!presents && model->now_ns < model->pause_ns))
        return;
    *(presents ? &model->presenting_ns : &model->decoded_ns) += presents ? -STEP_NS : STEP_NS;
    model->left_ns -= STEP_NS;
    model->used_ns += STEP_NS;
    if (!presents || model->presenting_ns > 0)
        return;
    model->presented++;
    model->presenting.next_due_ns = due_ns + model->presenting.frame_duration_ns;
    model->late += model->now_ns - due_ns > 2 * MS;
    model->pause_ns = 0; /* it looks again */
    model->look_ns = model->now_ns;
}

struct case_of_quota {
    int64_t quota_ms, period_ms, frame_ms;
};

static struct model played(const struct case_of_quota *of, int64_t phase_ns, bool gives_way)
{
    struct model model = {.gives_way = gives_way, .presenting = {phase_ns, of->frame_ms * MS, MS}};
    quota_window_init(&model.window, of->quota_ms * MS, of->period_ms * MS);
    while (model.presented < PICTURES) {
        const int64_t due_ns = phase_ns + model.presented * of->frame_ms * MS;
        if (model.now_ns % (of->period_ms * MS) == 0)
            refill(&model, of->quota_ms * MS);
        if (model.now_ns >= due_ns && model.presenting_ns <= 0)
            model.presenting_ns = MS;
        look(&model);
        run_step(&model, due_ns);
        model.now_ns += STEP_NS;
    }
    return model;
}

static void expect_in_time(const struct case_of_quota *of)
{
    int most_late = 0;
    for (int64_t phase_ns = 0; phase_ns < of->period_ms * MS; phase_ns += 3 * MS) {
        const struct model free = played(of, phase_ns, false), giving = played(of, phase_ns, true);
        ck_assert_int_le(giving.late, PICTURES / 100);
        ck_assert_int_ge(giving.decoded_ns, free.decoded_ns * 98 / 100);
        most_late = free.late > most_late ? free.late : most_late;
    }
    ck_assert_int_gt(most_late, PICTURES / 4);
}

START_TEST(pictures_are_in_time_and_the_quota_is_used)
{
    static const struct case_of_quota cases[] = {{7, 40, 40}, {20, 100, 40}, {50, 100, 16}, {10, 20, 42}, {4, 10, 33}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_in_time(&cases[i]);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        decoding_is_free_until_a_halt_was_seen,
        periods_follow_each_other,
        decoding_has_half_of_the_quota_whatever_presenting_takes,
        pictures_are_in_time_and_the_quota_is_used,
        NULL,
    };
    return suite_run("quota_window", SUITE_TIMEOUT_DEFAULT, tests);
}
