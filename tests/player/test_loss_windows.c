/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of pictures: their texts, and how violations are counted. Not covered: run.json, which has them (tests/input), and the
 * plan that keeps them (test_window_plan.c).
 */
#include "loss_windows.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

START_TEST(window_is_two_numbers)
{
    static const struct {
        const char *text;
        struct window window;
    } cases[] = {{"1/5", {1, 5}}, {"0/1", {0, 1}}, {"5/5", {5, 5}}, {"100/100", {100, 100}}, {"01/010", {1, 10}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct window window = {0};
        ck_assert_msg(window_parse(&window, cases[i].text) == 0, "%s", cases[i].text);
        ck_assert_int_eq(window.x, cases[i].window.x);
        ck_assert_int_eq(window.y, cases[i].window.y);
    }
}
END_TEST

START_TEST(text_that_is_no_window_is_refused)
{
    static const char *const texts[] = {"", "/", "1", "1/", "/5", "0/0", "5/3", "-1/2", "1/-2", "+1/2", " 1/5", "1 /5", "1/5 ", "1/5x", "1/2/3",
                                        "a/b", "1.0/5", "0x1/5", "1/101", "1/1000", "0001/5", "1/0005", "1/99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct window window = {3, 7};
        ck_assert_msg(window_parse(&window, texts[i]) == -EINVAL, "'%s' was taken", texts[i]);
        ck_assert(window.x == 3 && window.y == 7);
    }
}
END_TEST

/* Each letter is a picture: S shown, a s l u lost for different reasons, - not of the played part. */
static struct loss_windows count(struct window window, const char *letters)
{
    static const char known[] = "-Saslu";
    static const enum verdict verdicts[] = {VERDICT_NONE,    VERDICT_SHOWN, VERDICT_ABORTED,
                                            VERDICT_SKIPPED, VERDICT_LATE,  VERDICT_UNSEEN};
    struct frame_record rows[64];
    const int64_t length = (int64_t)strlen(letters);
    for (int64_t i = 0; i < length; i++) {
        rows[i] = frame_record_empty();
        rows[i].verdict = verdicts[strchr(known, letters[i]) - known];
    }
    return loss_windows_of(&window, rows, length);
}

static void expect(struct window window, const char *letters, int sliding, int aligned)
{
    const struct loss_windows windows = count(window, letters);
    ck_assert_msg(windows.violations_sliding == sliding && windows.violations_aligned == aligned, "%d/%d %s: %d and %d", window.x,
                  window.y, letters, (int)windows.violations_sliding, (int)windows.violations_aligned);
}

START_TEST(lost_picture_is_a_violation_if_too_many_before_it_were_lost)
{
    expect((struct window){1, 3}, "SaSSaSSaSS", 0, 0);
    expect((struct window){1, 3}, "SaSaSSSSSS", 1, 0); /* two of the pictures 1 to 3; one of 0 to 2, and one of 3 to 5 */
    expect((struct window){1, 3}, "SaaSSSSSSS", 1, 1);
    expect((struct window){1, 3}, "aaaaaaSSSS", 5, 4);
    expect((struct window){2, 3}, "aaaaaaSSSS", 4, 2);
    expect((struct window){0, 3}, "SaSSSSSSaS", 2, 2);
    expect((struct window){3, 3}, "aaaaaaaaaa", 0, 0);
    expect((struct window){1, 1}, "aaaaaaaaaa", 0, 0);
}
END_TEST

START_TEST(two_aligned_windows_may_have_their_losses_side_by_side)
{
    expect((struct window){1, 4}, "SSSaaSSS", 1, 0);
    expect((struct window){2, 4}, "SSaaaaSS", 2, 0);
}
END_TEST

START_TEST(every_kind_of_loss_counts_and_rows_outside_the_part_do_not)
{
    expect((struct window){0, 2}, "aSsSlSu", 4, 4);
    expect((struct window){1, 2}, "a-a-S--s", 1, 1);
}
END_TEST

START_TEST(nothing_is_counted_where_no_window_was_asked_for)
{
    expect((struct window){0, 0}, "aaaaaa", 0, 0);
}
END_TEST

/* Looks at each window as it is defined. */
static bool keeps_by_definition(const struct window *window, const bool *lost, int count, int step)
{
    for (int begin = 0; begin < count; begin += step) {
        int in_window = 0;
        for (int i = begin; i < begin + window->y && i < count; i++)
            in_window += lost[i];
        if (in_window > window->x)
            return false;
    }
    return true;
}

START_TEST(windows_are_kept_where_no_violation_is_counted)
{
    enum { PICTURES = 40, FILMS = 20000 };
    int kept = 0, kept_aligned_only = 0;
    srand(16);
    for (int film = 0; film < FILMS; film++) {
        const int y = 1 + rand() % 8;
        const struct window window = {rand() % (y + 1), y};
        const int part = 1 + rand() % 100;
        bool lost[PICTURES];
        struct loss_windows windows;
        loss_windows_begin(&windows, &window);
        for (int i = 0; i < PICTURES; i++) {
            lost[i] = rand() % 100 < part;
            loss_windows_add(&windows, lost[i]);
        }
        ck_assert_int_eq(windows.violations_sliding == 0, keeps_by_definition(&window, lost, PICTURES, 1));
        ck_assert_int_eq(windows.violations_aligned == 0, keeps_by_definition(&window, lost, PICTURES, y));
        ck_assert_int_ge(windows.violations_sliding, windows.violations_aligned);
        kept += windows.violations_sliding == 0;
        kept_aligned_only += windows.violations_sliding > 0 && windows.violations_aligned == 0;
    }
    ck_assert_int_gt(kept, FILMS / 10);
    ck_assert_int_lt(kept, FILMS * 9 / 10);
    ck_assert_int_gt(kept_aligned_only, FILMS / 100);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        window_is_two_numbers,
        text_that_is_no_window_is_refused,
        lost_picture_is_a_violation_if_too_many_before_it_were_lost,
        two_aligned_windows_may_have_their_losses_side_by_side,
        every_kind_of_loss_counts_and_rows_outside_the_part_do_not,
        nothing_is_counted_where_no_window_was_asked_for,
        windows_are_kept_where_no_violation_is_counted,
        NULL,
    };
    return suite_run("loss_windows", SUITE_TIMEOUT_DEFAULT, tests);
}
