/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time stamps of films of picture and sound, damaged in thousands of ways, and what film time makes of them. Not covered: what
 * demultiplexers do with damaged stamps before, and how the player plays the result (tests/input/test_time_stamps.py).
 */
#include "ns.h"
#include "time_stamps.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define MS NS_PER_MS
#define S NS_PER_S

enum { PICTURES_MAX = 300, PACKETS_MAX = 70000, PICTURE_MS = 40, FILM_S = 6 };

static const int64_t sound_ns = 21333333;

/* A packet, with the stamps that it should have and those that it has. */
struct packet {
    struct stamp right;
    struct stamp file;
    int place;            /* of its picture in the order of presentation, or of the sound packet */
    struct stamp film;    /* the result */
    int64_t offset_ns;
};

struct film {
    struct packet packets[PACKETS_MAX];
    int count;
    int pictures;
    bool may_jump;
    bool has_sound;
    int64_t end_ns;
    struct time_stamps stamps;
};

/* What is made of the stamps of a film. */
struct kind {
    const char *name;
    int b_pictures; /* between two others */
    bool has_dts;
    bool has_sound;
    bool may_jump;
    int64_t start_ns;
    int64_t sound_behind_ns; /* the sound comes so much later in the file than the pictures of the same time */
};

static const struct kind kinds[] = {
    {"transport stream", 2, true, true, true, 1400 * MS, 0},
    {"without B pictures", 0, true, true, false, 0, 0},
    {"without DTS", 2, false, true, false, 0, 0},
    {"sound behind", 2, true, true, true, 1400 * MS, 700 * MS},
    {"sound before", 3, true, true, false, 0, -500 * MS},
    {"late in the day", 2, true, true, true, 90000 * S, 0},
    {"pictures only", 2, true, false, true, 1400 * MS, 0},
};

static struct film film;

static int compare_places(const void *a, const void *b)
{
    const struct packet *const x = a;
    const struct packet *const y = b;
    const int64_t at_x = x->offset_ns, at_y = y->offset_ns; /* the order in the file, only while the film is made */
    return (at_x > at_y) - (at_x < at_y);
}

static void add_pictures(const struct kind *kind)
{
    const int group = kind->b_pictures + 1;
    const int64_t delay_ns = kind->b_pictures ? PICTURE_MS * MS : 0;
    film.pictures = FILM_S * 1000 / PICTURE_MS;
    for (int i = 0; i < film.pictures; i++) {
        /* In decode order: each P before the B pictures that are shown before it. */
        const int place = i == 0 ? 0 : (i - 1) % group == 0 ? i - 1 + group : i - 1;
        const int64_t dts_ns = kind->start_ns + i * PICTURE_MS * MS;
        film.packets[film.count++] = (struct packet){
            .right = {READ_VIDEO, kind->has_dts ? dts_ns : NS_UNKNOWN, kind->start_ns + delay_ns + place * PICTURE_MS * MS,
                      PICTURE_MS * MS},
            .place = place,
            .offset_ns = dts_ns,
        };
    }
}

static void add_sound(const struct kind *kind)
{
    for (int i = 0; i * sound_ns < FILM_S * S; i++) {
        const int64_t at_ns = kind->start_ns + i * sound_ns;
        film.packets[film.count++] = (struct packet){
            .right = {READ_SOUND, at_ns, at_ns, sound_ns},
            .place = i,
            .offset_ns = at_ns + kind->sound_behind_ns,
        };
    }
}

static void make(const struct kind *kind)
{
    film.count = 0;
    film.may_jump = kind->may_jump;
    film.has_sound = kind->has_sound;
    film.end_ns = NS_UNKNOWN;
    add_pictures(kind);
    if (kind->has_sound)
        add_sound(kind);
    qsort(film.packets, (size_t)film.count, sizeof film.packets[0], compare_places);
    for (int i = 0; i < film.count; i++)
        film.packets[i].file = film.packets[i].right;
}

static int64_t earliest_ns(void)
{
    int64_t start_ns = INT64_MAX;
    bool seen[READ_STREAMS] = {false};
    for (int i = 0; i < film.count; i++) {
        const struct stamp *const stamp = &film.packets[i].file;
        const int64_t at_ns = stamp->pts_ns != NS_UNKNOWN ? stamp->pts_ns : stamp->dts_ns;
        if (!seen[stamp->stream] && at_ns != NS_UNKNOWN && at_ns < start_ns)
            start_ns = at_ns;
        seen[stamp->stream] = true;
    }
    return start_ns == INT64_MAX ? 0 : start_ns;
}

static int take_all(bool at_end, int taken)
{
    struct checked_stamp checked;
    while (time_stamps_take(&film.stamps, at_end, &checked)) {
        film.packets[taken].film = checked.film;
        film.packets[taken++].offset_ns = checked.offset_ns;
    }
    return taken;
}

