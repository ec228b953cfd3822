/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a run: writing and reading, memory, presentation order, files that appear whole. Not covered: run.json
 * (tests/input). */
#include "frame_log.h"
#include "frame_record.h"
#include "whole_file.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

static const char header[] = "index,pts_ns,type,droppable,size_bytes,decode_start_ns,decode_end_ns,decode_cpu_ns,"
                             "deadline_ns,fired_ns,verdict,shown_ns,skew_ns,degraded,stood_ns\n";

static char *text_of(const struct frame_record *record)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    if (record)
        frame_record_write(out, record);
    else
        frame_record_write_header(out);
    fclose(out);
    return text;
}

START_TEST(header_is_as_documented)
{
    char *const text = text_of(NULL);
    ck_assert_str_eq(text, header);
    ck_assert_int_eq(frame_record_parse_header(text), 0);
    free(text);
}
END_TEST

START_TEST(record_is_the_same_after_writing_and_reading)
{
    struct frame_record record = frame_record_empty();
    record.index = 7;
    record.pts_ns = -40000000;
    record.type = 'B';
    record.droppable = 1;
    record.verdict = VERDICT_ABORTED;
    record.fired_ns = INT64_MAX;
    char *const text = text_of(&record);
    ck_assert_str_eq(text, "7,-40000000,B,1,,,,,,9223372036854775807,aborted,,,,\n");
    struct frame_record back;
    ck_assert_int_eq(frame_record_parse(text, &back), 0);
    ck_assert_mem_eq(&record, &back, sizeof back);
    free(text);
}
END_TEST

START_TEST(damaged_lines_are_refused)
{
    static const char *const lines[] = {
        "", "1,2,3", "7,0,B,1,,,,,,,abortive,,,,", "7,0,BB,1,,,,,,,shown,,,,", "7,0x1,B,1,,,,,,,shown,,,,",
        "7,0,B,1,,,,,,,shown,,,,,", "7,0,B,1,,,,,,,,,,,", "7,99999999999999999999,B,1,,,,,,,shown,,,,", "7,0,B,1,,,,,,,sho",
        "7,0,B,1,,,,,,,shown,,,",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct frame_record record;
        ck_assert_msg(frame_record_parse(lines[i], &record) == -EINVAL, "taken: %s", lines[i]);
    }
    ck_assert_int_eq(frame_record_parse_header("index,pts"), -EINVAL);
}
END_TEST

START_TEST(old_rows_do_not_say_how_long_a_picture_stood)
{
    static const char old_header[] = "index,pts_ns,type,droppable,size_bytes,decode_start_ns,decode_end_ns,decode_cpu_ns,"
                                     "deadline_ns,fired_ns,verdict,shown_ns,skew_ns,degraded\n";
    ck_assert_int_eq(frame_record_parse_old_header(old_header), 0);
    ck_assert_int_eq(frame_record_parse_header(old_header), -EINVAL);
    ck_assert_int_eq(frame_record_parse_old_header(header), -EINVAL);
    struct frame_record record;
    ck_assert_int_eq(frame_record_parse_old("7,0,B,1,,,,,,,shown,5,6,0\n", &record), 0);
    ck_assert_int_eq(record.skew_ns, 6);
    ck_assert_int_eq(record.stood_ns, FIELD_EMPTY);
    ck_assert_int_eq(frame_record_parse_old("7,0,B,1,,,,,,,shown,5,6,0,\n", &record), -EINVAL);
}
END_TEST

static struct frame_row *add(struct frame_log *log, int segment, int64_t pts_ns, bool out)
{
    struct frame_row *const row = frame_log_append(log);
    row->segment = segment;
    row->out = out;
    row->record.pts_ns = pts_ns;
    row->record.size_bytes = 100;
    row->record.decode_start_ns = 1;
    row->record.decode_cpu_ns = 10;
    row->record.decode_end_ns = 2;
    return row;
}

