/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bit-exact after abort, for field pictures. The two fields of a pair are decoded one after the other into
 * one picture, which is abandoned as a whole or not at all.
 *
 * Not covered: B fields of H.264, and with CABAC intra prediction and chroma coefficients; MPEG-2 fields with coefficients
 * of predicted blocks.
 *
 * `test_fields --write FILE` writes a stream to FILE, to test other decoders with it.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "droppable.h"
#include "field_stream.h"
#include "gate_storm.h"
#include "mpeg2_stream.h"
#include "suite.h"

enum {
    PAIR_COUNT = 16,
    JUMPS = 60, /* of each variant */
    POLLS = 15,
    MOST_PASSES = 400,
};

/* All combinations: CAVLC or CABAC; one or three slices; one packet for each field or for each pair. */
enum { VARIANT_COUNT = 8 };

static uint64_t base_seed;

static struct field_stream_options variant(int index, enum field_pairs pairs)
{
    return (struct field_stream_options){
        .pair_count = PAIR_COUNT,
        .slices_per_field = index / 2 % 2 ? 3 : 1,
        .pair_in_one_packet = index % 2,
        .cabac = index / 4,
        .pairs = pairs,
        .seed = 1,
    };
}

static const struct decode_mode modes[] = {
    {WAY_JUMP, 1, FF_THREAD_FRAME},
    {WAY_POLL, 1, FF_THREAD_FRAME},
    {WAY_POLL, 3, FF_THREAD_FRAME},
    {WAY_POLL, 3, FF_THREAD_SLICE},
};
enum { MODE_COUNT = sizeof(modes) / sizeof(*modes) };

static void write_stream(struct coded_stream *stream, int index, enum field_pairs pairs)
{
    const struct field_stream_options options = variant(index, pairs);
    ck_assert_int_eq(field_stream_write(stream, &options), 0);
}

START_TEST(written_field_pairs_decode_without_errors)
{
    struct coded_stream stream;
    struct decode_pass pass = {.mode = modes[0], .policy = PASS_PLAIN};
    struct droppable droppable;
    write_stream(&stream, _i, PAIRS_ALIKE);
    ck_assert_int_eq(pass_decode(&pass, &stream), 0);
    ck_assert_uint_eq(pass.picture_count, PAIR_COUNT);
    ck_assert_uint_eq(pass_count_droppable(&pass), PAIR_COUNT / 2);
    ck_assert_int_eq(pass.log_count, 0);
    droppable_init(&droppable, stream.parameters);
    for (size_t i = 0; i < pass.picture_count; i++) {
        const struct fingerprint *const picture = &pass.pictures[i];
        ck_assert(!picture->damaged);
        ck_assert_int_eq(droppable_packet(&droppable, stream.packets[picture->packet]), picture->droppable);
    }
    pass_finish(&pass);
    stream_finish(&stream);
}
END_TEST

START_TEST(second_field_of_a_refused_picture_is_not_offered_again)
{
    struct coded_stream stream;
    write_stream(&stream, _i, PAIRS_ALIKE);
    for (int mode = 0; mode < 2; mode++) {
        struct decode_pass pass = {.mode = modes[mode], .policy = PASS_REFUSE};
        ck_assert_int_eq(pass_decode(&pass, &stream), 0);
        ck_assert_uint_eq(pass_count_abandoned(&pass), PAIR_COUNT / 2);
        ck_assert_int_eq(pass_count_given_up(&pass).refused, PAIR_COUNT / 2);
        ck_assert_int_eq(pass.stray_count, 0);
        pass_finish(&pass);
    }
    stream_finish(&stream);
}
END_TEST

static void storm_fields(int mode, int index, enum field_pairs pairs, int wanted)
{
    struct coded_stream stream;
    write_stream(&stream, index, pairs);
    struct gate_storm storm = {
        .stream = &stream, .mode = modes[mode], .comparison = COMPARE_ALL, .is_whole = pairs == PAIRS_ALIKE,
        .is_strict = pairs == PAIRS_ALIKE, .seed = base_seed + (uint64_t)index, .wanted = wanted, .most_passes = MOST_PASSES,
    };
    ck_assert_int_ge(gate_storm_run(&storm), 0);
    ck_assert_msg(!differences_count(&storm.differences), "mode %d, variant %d: %s", mode, index, storm.differences.first);
    if (pairs == PAIRS_REFERENCE_FIRST)
        ck_assert_int_eq(gate_storm_aborts(&storm), 0);
    else
        ck_assert_int_ge(storm.interrupted, wanted);
    printf("mode %d, variant %d: %" PRId64 " decodes of fields interrupted\n", mode, index, storm.interrupted);
    stream_finish(&stream);
}

START_TEST(field_pictures_that_were_not_given_up_are_exact)
{
    for (int index = 0; index < VARIANT_COUNT; index++)
        storm_fields(_i, index, PAIRS_ALIKE, modes[_i].way == WAY_JUMP ? JUMPS : POLLS);
}
END_TEST

