/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the processes of the example graphs do with pictures. Not covered: whether the colour classes suit any football field. */
#include "picture_work.h"

#include <string.h>

#include "suite.h"

enum { WIDTH = 8, HEIGHT = 4, SAMPLES = WIDTH * HEIGHT / 4 };

START_TEST(colours_are_classified_in_the_rows_of_a_part)
{
    static const uint8_t bright[WIDTH * HEIGHT] = {[0 ... WIDTH * HEIGHT - 1] = 200};
    static const uint8_t dark[WIDTH * HEIGHT] = {[0 ... WIDTH * HEIGHT - 1] = 10};
    /* neutral, orange, blue, yellow; the second row is neutral */
    static const uint8_t cb[SAMPLES] = {128, 90, 180, 30, 128, 128, 128, 128};
    static const uint8_t cr[SAMPLES] = {128, 180, 100, 140, 128, 128, 128, 128};
    static const uint8_t of_colours[] = {OBJECT_LINES, OBJECT_BALL, OBJECT_BLUE_GOAL, OBJECT_YELLOW_GOAL};
    struct picture_planes planes = {WIDTH, HEIGHT, bright, cb, cr};
    uint8_t classes[SAMPLES];
    memset(classes, 99, sizeof classes);
    picture_classify(&planes, 0, 1, classes);
    ck_assert_mem_eq(classes, of_colours, sizeof of_colours);
    for (int i = 4; i < SAMPLES; i++)
        ck_assert_int_eq(classes[i], 99);
    planes.y = dark;
    picture_classify(&planes, 1, 2, classes);
    for (int i = 4; i < SAMPLES; i++)
        ck_assert_int_eq(classes[i], OBJECT_OBSTACLES);
}
END_TEST

START_TEST(object_is_found_where_its_class_is)
{
    uint8_t classes[5 * 4];
    memset(classes, CLASS_NOTHING, sizeof classes);
    classes[1 * 5 + 2] = classes[1 * 5 + 4] = classes[3 * 5 + 3] = OBJECT_BALL;
    const struct picture_blob ball = picture_track(classes, 5, 4, OBJECT_BALL);
    ck_assert_int_eq(ball.samples, 3);
    ck_assert_double_eq_tol(ball.x, 3, 1e-12);
    ck_assert_double_eq_tol(ball.y, 5 / 3.0, 1e-12);
    ck_assert_int_eq(ball.left, 2);
    ck_assert_int_eq(ball.right, 4);
    ck_assert_int_eq(ball.top, 1);
    ck_assert_int_eq(ball.bottom, 3);
    ck_assert_int_eq(picture_track(classes, 5, 4, OBJECT_LINES).samples, 0);
}
END_TEST

START_TEST(blur_is_the_mean_of_nine_and_keeps_the_border)
{
    uint8_t from[4 * 4] = {0}, to[4 * 4];
    from[1 * 4 + 1] = 90;
    from[0] = 7;
    picture_blur(from, 4, 4, to);
    ck_assert_int_eq(to[1 * 4 + 1], 11); /* (97 + 4) / 9 */
    ck_assert_int_eq(to[2 * 4 + 2], 10);
    ck_assert_int_eq(to[0], 7);
    for (int i = 12; i < 16; i++)
        ck_assert_int_eq(to[i], from[i]);
}
END_TEST

START_TEST(halved_samples_are_means)
{
    static const uint8_t from[2 * 4] = {0, 10, 255, 255, 20, 30, 255, 254};
    uint8_t to[2];
    picture_halve(from, 4, 2, to);
    ck_assert_int_eq(to[0], 15);
    ck_assert_int_eq(to[1], 255);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        colours_are_classified_in_the_rows_of_a_part,
        object_is_found_where_its_class_is,
        blur_is_the_mean_of_nine_and_keeps_the_border,
        halved_samples_are_means,
        NULL,
    };
    return suite_run("picture_work", SUITE_TIMEOUT_DEFAULT, tests);
}