START_TEST(rows_are_in_presentation_order_segment_by_segment)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    add(log, 1, 0, true);
    add(log, 1, 80, true);
    add(log, 1, 40, true);
    add(log, 2, 10, true);
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 4);
    const int64_t expected[] = {0, 40, 80, 10};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(rows[i].index, i);
        ck_assert_int_eq(rows[i].pts_ns, expected[i]);
    }
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(rows_that_were_never_decoded_are_left_out)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    add(log, 1, 0, true);
    frame_log_append(log);
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 1);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(a_picture_without_a_packet_has_its_row)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    add(log, 1, 0, true)->record.verdict = VERDICT_SHOWN;
    struct frame_row *const row = add(log, 1, 40, true);
    row->record.decode_start_ns = row->record.decode_end_ns = row->record.decode_cpu_ns = FIELD_EMPTY;
    row->record.verdict = VERDICT_SHOWN;
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 2);
    ck_assert_int_eq(rows[1].pts_ns, 40);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(totals_count_each_verdict)
{
    static const enum verdict verdicts[] = {VERDICT_NONE,    VERDICT_SHOWN,   VERDICT_SHOWN,   VERDICT_SHOWN,
                                            VERDICT_ABORTED, VERDICT_ABORTED, VERDICT_SKIPPED, VERDICT_UNSEEN};
    enum { ROWS = sizeof verdicts / sizeof verdicts[0] };
    struct frame_record rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        rows[i] = frame_record_empty();
        rows[i].verdict = verdicts[i];
    }
    const struct totals totals = totals_of(rows, ROWS);
    ck_assert_int_eq(totals.shown, 3);
    ck_assert_int_eq(totals.aborted, 2);
    ck_assert_int_eq(totals.skipped, 1);
    ck_assert_int_eq(totals.late, 0);
}
END_TEST

START_TEST(two_fields_in_two_packets_are_one_row)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    for (int i = 0; i < 3; i++) {
        add(log, 1, 40 * i, true)->interlaced = true;
        add(log, 1, 40 * i + 20, false)->record.decode_end_ns = 5;
    }
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(rows[i].size_bytes, 200);
        ck_assert_int_eq(rows[i].decode_cpu_ns, 20);
        ck_assert_int_eq(rows[i].decode_end_ns, 5);
    }
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

/* Packets of a cut film whose pictures are not shown, behind a picture of two fields. */
START_TEST(unwanted_packets_are_no_second_fields)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    add(log, 1, 0, true)->interlaced = true;
    add(log, 1, -80, false)->unwanted = true;
    add(log, 1, -40, false)->unwanted = true;
    add(log, 1, 40, true)->interlaced = true;
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 4);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(rows[i].size_bytes, 100);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(picture_is_degraded_if_one_of_its_fields_is)
{
    static const enum degraded fields[][3] = {
        {DEGRADED_NOT, DEGRADED_NOT, DEGRADED_NOT},
        {DEGRADED_NOT, DEGRADED_ITSELF, DEGRADED_ITSELF},
        {DEGRADED_ITSELF, DEGRADED_BY_OTHERS, DEGRADED_ITSELF},
        {DEGRADED_BY_OTHERS, DEGRADED_NOT, DEGRADED_BY_OTHERS},
        {DEGRADED_BY_OTHERS, DEGRADED_ITSELF, DEGRADED_ITSELF},
    };
    enum { PICTURES = sizeof fields / sizeof fields[0] };
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    for (int i = 0; i < PICTURES; i++) {
        struct frame_row *const first = add(log, 1, 40 * i, true);
        first->interlaced = true;
        first->record.degraded = fields[i][0];
        add(log, 1, 40 * i + 20, false)->record.degraded = fields[i][1];
    }
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), PICTURES);
    for (int i = 0; i < PICTURES; i++)
        ck_assert_int_eq(rows[i].degraded, fields[i][2]);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

/* With codec threads, the first packet's row has the times of both. */
START_TEST(second_field_without_times_leaves_those_of_the_first)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    add(log, 1, 0, true)->interlaced = true;
    struct frame_row *const field = add(log, 1, 20, false);
    field->record.decode_end_ns = field->record.decode_cpu_ns = FIELD_EMPTY;
    add(log, 1, 40, true);
    add(log, 1, 80, true);
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 3);
    ck_assert_int_eq(rows[0].size_bytes, 200);
    ck_assert_int_eq(rows[0].decode_cpu_ns, 10);
    ck_assert_int_eq(rows[0].decode_end_ns, 2);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(a_frame_lost_at_a_seek_keeps_its_row)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    add(log, 1, 0, true)->interlaced = true;
    add(log, 1, 40, false);
    add(log, 1, 80, false);
    add(log, 2, 0, true);
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 4);
    ck_assert_int_eq(rows[1].verdict, VERDICT_NONE);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(reserved_memory_is_enough_for_a_long_film)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    enum { PICTURES = 100000 };
    for (int i = 0; i < PICTURES; i++) {
        ck_assert_int_eq(frame_log_reserve(log), 0);
        add(log, 1, i, true);
    }
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), PICTURES);
    ck_assert_int_eq(rows[PICTURES - 1].pts_ns, PICTURES - 1);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(a_feeder_far_ahead_reserves_for_every_packet)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    enum { PICTURES = 20000 };
    for (int i = 0; i < PICTURES; i++)
        ck_assert_int_eq(frame_log_reserve(log), 0);
    for (int i = 0; i < PICTURES; i++)
        ck_assert_ptr_nonnull(frame_log_append(log));
    frame_log_destroy(&log);
}
END_TEST

