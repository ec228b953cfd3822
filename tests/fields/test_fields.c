/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bit-exact after abort, for field pictures. The two fields of a pair are decoded one after the other into
 * one picture, which is abandoned as a whole or not at all.
 *
 * Not covered: CABAC fields (MBAFF clips of test_bit_exact.c decode field macroblocks with CABAC)
 * and B fields.
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
#include "pass_compare.h"
#include "suite.h"

enum {
    PAIR_COUNT = 24,
    INTERRUPTIONS = 150,
};

/* All combinations: one or three slices; one packet for each field or for each pair. */
enum { VARIANT_COUNT = 4 };

static uint64_t base_seed;

static struct field_stream_options variant(int index, enum field_pairs pairs)
{
    return (struct field_stream_options){
        .pair_count = PAIR_COUNT,
        .slices_per_field = index / 2 ? 3 : 1,
        .pair_in_one_packet = index % 2,
        .pairs = pairs,
        .seed = 1,
    };
}

static void write_and_decode(struct coded_stream *stream, struct decode_pass *undisturbed,
                             int index, enum field_pairs pairs)
{
    const struct field_stream_options options = variant(index, pairs);
    ck_assert_int_eq(field_stream_write(stream, &options), 0);
    ck_assert_int_eq(pass_decode(undisturbed, stream), 0);
}

START_TEST(written_field_pairs_decode_without_errors)
{
    struct coded_stream stream;
    struct decode_pass pass = {.policy = GATE_NONE};
    write_and_decode(&stream, &pass, _i, PAIRS_ALIKE);
    ck_assert_uint_eq(pass.picture_count, PAIR_COUNT);
    ck_assert_uint_eq(count_droppable(&pass), PAIR_COUNT / 2);
    ck_assert_int_eq(pass.log_count, 0);
    for (size_t i = 0; i < pass.picture_count; i++) {
        const struct fingerprint *const picture = &pass.pictures[i];
        const AVPacket *const packet = stream.packets[picture->packet];
        ck_assert(!picture->damaged);
        ck_assert_int_eq(packet_is_droppable(stream.parameters, packet), picture->droppable);
    }
    pass_finish(&pass);
    stream_finish(&stream);
}
END_TEST

START_TEST(second_field_of_a_refused_picture_is_not_offered_again)
{
    struct coded_stream stream;
    struct decode_pass undisturbed = {.policy = GATE_NONE};
    struct decode_pass pass = {.policy = GATE_REFUSE};
    write_and_decode(&stream, &undisturbed, _i, PAIRS_ALIKE);
    ck_assert_int_eq(pass_decode(&pass, &stream), 0);
    expect_same_but_abandoned(&undisturbed, &pass);
    ck_assert_uint_eq(count_abandoned(&pass), PAIR_COUNT / 2);
    ck_assert_int_eq(pass.refused_count, PAIR_COUNT / 2);
    pass_finish(&pass);
    pass_finish(&undisturbed);
    stream_finish(&stream);
}
END_TEST

START_TEST(field_pictures_that_were_not_interrupted_are_exact)
{
    struct coded_stream stream;
    struct decode_pass undisturbed = {.policy = GATE_NONE};
    write_and_decode(&stream, &undisturbed, _i, PAIRS_ALIKE);
    const int64_t interrupted =
        interrupt_often(&stream, expect_same_but_abandoned, &undisturbed, base_seed + _i,
                        INTERRUPTIONS);
    printf("variant %d: %" PRId64 " decodes of fields interrupted\n", _i, interrupted);
    pass_finish(&undisturbed);
    stream_finish(&stream);
}
END_TEST

/*
 * FFmpeg rejects a pair in which only one of the two fields is a reference. The gate must not turn this
 * into an abandoned reference.
 */
START_TEST(pairs_of_mixed_kind_never_lose_a_reference)
{
    const enum field_pairs pairs = _i < VARIANT_COUNT ? PAIRS_DROPPABLE_FIRST
                                                      : PAIRS_REFERENCE_FIRST;
    struct coded_stream stream;
    struct decode_pass undisturbed = {.policy = GATE_NONE};
    struct decode_pass pass = {.policy = GATE_REFUSE};
    write_and_decode(&stream, &undisturbed, _i % VARIANT_COUNT, pairs);
    ck_assert_int_eq(pass_decode(&pass, &stream), 0);
    expect_same_but_abandoned(&undisturbed, &pass);
    if (pairs == PAIRS_REFERENCE_FIRST)
        ck_assert_uint_eq(count_abandoned(&pass), 0);
    pass_finish(&pass);
    pass_finish(&undisturbed);
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
    tcase_add_loop_test(tcase, field_pictures_that_were_not_interrupted_are_exact, 0, VARIANT_COUNT);
    tcase_add_loop_test(tcase, pairs_of_mixed_kind_never_lose_a_reference, 0,
                        2 * VARIANT_COUNT);
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