static void check_stamps(void)
{
    const struct stamped_facts facts[READ_STREAMS] = {
        [READ_VIDEO] = {true, film.may_jump, frame_duration_of(PICTURE_MS * MS), film.end_ns, 0},
        [READ_SOUND] = {film.has_sound, film.may_jump, frame_duration_of(20 * MS), film.end_ns, 0},
    };
    time_stamps_init(&film.stamps, facts, earliest_ns());
    int taken = 0;
    for (int i = 0; i < film.count; i++) {
        time_stamps_put(&film.stamps, &film.packets[i].file);
        taken = take_all(false, taken);
    }
    ck_assert_int_eq(take_all(true, taken), film.count);
}

/* What was damaged. */
struct damage {
    const char *name;
    int from; /* number of the packet of each stream, in the order of the file */
    int length;
    bool of[READ_STREAMS];
    bool pts, dts;
    bool sets;        /* to value_ns; otherwise it is added */
    int64_t value_ns; /* NS_UNKNOWN: the stamp is missing */
};

static void damage_stamp(const struct damage *damage, int64_t *stamp_ns)
{
    if (*stamp_ns == NS_UNKNOWN)
        return;
    *stamp_ns = damage->value_ns == NS_UNKNOWN || damage->sets ? damage->value_ns : *stamp_ns + damage->value_ns;
}

static void apply(const struct damage *damage)
{
    int number[READ_STREAMS] = {0};
    for (int i = 0; i < film.count; i++) {
        struct stamp *const stamp = &film.packets[i].file;
        const int at = number[stamp->stream]++;
        const int from = stamp->stream == READ_SOUND ? (int)(damage->from * PICTURE_MS * MS / sound_ns) : damage->from;
        if (!damage->of[stamp->stream] || at < from || at - from >= damage->length)
            continue;
        if (damage->pts)
            damage_stamp(damage, &stamp->pts_ns);
        if (damage->dts)
            damage_stamp(damage, &stamp->dts_ns);
    }
}

static const char *text_of(const struct kind *kind, const struct damage *damage)
{
    static char text[256];
    snprintf(text, sizeof text, "%s: %s%.6f s%s%s%s%s from %d for %d", kind->name, damage->sets ? "set to " : "", ns_to_s(damage->value_ns),
             damage->pts ? " pts" : "", damage->dts ? " dts" : "", damage->of[0] ? " pictures" : "", damage->of[1] ? " sound" : "",
             damage->from, damage->length);
    return text;
}

/* Fills in the film time of each picture in the order of presentation. One without a PTS follows on. */
static void times_of_pictures(int64_t times_ns[PICTURES_MAX])
{
    for (int i = 0; i < PICTURES_MAX; i++)
        times_ns[i] = INT64_MAX;
    for (int i = 0; i < film.count; i++)
        if (film.packets[i].film.stream == READ_VIDEO && film.packets[i].place < film.pictures)
            times_ns[film.packets[i].place] = film.packets[i].film.pts_ns;
    int64_t next_ns = film.stamps.start_ns;
    for (int i = 0; i < film.pictures; i++) {
        if (times_ns[i] == NS_UNKNOWN || times_ns[i] == INT64_MAX)
            times_ns[i] = next_ns;
        next_ns = times_ns[i] + PICTURE_MS * MS;
    }
}

/* At the start it is not known whether streams that are apart belong so, and of one of them there may be no packet yet. */
static bool is_at_start(const struct kind *kind, const struct damage *damage)
{
    return kind->sound_behind_ns && damage->from < 20;
}

/* A picture that is due earlier than the one before it is shown at once. */
static bool pictures_go_on(const struct kind *kind, const struct damage *damage)
{
    /* At the beginning it is not known which of two streams is damaged that are apart by up to 2 s. */
    const int64_t gap_ns = (is_at_start(kind, damage) ? 10 : damage->from < 8 ? 2 : 1) * S;
    int64_t times_ns[PICTURES_MAX];
    times_of_pictures(times_ns);
    const int64_t first_ns = film.stamps.start_ns;
    int64_t shown_ns = first_ns;
    for (int i = 0; i < film.pictures; i++) {
        if (times_ns[i] - shown_ns > gap_ns + 2 * PICTURE_MS * MS)
            return false;
        shown_ns = times_ns[i] > shown_ns ? times_ns[i] : shown_ns;
    }
    return shown_ns - first_ns <= FILM_S * S * 12 / 10 + S + gap_ns;
}