START_TEST(a_picture_that_never_came_out_has_no_verdict)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, true), 0);
    add(log, 1, 0, true)->record.verdict = VERDICT_ABORTED;
    add(log, 1, 40, false)->record.verdict = VERDICT_ABORTED;
    struct frame_row *const preroll = add(log, 1, 80, true);
    preroll->record.verdict = VERDICT_SKIPPED;
    preroll->unwanted = true;
    struct frame_record *rows;
    ck_assert_int_eq(frame_log_finish(log, &rows), 3);
    ck_assert_int_eq(rows[0].verdict, VERDICT_ABORTED);
    ck_assert_int_eq(rows[1].verdict, VERDICT_NONE);
    ck_assert_int_eq(rows[2].verdict, VERDICT_NONE);
    free(rows);
    frame_log_destroy(&log);
}
END_TEST

START_TEST(a_log_that_is_not_kept_is_a_ring)
{
    struct frame_log *log = NULL;
    ck_assert_int_eq(frame_log_create(&log, false), 0);
    for (int i = 0; i < 100000; i++) {
        ck_assert_int_eq(frame_log_reserve(log), 0);
        ck_assert_ptr_nonnull(frame_log_append(log));
    }
    frame_log_destroy(&log);
}
END_TEST

static const char *temporary_dir(void)
{
    static char path[40];
    strcpy(path, "/tmp/dlex-test-XXXXXX");
    return mkdtemp(path);
}

START_TEST(a_file_appears_whole_or_not_at_all)
{
    char path[100];
    snprintf(path, sizeof path, "%s/file", temporary_dir());
    struct whole_file file;
    ck_assert_int_eq(whole_file_open(&file, path), 0);
    fputs("text", file.out);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(whole_file_commit(&file), 0);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(whole_file_open(&file, path), 0);
    fputs("other", file.out);
    whole_file_abandon(&file);
    struct stat facts;
    ck_assert_int_eq(stat(path, &facts), 0);
    ck_assert_int_eq(facts.st_size, 4);
    unlink(path);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(rmdir(path), 0); /* the folder contains nothing else */
}
END_TEST

START_TEST(a_link_stays_a_link)
{
    char target[100];
    char link[100];
    const char *const dir = temporary_dir();
    snprintf(target, sizeof target, "%s/target", dir);
    snprintf(link, sizeof link, "%s/link", dir);
    FILE *const empty = fopen(target, "w");
    ck_assert_ptr_nonnull(empty);
    fclose(empty);
    ck_assert_int_eq(symlink(target, link), 0);
    struct whole_file file;
    ck_assert_int_eq(whole_file_open(&file, link), 0);
    fputs("text", file.out);
    ck_assert_int_eq(whole_file_commit(&file), 0);
    struct stat facts;
    ck_assert_int_eq(lstat(link, &facts), 0);
    ck_assert(S_ISLNK(facts.st_mode));
    ck_assert_int_eq(stat(target, &facts), 0);
    ck_assert_int_eq(facts.st_size, 4);
    unlink(link);
    unlink(target);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
    if (access("/dev/full", W_OK))
        return;
    struct whole_file file;
    ck_assert_int_eq(whole_file_open(&file, "/dev/full"), 0);
    fputs("text", file.out);
    ck_assert_int_eq(whole_file_commit(&file), -ENOSPC);
    ck_assert_int_eq(access("/dev/full", F_OK), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        header_is_as_documented,
        record_is_the_same_after_writing_and_reading,
        damaged_lines_are_refused,
        old_rows_do_not_say_how_long_a_picture_stood,
        rows_are_in_presentation_order_segment_by_segment,
        rows_that_were_never_decoded_are_left_out,
        a_picture_without_a_packet_has_its_row,
        totals_count_each_verdict,
        two_fields_in_two_packets_are_one_row,
        unwanted_packets_are_no_second_fields,
        picture_is_degraded_if_one_of_its_fields_is,
        second_field_without_times_leaves_those_of_the_first,
        a_frame_lost_at_a_seek_keeps_its_row,
        reserved_memory_is_enough_for_a_long_film,
        a_feeder_far_ahead_reserves_for_every_packet,
        a_picture_that_never_came_out_has_no_verdict,
        a_log_that_is_not_kept_is_a_ring,
        a_file_appears_whole_or_not_at_all,
        a_link_stays_a_link,
        a_full_disk_is_reported,
        NULL,
    };
    return suite_run("rows", SUITE_TIMEOUT_DEFAULT, tests);
}
