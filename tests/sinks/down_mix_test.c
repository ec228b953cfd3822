/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How channels are mixed to two loudspeakers. Not covered: what is heard (test_sound_of_files.py). */
#include <check.h>
#include <libavutil/mem.h>
#include <math.h>
#include <stdbool.h>

#include "down_mix.h"
#include "suite.h"

static struct down_mix mix;

static void make(const AVChannelLayout *layout)
{
    down_mix_make(&mix, layout);
}

static void make_named(const char *name)
{
    AVChannelLayout layout = {0};
    ck_assert_int_eq(av_channel_layout_from_string(&layout, name), 0);
    make(&layout);
    av_channel_layout_uninit(&layout);
}

static void make_unnamed(int channels)
{
    make(&(AVChannelLayout){.order = AV_CHANNEL_ORDER_UNSPEC, .nb_channels = channels});
}

static void expect(int channel, double left, double right)
{
    ck_assert_double_eq_tol(mix.level[LEFT][channel], left, 0.0005);
    ck_assert_double_eq_tol(mix.level[RIGHT][channel], right, 0.0005);
}

static double sum(const double *level)
{
    double all = 0;
    for (int i = 0; i < DOWN_MIX_CHANNELS_MAX; i++)
        all += fabs(level[i]);
    return all;
}

/* The loudest possible sound just fits. */
static void expect_full_scale(void)
{
    ck_assert_double_eq_tol(fmax(sum(mix.level[LEFT]), sum(mix.level[RIGHT])), 1, 1e-9);
}

START_TEST(mono_and_stereo_keep_their_level)
{
    for (int i = 0; i < 2; i++) {
        make_named(i ? "mono" : "FL");
        expect(0, 1, 1);
    }
    make_unnamed(1);
    expect(0, 1, 1);
    const char *const stereo[] = {"stereo", "downmix"};
    for (int i = 0; i < 2; i++) {
        make_named(stereo[i]);
        expect(0, 1, 0);
        expect(1, 0, 1);
    }
    make_unnamed(2);
    expect(0, 1, 0);
    expect(1, 0, 1);
}
END_TEST

START_TEST(surround_is_scaled_so_that_it_cannot_clip)
{
    const double whole = 1 + 2 * M_SQRT1_2;
    make_named("5.1(side)");
    expect(0, 1 / whole, 0);
    expect(1, 0, 1 / whole);
    expect(2, M_SQRT1_2 / whole, M_SQRT1_2 / whole);
    expect(3, 0, 0);
    expect(4, M_SQRT1_2 / whole, 0);
    expect(5, 0, M_SQRT1_2 / whole);
    make_unnamed(6);
    expect(5, 0, M_SQRT1_2 / whole);
    make_named("2.1");
    expect(0, 1, 0);
    expect(2, 0, 0);
}
END_TEST

START_TEST(no_standard_layout_clips_or_loses_a_channel)
{
    void *more = NULL;
    for (const AVChannelLayout *layout; (layout = av_channel_layout_standard(&more));) {
        make(layout);
        expect_full_scale();
        for (int i = 0; i < layout->nb_channels; i++) {
            const enum AVChannel channel = av_channel_layout_channel_from_index(layout, (unsigned)i);
            const bool is_bass = channel == AV_CHAN_LOW_FREQUENCY || channel == AV_CHAN_LOW_FREQUENCY_2;
            ck_assert((mix.level[LEFT][i] + mix.level[RIGHT][i] > 0) == !is_bass);
        }
    }
}
END_TEST

START_TEST(any_number_of_channels_without_names_is_heard_from_both_sides)
{
    for (int channels = 1; channels <= DOWN_MIX_CHANNELS_MAX; channels++) {
        make_unnamed(channels);
        expect_full_scale();
        ck_assert_double_eq_tol(sum(mix.level[LEFT]), sum(mix.level[RIGHT]), 1e-9);
    }
    make_unnamed(11);
    ck_assert(mix.level[LEFT][8] > 0 && mix.level[RIGHT][8] == 0);
    ck_assert(mix.level[LEFT][9] == 0 && mix.level[RIGHT][9] > 0);
    ck_assert(mix.level[LEFT][10] == mix.level[RIGHT][10]);
}
END_TEST

START_TEST(ambisonic_sound_from_the_left_is_heard_left)
{
    make_named("ambisonic 1");
    expect(0, 0.5, 0.5);
    expect(1, 0.5, -0.5);
    expect(2, 0, 0);
    expect(3, 0, 0);
    make_named("ambisonic 1+stereo");
    expect_full_scale();
    ck_assert(mix.level[LEFT][4] > 0 && mix.level[RIGHT][4] == 0);
}
END_TEST

START_TEST(odd_sets_of_loudspeakers_are_heard)
{
    make_named("BL+BR");
    expect(0, 1, 0);
    expect(1, 0, 1);
    make_named("FL+LFE"); /* half of a pair */
    expect(0, 1, 0);
    make_named("FC+LFE");
    expect(0, 1, 1);
    expect(1, 0, 0);
    make_named("FR+FL"); /* in this order */
    expect(0, 0, 1);
    expect(1, 1, 0);
    make_named("LFE+LFE2"); /* nothing else: rather the bass than silence */
    expect(0, 0.5, 0.5);
    make_named("UNK+UNSD+UNK");
    expect(0, 0.5, 0.5);
    expect(1, 0, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        mono_and_stereo_keep_their_level,
        surround_is_scaled_so_that_it_cannot_clip,
        no_standard_layout_clips_or_loses_a_channel,
        any_number_of_channels_without_names_is_heard_from_both_sides,
        ambisonic_sound_from_the_left_is_heard_left,
        odd_sets_of_loudspeakers_are_heard,
        NULL,
    };
    return suite_run("down_mix", SUITE_TIMEOUT_DEFAULT, tests);
}
