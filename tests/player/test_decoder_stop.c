/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decode that is stopped from outside, as at a seek. Not covered: that a seek fires the trigger (tests/input), and the
 * trigger itself (libdlex/tests).
 */
#include "clip.h"
#include "clip_path.h"
#include "decoder.h"

#include <check.h>
#include <dlex/dlex.h>
#include <signal.h>

#include "suite.h"

struct counts {
    int droppable;
    int abandoned;
    int packets;
};

static struct clip clip;
static struct decoder *decoder;
static struct dlex_trigger stop;
static volatile sig_atomic_t no_signal;

/* Left by a jump, polled, and withheld. */
static const char *const names[] = {"progressive_cabac", "mpeg4_small", "av1_svt"};
enum { NAME_COUNT = sizeof(names) / sizeof(*names) };

/* Returns false if the clip cannot be made on this machine. */
static bool open_clip(const char *name)
{
    char path[4096];
    char why[256];
    const int missing = clip_path(path, sizeof path, name);
    ck_assert_int_ge(missing, 0);
    if (missing)
        return false;
    ck_assert_int_eq(clip_open(&clip, path, &no_signal, why, sizeof why), 0);
    ck_assert_int_eq(decoder_open(&decoder, clip.video, why, sizeof why), 0);
    dlex_trigger_reset(&stop);
    return true;
}

static void teardown(void)
{
    decoder_close(&decoder);
    clip_close(&clip);
}

/* Decodes this many packets and says what became of the droppable pictures. */
static struct counts decode(int packets)
{
    struct counts counts = {0};
    AVPacket *packet = av_packet_alloc();
    while (counts.packets < packets && av_read_frame(clip.format, packet) >= 0) {
        if (packet->stream_index == clip.video->index) {
            const struct decode_job job = {
                .packet = packet, .number = counts.packets++, .order = {.deadline_ns = NO_DEADLINE}};
            struct decode_outcome outcome;
            decoder_run(decoder, &job, &outcome);
            counts.droppable += outcome.gate.number == job.number;
            counts.abandoned += outcome.gate.verdict == VERDICT_ABORTED;
        }
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return counts;
}

START_TEST(fired_trigger_abandons_droppable_pictures_only)
{
    if (!open_clip(names[_i]))
        return;
    decoder_stop_by(decoder, &stop);
    dlex_trigger_fire(&stop);
    const struct counts counts = decode(50);
    ck_assert_int_gt(counts.droppable, 5);
    ck_assert_int_eq(counts.abandoned, counts.droppable);
    ck_assert_int_lt(counts.droppable, counts.packets);
}
END_TEST

START_TEST(trigger_that_is_not_fired_changes_nothing)
{
    if (!open_clip(names[_i]))
        return;
    decoder_stop_by(decoder, &stop);
    ck_assert_int_eq(decode(20).abandoned, 0);
    dlex_trigger_fire(&stop);
    ck_assert_int_gt(decode(20).abandoned, 0);
    dlex_trigger_reset(&stop);
    ck_assert_int_eq(decode(20).abandoned, 0);
    dlex_trigger_fire(&stop);
    decoder_stop_by(decoder, NULL);
    ck_assert_int_eq(decode(20).abandoned, 0);
}
END_TEST

int main(void)
{
    TCase *const cases = tcase_create("decoder_stop");
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, NULL, teardown);
    tcase_add_loop_test(cases, fired_trigger_abandons_droppable_pictures_only, 0, NAME_COUNT);
    tcase_add_loop_test(cases, trigger_that_is_not_fired_changes_nothing, 0, NAME_COUNT);
    return suite_run_case("decoder_stop", cases, CK_FORK_GETENV);
}