/*
 * FFmpeg rejects a pair in which only one of the two fields is a reference. The gate must not turn this
 * into an abandoned reference. With frame threads FFmpeg decodes such a stream differently each time, without a gate too.
 */
START_TEST(pairs_of_mixed_kind_never_lose_a_reference)
{
    if (modes[_i].threads > 1 && modes[_i].thread_type == FF_THREAD_FRAME)
        return;
    for (int index = 0; index < VARIANT_COUNT; index++) {
        storm_fields(_i, index, PAIRS_DROPPABLE_FIRST, 0);
        storm_fields(_i, index, PAIRS_REFERENCE_FIRST, 0);
    }
}
END_TEST

/* One packet for each field, or for each pair. */
START_TEST(mpeg2_fields_that_were_not_given_up_are_exact)
{
    static const struct decode_mode mpeg2_modes[] = {
        {WAY_POLL, 1, FF_THREAD_FRAME}, {WAY_POLL, 2, FF_THREAD_SLICE}, {WAY_POLL, 3, FF_THREAD_SLICE}};
    struct coded_stream stream;
    ck_assert_int_eq(mpeg2_stream_write(&stream, PAIR_COUNT, _i, 1), 0);
    for (size_t i = 0; i < sizeof(mpeg2_modes) / sizeof(*mpeg2_modes); i++) {
        struct gate_storm storm = {
            .stream = &stream, .mode = mpeg2_modes[i], .comparison = COMPARE_ALL, .is_whole = true, .seed = base_seed + i,
            .wanted = POLLS, .most_passes = MOST_PASSES,
        };
        ck_assert_int_ge(gate_storm_run(&storm), 0);
        ck_assert_msg(!differences_count(&storm.differences), "variant %d: %s", _i, storm.differences.first);
        ck_assert_uint_eq(storm.pictures, PAIR_COUNT);
        ck_assert_uint_gt(storm.droppable, PAIR_COUNT / 2);
        ck_assert_int_ge(storm.interrupted, POLLS);
    }
    stream_finish(&stream);
}
END_TEST

START_TEST(written_mpeg2_fields_decode_without_errors)
{
    struct coded_stream stream;
    struct decode_pass pass = {.mode = modes[1], .policy = PASS_PLAIN};
    struct droppable droppable;
    ck_assert_int_eq(mpeg2_stream_write(&stream, PAIR_COUNT, _i, 1), 0);
    ck_assert_int_eq(pass_decode(&pass, &stream), 0);
    ck_assert_uint_eq(pass.picture_count, PAIR_COUNT);
    ck_assert_int_eq(pass.log_count, 0);
    ck_assert_int_eq(pass.rejected_count, 0);
    droppable_init(&droppable, stream.parameters);
    for (size_t i = 0; i < pass.picture_count; i++) {
        const struct fingerprint *const picture = &pass.pictures[i];
        ck_assert(!picture->damaged);
        ck_assert_int_eq(picture->droppable, mpeg2_stream_is_b((int)(_i ? picture->packet : picture->packet / 2)));
        ck_assert_int_eq(droppable_packet(&droppable, stream.packets[picture->packet]), picture->droppable);
    }
    pass_finish(&pass);
    stream_finish(&stream);
}
END_TEST

static int write_file(const char *path)
{
    const struct field_stream_options options = variant(3, PAIRS_ALIKE);
    struct coded_stream stream;
    if (field_stream_write(&stream, &options) < 0)
        return EXIT_FAILURE;
    FILE *file = fopen(path, "wb");
    bool written = file;
    for (size_t i = 0; written && i < stream.packet_count; i++)
        written = fwrite(stream.packets[i]->data, stream.packets[i]->size, 1, file) == 1;
    if (file && fclose(file))
        written = false;
    stream_finish(&stream);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

static TCase *fields_case(void)
{
    TCase *tcase = tcase_create("fields");
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, written_field_pairs_decode_without_errors, 0, VARIANT_COUNT);
    tcase_add_loop_test(tcase, second_field_of_a_refused_picture_is_not_offered_again, 0,
                        VARIANT_COUNT);
    tcase_add_loop_test(tcase, field_pictures_that_were_not_given_up_are_exact, 0, MODE_COUNT);
    tcase_add_loop_test(tcase, pairs_of_mixed_kind_never_lose_a_reference, 0, MODE_COUNT);
    tcase_add_loop_test(tcase, written_mpeg2_fields_decode_without_errors, 0, 2);
    tcase_add_loop_test(tcase, mpeg2_fields_that_were_not_given_up_are_exact, 0, 2);
    return tcase;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--write"))
        return write_file(argv[2]);
    const char *given = getenv("DLEX_TEST_SEED");
    base_seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("DLEX_TEST_SEED=%" PRIu64 "\n", base_seed);
    setvbuf(stdout, NULL, _IOLBF, 0);

    return suite_run_case("bit-exact after abort, field pictures", fields_case(), CK_NOFORK);
}