/* Returns how far the streams are moved against each other at the end of the film. */
static int64_t apart_at_end_ns(void)
{
    int64_t moved_ns[READ_STREAMS] = {0, 0};
    for (int i = 0; i < film.count; i++) {
        const struct packet *const packet = &film.packets[i];
        if (packet->film.pts_ns != NS_UNKNOWN)
            moved_ns[packet->film.stream] = packet->film.pts_ns - packet->right.pts_ns;
    }
    return film.has_sound ? llabs(moved_ns[READ_VIDEO] - moved_ns[READ_SOUND]) : 0;
}

static bool sound_never_goes_back(void)
{
    int64_t last_ns = INT64_MIN;
    for (int i = 0; i < film.count; i++) {
        const struct stamp *const stamp = &film.packets[i].film;
        if (stamp->stream != READ_SOUND || stamp->pts_ns == NS_UNKNOWN)
            continue;
        if (last_ns != INT64_MIN && stamp->pts_ns < last_ns - 1500 * MS)
            return false;
        last_ns = stamp->pts_ns;
    }
    return true;
}

/* The streams belong together if both were damaged in the same way, or the damage was over some time before the end. */
static bool must_be_together(const struct kind *kind, const struct damage *damage)
{
    if (is_at_start(kind, damage))
        return false;
    const bool is_over = damage->from + damage->length < FILM_S * 1000 / PICTURE_MS - 50;
    return is_over || (damage->of[READ_VIDEO] && damage->of[READ_SOUND] && damage->pts && damage->dts && !damage->sets &&
                       llabs(damage->value_ns) > 2 * S && damage->value_ns != NS_UNKNOWN &&
                       damage->from > 10 && damage->from < FILM_S * 1000 / PICTURE_MS - 20);
}

static int faults;

static void expect(bool right, const char *what, const struct kind *kind, const struct damage *damage)
{
    if (!right && faults++ < 20)
        printf("%s: %s\n", what, text_of(kind, damage));
}

static void try_damage(const struct kind *kind, const struct damage *damage)
{
    make(kind);
    apply(damage);
    check_stamps();
    expect(pictures_go_on(kind, damage), "pictures do not go on", kind, damage);
    expect(sound_never_goes_back() || is_at_start(kind, damage), "sound goes back", kind, damage);
    if (must_be_together(kind, damage))
        expect(apart_at_end_ns() < 300 * MS, "sound and pictures are apart", kind, damage);
}

static const int places[] = {0, 1, 3, 12, 60, 147, 149};
static const int lengths[] = {1, 2, 5, 40, 1000};

static void try_everywhere(const struct kind *kind, struct damage damage)
{
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int streams = 1; streams < 4; streams++)
                for (int stamps = 1; stamps < 4; stamps++) {
                    damage.from = places[p];
                    damage.length = lengths[l];
                    damage.of[READ_VIDEO] = streams & 1;
                    damage.of[READ_SOUND] = streams & 2;
                    damage.pts = stamps & 1;
                    damage.dts = stamps & 2;
                    try_damage(kind, &damage);
                }
}

START_TEST(stamps_without_damage_stay_as_they_are)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        make(&kinds[k]);
        check_stamps();
        for (int i = 0; i < film.count; i++) {
            ck_assert_int_eq(film.packets[i].offset_ns, 0);
            ck_assert_int_eq(film.packets[i].film.pts_ns, film.packets[i].right.pts_ns);
            ck_assert_int_eq(film.packets[i].film.dts_ns, film.packets[i].right.dts_ns);
            ck_assert_int_eq(film.packets[i].film.duration_ns, film.packets[i].right.duration_ns);
        }
    }
}
END_TEST

/* Valid films whose pictures last differently: each picture lasts so many ms. */
struct odd_film {
    const char *name;
    int lengths_ms[4];
    int counts[4]; /* so many pictures in a row; over and over again, up to 120 pictures */
};

static const struct odd_film odd_films[] = {
    {"one picture a second", {1000}, {1}},
    {"one picture in ten seconds", {10000}, {1}},
    {"slides", {5000, 12000, 30000, 1500}, {1, 1, 1, 1}},
    {"still pictures between motion", {33, 7700}, {60, 1}},
    {"a still picture at the beginning", {12000, 40}, {1, 200}},
    {"one short gap", {40, 2500}, {70, 1}},
    {"one long gap", {40, 25000}, {70, 1}},
    {"slow, then fast", {1000, 33}, {10, 200}},
    {"fast, then slow", {33, 3000}, {60, 60}},
    {"a phone", {16, 33, 17, 50}, {3, 1, 5, 2}},
};

