/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An abandoned picture must not affect any other. If pictures are refused or interrupted at the gate,
 * every picture that is decoded to its end is still the same as in an undisturbed decode.
 *
 * Not covered: field pictures (test_fields.c), codec threads (with them the gate is closed),
 * and the cost of the gate (bench/decode).
 *
 * media/make makes the clips. Interrupted decodes use real timers, so the interrupted pictures differ from
 * run to run. The tests check only what must be true for all of them.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clip_path.h"
#include "damaged_stream.h"
#include "pass_compare.h"
#include "suite.h"

enum {
    INTERRUPTIONS_PER_CLIP = 400, /* the six clips of media/make: 2,400 */
    MOST_PACKETS = 400, /* decoded of a clip; this is enough of the film */
    DAMAGED_INTERRUPTIONS_PER_CLIP = 50,
    EXIT_SKIPPED = 77,
};

static const char *const clip_names[] = {
    "progressive_cabac", "cavlc", "mbaff", "multislice", "bpyramid", "non_pyramid",
    "the film", /* the real trailer in DLEX_MEDIA, which media/make does not make */
};
enum { CLIP_COUNT = sizeof(clip_names) / sizeof(*clip_names) };

static struct clip {
    struct coded_stream stream;
    struct decode_pass undisturbed;
} clips[CLIP_COUNT];

static uint64_t base_seed;
static int64_t interrupted_total;

static const struct clip *clip_or_null(int index)
{
    return clips[index].stream.packet_count ? &clips[index] : NULL;
}

START_TEST(open_gate_changes_nothing_and_marks_droppable_pictures)
{
    const struct clip *clip = clip_or_null(_i);
    if (!clip)
        return;
    struct decode_pass pass = {.policy = GATE_OPEN};
    ck_assert_int_eq(pass_decode(&pass, &clip->stream), 0);
    expect_same_but_abandoned(&clip->undisturbed, &pass);
    ck_assert_int_gt(pass.run_count, 0);
    ck_assert_uint_gt(count_droppable(&pass), 0);
    ck_assert_uint_eq(count_abandoned(&pass), 0);
    pass_finish(&pass);
}
END_TEST

START_TEST(refused_pictures_still_come_out_in_order_and_the_others_are_exact)
{
    const struct clip *clip = clip_or_null(_i);
    if (!clip)
        return;
    struct decode_pass pass = {.policy = GATE_REFUSE};
    ck_assert_int_eq(pass_decode(&pass, &clip->stream), 0);
    expect_same_but_abandoned(&clip->undisturbed, &pass);
    ck_assert_uint_eq(count_abandoned(&pass), count_droppable(&pass));
    ck_assert_uint_eq(count_abandoned(&pass), (size_t)pass.refused_count);
    pass_finish(&pass);
}
END_TEST

START_TEST(pictures_that_were_not_interrupted_are_exact)
{
    const struct clip *clip = clip_or_null(_i);
    if (!clip)
        return;
    const int64_t interrupted =
        interrupt_often(&clip->stream, expect_same_but_abandoned, &clip->undisturbed,
                        base_seed + _i, INTERRUPTIONS_PER_CLIP);
    printf("%s: %" PRId64 " decodes interrupted\n", clip_names[_i], interrupted);
    interrupted_total += interrupted;
}
END_TEST

/*
 * Only the order and the references are compared. When FFmpeg gives up a damaged picture, it leaves
 * coefficients behind, so later pictures differ if that picture was abandoned before the damage.
 */
START_TEST(damaged_streams_keep_their_order_and_references)
{
    const struct clip *clip = clip_or_null(_i);
    if (!clip)
        return;
    struct coded_stream damaged;
    struct decode_pass undisturbed = {.policy = GATE_NONE};
    ck_assert_int_eq(damaged_stream(&damaged, &clip->stream, base_seed), 0);
    ck_assert_int_eq(pass_decode(&undisturbed, &damaged), 0);
    ck_assert_int_gt(undisturbed.log_count, 0);
    interrupt_often(&damaged, expect_same_order, &undisturbed, base_seed + _i,
                    DAMAGED_INTERRUPTIONS_PER_CLIP);
    pass_finish(&undisturbed);
    stream_finish(&damaged);
}
END_TEST

START_TEST(at_least_2000_decodes_were_interrupted)
{
    if (clip_or_null(CLIP_COUNT - 2)) /* either all clips of media/make exist or none */
        ck_assert_int_ge(interrupted_total, 2000);
}
END_TEST

/* Returns the path of the clip, as clip_path() does. */
static int find_clip(char *path, size_t size, int index)
{
    if (index < CLIP_COUNT - 1)
        return clip_path(path, size, clip_names[index]);
    const char *folder = getenv("DLEX_MEDIA");
    snprintf(path, size, "%s/bbb_trailer_720p.mp4", folder ? folder : "");
    return !folder || access(path, R_OK);
}

/* Returns 1 if the clip was loaded, 0 if it cannot be made on this machine, -1 on failure. */
static int load_clip(struct clip *clip, int index)
{
    char path[4096];
    const int missing = find_clip(path, sizeof(path), index);
    if (missing > 0)
        printf("without %s: neither the clip nor its source is on this machine\n", clip_names[index]);
    if (missing)
        return missing > 0 ? 0 : -1;
    if (stream_load(&clip->stream, path, MOST_PACKETS) < 0 ||
        pass_decode(&clip->undisturbed, &clip->stream) < 0) {
        printf("%s cannot be decoded\n", path);
        return -1;
    }
    return 1;
}

static void free_clips(void)
{
    for (int i = 0; i < CLIP_COUNT; i++) {
        stream_finish(&clips[i].stream);
        pass_finish(&clips[i].undisturbed);
    }
}

static TCase *gate_case(void)
{
    TCase *tcase = tcase_create("gate");
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, open_gate_changes_nothing_and_marks_droppable_pictures, 0,
                        CLIP_COUNT);
    tcase_add_loop_test(tcase,
                        refused_pictures_still_come_out_in_order_and_the_others_are_exact, 0,
                        CLIP_COUNT);
    tcase_add_loop_test(tcase, pictures_that_were_not_interrupted_are_exact, 0, CLIP_COUNT);
    tcase_add_loop_test(tcase, damaged_streams_keep_their_order_and_references, 0,
                        CLIP_COUNT);
    tcase_add_test(tcase, at_least_2000_decodes_were_interrupted);
    return tcase;
}

int main(void)
{
    const char *given = getenv("DLEX_TEST_SEED");
    base_seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("DLEX_TEST_SEED=%" PRIu64 "\n", base_seed);
    setvbuf(stdout, NULL, _IOLBF, 0);

    int loaded_count = 0;
    for (int i = 0; i < CLIP_COUNT; i++) {
        const int loaded = load_clip(&clips[i], i);
        if (loaded < 0)
            return EXIT_FAILURE;
        loaded_count += loaded;
    }
    if (!loaded_count) {
        printf("skipped: no clip can be made here\n");
        return EXIT_SKIPPED;
    }
    const int exit_code = suite_run_case("bit-exact after abort", gate_case(), CK_NOFORK);
    free_clips();
    return exit_code;
}
