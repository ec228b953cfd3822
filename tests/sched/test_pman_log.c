/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of a table: a ring, which a reader follows while it is written. */
#include "pman_log.h"

#include <pthread.h>
#include <string.h>

#include "suite.h"

static struct pman_log ring;

static void add(int count)
{
    for (int i = 0; i < count; i++) {
        const struct pman_log_record record = {.time_ns = i, .number = i, .value = -i, .kind = PMAN_LOG_START, .process = 3};
        pman_log_add(&ring, &record);
    }
}

START_TEST(records_come_out_as_they_went_in)
{
    struct pman_log_reader reader = {0};
    struct pman_log_record record;
    ck_assert_int_eq(pman_log_read(&reader, &ring, &record), 0);
    add(5);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(pman_log_read(&reader, &ring, &record), 1);
        ck_assert_int_eq(record.number, i);
        ck_assert_int_eq(record.value, -i);
        ck_assert_int_eq(record.process, 3);
    }
    ck_assert_int_eq(pman_log_read(&reader, &ring, &record), 0);
}
END_TEST

START_TEST(later_reader_begins_with_the_next_record)
{
    struct pman_log_reader reader;
    struct pman_log_record record;
    add(3);
    pman_log_follow(&reader, &ring);
    ck_assert_int_eq(pman_log_read(&reader, &ring, &record), 0);
    add(1);
    ck_assert_int_eq(pman_log_read(&reader, &ring, &record), 1);
}
END_TEST

START_TEST(overwritten_records_are_counted)
{
    struct pman_log_reader reader = {0};
    struct pman_log_record record;
    int read = 0;
    add(PMAN_LOG_SIZE + 10);
    while (pman_log_read(&reader, &ring, &record))
        ck_assert_int_eq(record.number, 11 + read++);
    ck_assert_int_eq(read, PMAN_LOG_SIZE - 1); /* the oldest one could be overwritten at any moment */
    ck_assert_int_eq(reader.lost, 11);
}
END_TEST

enum { RECORDS = 1000000 };

static void *write_records(void *unused)
{
    for (int64_t i = 1; i <= RECORDS; i++) {
        const struct pman_log_record record = {.time_ns = i, .number = 7 * i, .value = 13 * i};
        pman_log_add(&ring, &record);
    }
    return unused;
}

START_TEST(no_record_is_torn)
{
    pthread_t writer;
    struct pman_log_reader reader = {0};
    struct pman_log_record record;
    int64_t read = 0;
    ck_assert_int_eq(pthread_create(&writer, NULL, write_records, NULL), 0);
    while (read + reader.lost < RECORDS) {
        if (!pman_log_read(&reader, &ring, &record))
            continue;
        read++;
        ck_assert_int_eq(record.number, 7 * record.time_ns);
        ck_assert_int_eq(record.value, 13 * record.time_ns);
        ck_assert_int_eq(record.time_ns, read + reader.lost);
    }
    pthread_join(writer, NULL);
    ck_assert_int_gt(read, PMAN_LOG_SIZE / 2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        records_come_out_as_they_went_in,
        later_reader_begins_with_the_next_record,
        overwritten_records_are_counted,
        no_record_is_torn,
        NULL,
    };
    return suite_run("pman_log", 60, tests);
}
