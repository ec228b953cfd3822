/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines for a reader that does not read all the time. Not covered: terminals. */
#include "line_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

enum { LINE_SIZE = 20000 }; /* more than a page, and no multiple of one */

static int ends[2];
static struct line_writer writer;

/* A pipe that takes three such lines, and a part of a fourth one. */
static void begin(void)
{
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETPIPE_SZ, 65536), 65536);
    writer = (struct line_writer){.file = ends[1]};
}

static void put(char letter, bool must_keep)
{
    static char line[LINE_SIZE];
    memset(line, letter, LINE_SIZE - 1);
    line[LINE_SIZE - 1] = '\n';
    ck_assert_int_eq(line_writer_put(&writer, line, LINE_SIZE, must_keep), 0);
}

/* Reads up to so many bytes, as many as come. */
static size_t read_all(char *text, size_t size)
{
    size_t got = 0;
    for (ssize_t part = 1; got < size && part > 0; got += (size_t)part) {
        part = read(ends[0], text + got, size - got);
        ck_assert_int_ge(part, 0);
    }
    return got;
}

static void expect_lines(const char *letters)
{
    static char text[10 * LINE_SIZE];
    const size_t lines = strlen(letters);
    ck_assert_uint_eq(read_all(text, lines * LINE_SIZE), lines * LINE_SIZE);
    for (size_t i = 0; i < lines * LINE_SIZE; i++)
        ck_assert_int_eq(text[i], i % LINE_SIZE == LINE_SIZE - 1 ? '\n' : letters[i / LINE_SIZE]);
}

START_TEST(lines_without_a_reader_are_left_out_as_a_whole)
{
    begin();
    for (char letter = 'a'; letter <= 'z'; letter++)
        put(letter, false); /* none of them waits: else the test does not end */
    ck_assert_uint_gt(writer.size, 0);
    char first[LINE_SIZE];
    ck_assert_uint_eq(read_all(first, LINE_SIZE), LINE_SIZE);
    ck_assert_int_eq(first[0], 'a');
    put('A', false); /* after the rest of d */
    expect_lines("bcd");
    put('B', false);
    ck_assert_int_eq(line_writer_end(&writer, -1), 0);
    close(ends[1]);
    expect_lines("AB");
    ck_assert_int_eq(read(ends[0], first, 1), 0);
}
END_TEST

static void *read_late(void *lines)
{
    usleep(50000);
    expect_lines(lines);
    return NULL;
}

START_TEST(last_line_is_kept_and_waited_for)
{
    pthread_t reader;
    begin();
    for (char letter = 'a'; letter <= 'f'; letter++)
        put(letter, false);
    put('z', true);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_late, "abcdz"), 0);
    ck_assert_int_eq(line_writer_end(&writer, -1), 0);
    pthread_join(reader, NULL);
    ck_assert_ptr_null(writer.unwritten);
}
END_TEST

START_TEST(waiting_ends_when_it_has_to_stop)
{
    int stop[2];
    begin();
    ck_assert_int_eq(pipe2(stop, O_CLOEXEC), 0);
    for (char letter = 'a'; letter <= 'f'; letter++)
        put(letter, false);
    ck_assert_int_eq(write(stop[1], "", 1), 1);
    ck_assert_int_eq(line_writer_end(&writer, stop[0]), 0);
}
END_TEST

START_TEST(errors_are_reported)
{
    signal(SIGPIPE, SIG_IGN);
    begin();
    close(ends[0]);
    ck_assert_int_eq(line_writer_put(&writer, "a\n", 2, false), -EPIPE);
    ck_assert_int_eq(line_writer_end(&writer, -1), -EPIPE);
    writer = (struct line_writer){.file = open("/dev/full", O_WRONLY | O_CLOEXEC)};
    ck_assert_int_eq(line_writer_put(&writer, "a\n", 2, false), -ENOSPC);
    line_writer_end(&writer, -1);
}
END_TEST

START_TEST(closed_file_is_reported_at_the_end_only_so_that_the_work_goes_on)
{
    writer = (struct line_writer){.file = open("/dev/null", O_RDONLY | O_CLOEXEC)};
    for (int line = 0; line < 3; line++)
        ck_assert_int_eq(line_writer_put(&writer, "a\n", 2, line == 2), 0);
    ck_assert_int_eq(line_writer_end(&writer, -1), -EBADF);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        lines_without_a_reader_are_left_out_as_a_whole, last_line_is_kept_and_waited_for, waiting_ends_when_it_has_to_stop,
        errors_are_reported, closed_file_is_reported_at_the_end_only_so_that_the_work_goes_on, NULL,
    };
    return suite_run("line_writer", 60, tests);
}
