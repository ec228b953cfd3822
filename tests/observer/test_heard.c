/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tones found in computed sound, and the clock made from them. Not here: a real sound server. */
#include "burst.h"
#include "heard_clock.h"

#include "frame_record.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "suite.h"

enum { RATE = 44100, ROOM = 200 };

#define MS INT64_C(1000000)

static struct burst found[ROOM];
static int found_count;

static void keep(void *opaque, const struct burst *burst)
{
    (void)opaque;
    ck_assert_int_lt(found_count, ROOM);
    found[found_count++] = *burst;
}

/* Computes the sound of a stamped clip, from position_s on. */
static float sample(double position_s)
{
    const double into = fmod(position_s, 0.25);
    const int tone = (int)(position_s / 0.25) % BURST_TONES;
    return into >= 0.1 && into < 0.14 ? (float)(0.5 * sin(2 * M_PI * (1000 + 50 * tone) * position_s)) : 0;
}

static struct burst_finder finder;

static void begin(void)
{
    found_count = 0;
    ck_assert_int_eq(burst_finder_init(&finder, RATE, keep, NULL), 0);
}

static void feed(double from_s, double to_s)
{
    for (int64_t i = llround(from_s * RATE); i < llround(to_s * RATE); i++) {
        const float x = sample((double)i / RATE);
        burst_finder_feed(&finder, &x, 1);
    }
}

START_TEST(every_tone_is_found_where_it_begins)
{
    begin();
    feed(0, 20);
    ck_assert_int_eq(found_count, BURST_TONES);
    for (int i = 0; i < BURST_TONES; i++) {
        ck_assert_int_eq(found[i].tone, i);
        ck_assert_double_lt(fabs(found[i].begin_frame / RATE - (0.25 * i + 0.1)), 0.0002);
    }
    ck_assert_int_eq(finder.odd, 0);
    burst_finder_finish(&finder);
}
END_TEST

START_TEST(holes_count_as_time)
{
    begin();
    feed(0, 0.2);
    burst_finder_feed(&finder, NULL, RATE);
    feed(0.2, 0.45);
    ck_assert_int_eq(found_count, 2);
    ck_assert_double_lt(fabs((found[1].begin_frame - found[0].begin_frame) / RATE - 1.25), 0.0002);
    ck_assert_int_eq(finder.odd, 0);
    burst_finder_finish(&finder);
}
END_TEST

START_TEST(cut_tones_are_only_counted)
{
    begin();
    feed(0, 0.12);
    burst_finder_feed(&finder, NULL, RATE / 10);
    feed(0.25, 0.45);
    ck_assert_int_eq(found_count, 1);
    ck_assert_int_eq(found[0].tone, 1);
    ck_assert_int_eq(finder.odd, 1);
    burst_finder_finish(&finder);
}
END_TEST

START_TEST(other_sounds_are_not_tones)
{
    begin();
    srand(1);
    for (int i = 0; i < RATE; i++) {
        const int into = i % (RATE / 4);
        const float x = into < RATE / 25 ? (float)rand() / (float)RAND_MAX - 0.5F : 0;
        burst_finder_feed(&finder, &x, 1);
    }
    ck_assert_int_eq(found_count, 0);
    ck_assert_int_eq(finder.odd, 4);
    burst_finder_finish(&finder);
}
END_TEST

/* Makes the clock of a recording that began at 1000 s, with a report each eighth of a second. */
static struct heard_report reports[ROOM];

static struct heard_clock clock_of(const struct burst *burst, size_t count)
{
    for (int i = 0; i < ROOM; i++)
        reports[i] = (struct heard_report){.time_ns = 1000000 * MS + i * 125 * MS, .frame = i * 0.125 * RATE};
    reports[19].frame -= 500; /* two reports that are wrong */
    reports[20].frame += 500;
    struct heard_clock heard;
    ck_assert_int_eq(heard_clock_make(&heard, burst, count, reports, ROOM, RATE, 0, 0), 0);
    return heard;
}

static struct burst tone_at(double time_s, int tone)
{
    return (struct burst){.begin_frame = time_s * RATE, .tone = tone};
}

START_TEST(position_follows_the_tones)
{
    const struct burst burst[] = {tone_at(2.1, 0), tone_at(2.35, 1), tone_at(2.6, 2), tone_at(2.85, 3)};
    struct heard_clock heard = clock_of(burst, 4);
    const int64_t begin_ns = 1000000 * MS + 2000 * MS; /* when the sound begins */
    for (int64_t at_ms = -500; at_ms < 1500; at_ms += 10)
        ck_assert_int_le(llabs(heard_clock_position_ns(&heard, begin_ns + at_ms * MS) - at_ms * MS), 1000);
    ck_assert_int_eq(heard.breaks, 0);
    heard_clock_finish(&heard);
}
END_TEST

START_TEST(pause_of_the_sound_is_a_break)
{
    const struct burst burst[] = {tone_at(2.1, 0), tone_at(2.35, 1), tone_at(4.6, 2), tone_at(4.85, 3)};
    struct heard_clock heard = clock_of(burst, 4);
    ck_assert_int_eq(heard.breaks, 1);
    ck_assert_int_le(llabs(heard_clock_position_ns(&heard, 1000000 * MS + 4850 * MS) - 850 * MS), 1000);
    heard_clock_finish(&heard);
}
END_TEST

START_TEST(repeated_tones_belong_to_later_quarters)
{
    struct burst burst[90];
    for (int i = 0; i < 90; i++)
        burst[i] = tone_at(0.1 + 0.25 * i, i % BURST_TONES);
    struct heard_clock heard = clock_of(burst, 90);
    ck_assert_int_eq(heard.tone[89].quarter, 89);
    ck_assert_int_eq(heard.breaks, 0);
    heard_clock_finish(&heard);
}
END_TEST

START_TEST(without_sound_no_position_is_known)
{
    struct heard_clock heard = clock_of(NULL, 0);
    ck_assert(heard_clock_position_ns(&heard, 1000000 * MS) == FIELD_EMPTY);
    heard_clock_finish(&heard);
    const struct burst burst = tone_at(1, 0);
    ck_assert_int_eq(heard_clock_make(&heard, &burst, 1, NULL, 0, RATE, 0, 0), 0);
    ck_assert(heard_clock_position_ns(&heard, 1000000 * MS) == FIELD_EMPTY);
    heard_clock_finish(&heard);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        every_tone_is_found_where_it_begins,
        holes_count_as_time,
        cut_tones_are_only_counted,
        other_sounds_are_not_tones,
        position_follows_the_tones,
        pause_of_the_sound_is_a_break,
        repeated_tones_belong_to_later_quarters,
        without_sound_no_position_is_known,
        NULL,
    };
    return suite_run("heard", 60, tests);
}