/* As pictures are decoded: each group of B pictures behind the one that they refer to. The DTS are the PTS in order, some earlier. */
static void make_odd(const struct odd_film *odd, int b_pictures, bool has_sound)
{
    int64_t times_ns[121] = {0};
    for (int i = 0, kind = 0, done = 0; i < 120; i++) {
        times_ns[i + 1] = times_ns[i] + odd->lengths_ms[kind] * MS;
        if (++done >= odd->counts[kind]) {
            kind = kind < 3 && odd->counts[kind + 1] ? kind + 1 : 0;
            done = 0;
        }
    }
    film.count = 0;
    film.may_jump = false;
    film.has_sound = has_sound;
    film.end_ns = times_ns[120];
    const int group = b_pictures + 1;
    for (int i = 0; i < 120; i++) {
        const int place = i == 0 ? 0 : (i - 1) % group == 0 ? i - 1 + group : i - 1;
        const int64_t dts_ns = b_pictures ? (i ? times_ns[i - 1] : -PICTURE_MS * MS) : times_ns[i];
        if (place < 120)
            film.packets[film.count++] = (struct packet){
                .right = {READ_VIDEO, dts_ns, times_ns[place], times_ns[place + 1] - times_ns[place]}, .offset_ns = dts_ns};
    }
    for (int64_t at_ns = 0; has_sound && at_ns < times_ns[120] && film.count < PACKETS_MAX; at_ns += sound_ns)
        film.packets[film.count++] = (struct packet){.right = {READ_SOUND, at_ns, at_ns, sound_ns}, .offset_ns = at_ns};
    qsort(film.packets, (size_t)film.count, sizeof film.packets[0], compare_places);
    for (int i = 0; i < film.count; i++)
        film.packets[i].file = film.packets[i].right;
}

START_TEST(pictures_that_last_differently_keep_their_stamps)
{
    for (size_t k = 0; k < sizeof odd_films / sizeof *odd_films; k++)
        for (int b_pictures = 0; b_pictures < 3; b_pictures++)
            for (int sound = 0; sound < 2; sound++) {
                make_odd(&odd_films[k], b_pictures, sound);
                check_stamps();
                for (int i = 0; i < film.count; i++)
                    if (film.packets[i].film.pts_ns != film.packets[i].right.pts_ns || film.packets[i].offset_ns) {
                        printf("%s, %d B pictures, sound %d: packet %d of %.3f s is at %.3f s\n", odd_films[k].name, b_pictures, sound, i,
                               ns_to_s(film.packets[i].right.pts_ns), ns_to_s(film.packets[i].film.pts_ns));
                        faults++;
                        break;
                    }
            }
    ck_assert_int_eq(faults, 0);
}
END_TEST

/* As the ffmpeg program copies slides of Matroska to MP4, FLV or MPEG-TS. The header's length is that of the DTS. */
START_TEST(slides_whose_dts_go_on_at_the_nominal_rate_keep_their_pts)
{
    static const struct odd_film slides = {"slides", {5000, 12000, 30000, 1500}, {1, 1, 1, 1}};
    make_odd(&slides, 0, false);
    film.count = 30;
    film.end_ns = film.count * 100 * MS;
    for (int i = 0; i < film.count; i++) {
        film.packets[i].right.dts_ns = i * 100 * MS;
        film.packets[i].right.duration_ns = 100 * MS;
        film.packets[i].file = film.packets[i].right;
    }
    check_stamps();
    for (int i = 0; i < film.count; i++)
        ck_assert_int_eq(film.packets[i].film.pts_ns, film.packets[i].right.pts_ns);
}
END_TEST

START_TEST(pictures_go_on_after_each_flipped_bit_of_a_stamp)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int bit = 0; bit <= 32; bit++)
            for (int sign = -1; sign <= 1; sign += 2)
                try_everywhere(&kinds[k], (struct damage){.value_ns = sign * ((INT64_C(1) << bit) * S / 90000)});
    ck_assert_int_eq(faults, 0);
}
END_TEST

START_TEST(pictures_go_on_after_stamps_that_jump_miss_or_have_any_value)
{
    static const int64_t set_ns[] = {0, NS_UNKNOWN, S, 3600 * S, INT64_MAX / 8, -INT64_MAX / 8, 1770000000 * S / 2, -5 * S};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t v = 0; v < sizeof set_ns / sizeof *set_ns; v++)
            try_everywhere(&kinds[k], (struct damage){.sets = true, .value_ns = set_ns[v]});
    ck_assert_int_eq(faults, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        stamps_without_damage_stay_as_they_are,
        pictures_that_last_differently_keep_their_stamps,
        slides_whose_dts_go_on_at_the_nominal_rate_keep_their_pts,
        pictures_go_on_after_each_flipped_bit_of_a_stamp,
        pictures_go_on_after_stamps_that_jump_miss_or_have_any_value,
        NULL,
    };
    return suite_run("time_stamps", SUITE_TIMEOUT_DEFAULT, tests);
}
