/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures withheld from the decoder, and when they come out. Not covered: the decoder (test_decoder_threads.c). */
#include "withheld.h"

#include <check.h>

#include "suite.h"

static struct withheld withheld;

static void add(int64_t number)
{
    AVPacket *packet = av_packet_alloc();
    packet->pts = 1000 * number;
    packet->duration = 40;
    withheld_add(&withheld, packet, number);
    av_packet_free(&packet);
}

static int64_t take(void)
{
    AVFrame *frame = av_frame_alloc();
    const int64_t number = withheld_take(&withheld, frame);
    ck_assert_int_eq(frame->pts, 1000 * number);
    ck_assert_int_eq(frame->best_effort_timestamp, frame->pts);
    ck_assert_int_eq(frame->duration, 40);
    ck_assert(frame->flags & AV_FRAME_FLAG_DROPPABLE && frame->flags & AV_FRAME_FLAG_ABANDONED);
    ck_assert_ptr_null(frame->buf[0]);
    av_frame_free(&frame);
    return number;
}

START_TEST(picture_comes_before_those_of_later_jobs)
{
    ck_assert(!withheld_comes_before(&withheld, INT64_MAX));
    add(5);
    add(7);
    ck_assert(!withheld_comes_before(&withheld, -1));
    ck_assert(!withheld_comes_before(&withheld, 4));
    ck_assert(withheld_comes_before(&withheld, 6));
    ck_assert_int_eq(take(), 5);
    ck_assert(!withheld_comes_before(&withheld, 6));
    ck_assert(withheld_comes_before(&withheld, INT64_MAX));
    ck_assert_int_eq(take(), 7);
    ck_assert(!withheld_comes_before(&withheld, INT64_MAX));
}
END_TEST

START_TEST(many_in_a_row_come_out_in_order)
{
    withheld_clear(&withheld);
    add(0);
    take();
    for (int i = 1; i <= WITHHELD_MAX; i++) {
        ck_assert(!withheld_is_full(&withheld));
        add(i);
    }
    ck_assert(withheld_is_full(&withheld));
    for (int i = 1; i <= WITHHELD_MAX; i++)
        ck_assert_int_eq(take(), i);
    ck_assert(!withheld_comes_before(&withheld, INT64_MAX));
}
END_TEST

START_TEST(seek_forgets_them)
{
    add(1);
    withheld_clear(&withheld);
    ck_assert(!withheld_comes_before(&withheld, INT64_MAX));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        picture_comes_before_those_of_later_jobs,
        many_in_a_row_come_out_in_order,
        seek_forgets_them,
        NULL,
    };
    return suite_run("withheld", SUITE_TIMEOUT_DEFAULT, tests);
}
