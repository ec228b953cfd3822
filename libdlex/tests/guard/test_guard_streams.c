/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams with libdlex-guard: each call runs in a section and does what libc's call does. The test uses
 * a stream with functions of its own (fopencookie), which record whether they run in a section. glibc has
 * no such streams of wide characters, so for wide functions the test checks only that they work. Not
 * here: streams on terminals and pipes, whose calls may wait.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "dlex_testing.h"

/* Functions that _FORTIFY_SOURCE calls. No header declares them. */
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
int __vfprintf_chk(FILE *f, int flag, const char *format, va_list ap);
int __sprintf_chk(char *s, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *s, size_t n, int flag, size_t room, const char *format, ...);
int __asprintf_chk(char **s, int flag, const char *format, ...);
int __fwprintf_chk(FILE *f, int flag, const wchar_t *format, ...);
char *__fgets_chk(char *s, size_t room, int n, FILE *f);
size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *f);
int __isoc99_fscanf(FILE *f, const char *format, ...);
int __isoc99_sscanf(const char *s, const char *format, ...);
int _IO_putc(int c, FILE *f);
int _IO_getc(FILE *f);

static int calls, unprotected_calls;
static char written[64];
static const char *food; /* text that the device returns again and again */
static size_t eaten;

static void feed(const char *text)
{
    food = text;
    eaten = 0;
}

static void note(void)
{
    calls++;
    unprotected_calls += dlex_guard_.depth <= 0;
}

static ssize_t device_read(void *unused, char *to, size_t size)
{
    (void)unused;
    note();
    for (size_t i = 0; i < size; i++)
        to[i] = food[eaten++ % strlen(food)];
    return size;
}

static ssize_t device_write(void *unused, const char *from, size_t size)
{
    (void)unused;
    note();
    strncat(written, from, size);
    return size;
}

static int device_seek(void *unused, off64_t *at, int whence)
{
    (void)unused;
    note();
    if (whence == SEEK_END)
        *at = 100;
    return 0;
}

static FILE *device;

/* Without a buffer (_IONBF) each call on the stream reaches the device. */
static void open_device(const char *mode, int buffering)
{
    const cookie_io_functions_t io = { device_read, device_write, device_seek, NULL };
    device = fopencookie(NULL, mode, io);
    setvbuf(device, NULL, buffering, BUFSIZ);
    calls = unprotected_calls = 0;
    written[0] = '\0';
}

static void close_device(int calls_at_least)
{
    fclose(device);
    ck_assert_int_ge(calls, calls_at_least);
    ck_assert_int_eq(unprotected_calls, 0);
}

static int vfprintf_to(FILE *f, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const int n = vfprintf(f, format, ap);
    va_end(ap);
    return n;
}

static int vfprintf_chk_to(FILE *f, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const int n = __vfprintf_chk(f, 1, format, ap);
    va_end(ap);
    return n;
}

START_TEST(every_function_that_writes_runs_in_a_section)
{
    open_device("w", _IONBF);
    const int a = fprintf(device, "%d%s", 12, "3");
    const int b = vfprintf_to(device, "%c", '4') + vfprintf_chk_to(device, "%c", '5');
    const int c = __fprintf_chk(device, 1, "%.1f", 6.0);
    fputc('a', device);
    putc('b', device);
    _IO_putc('c', device);
    fputs("d", device);
    fwrite("ef", 1, 2, device);
    fputc_unlocked('g', device);
    putc_unlocked('h', device);
    fputs_unlocked("i", device);
    fwrite_unlocked("j", 1, 1, device);
    ck_assert_int_eq(a * 100 + b * 10 + c, 323);
    ck_assert_str_eq(written, "123456.0abcdefghij");
    close_device(13);
}
END_TEST

START_TEST(buffered_data_is_written_in_a_section)
{
    open_device("w", _IOFBF);
    fputs("1", device);
    ck_assert_str_eq(written, "");
    fflush(device);
    fputs("2", device);
    fflush_unlocked(device);
    fputs("3", device);
    fseek(device, 0, SEEK_END);
    fputs("4", device);
    rewind(device);
    fputs("5", device);
    close_device(6);
    ck_assert_str_eq(written, "12345");
}
END_TEST

START_TEST(every_function_that_reads_runs_in_a_section)
{
    open_device("r", _IONBF);
    feed("1");
    char text[16] = "";
    char *line = NULL;
    size_t room = 0;
    int n = 0;
    ck_assert_int_eq(fgetc(device), '1');
    ck_assert_int_eq(getc(device), '1');
    ck_assert_int_eq(_IO_getc(device), '1');
    ck_assert_int_eq(fgetc_unlocked(device), '1');
    ck_assert_int_eq(getc_unlocked(device), '1');
    feed("\n");
    ck_assert_str_eq(fgets(text, 5, device), "\n");
    ck_assert_str_eq(__fgets_chk(text, sizeof(text), 5, device), "\n");
    ck_assert_int_eq(getline(&line, &room, device), 1);
    ck_assert_int_eq(getdelim(&line, &room, '\n', device), 1);
    free(line);
    feed("7 ");
    ck_assert_int_eq(fread(text, 1, 2, device), 2);
    ck_assert_int_eq(__fread_chk(text, sizeof(text), 1, 2, device), 2);
    ck_assert_int_eq(fscanf(device, "%d", &n), 1);
    ck_assert_int_eq(__isoc99_fscanf(device, "%d", &n), 1);
    ck_assert_int_eq(n, 7);
    ck_assert_int_eq(ungetc('x', device), 'x');
    ck_assert_int_eq(fgetc(device), 'x');
    close_device(13);
}
END_TEST

START_TEST(wide_characters_are_written_and_read_as_without_the_guard)
{
    FILE *const file = tmpfile();
    fputwc(L'a', file);
    putwc(L'b', file);
    fputws(L"c\n", file);
    fwprintf(file, L"%d ", 1);
    __fwprintf_chk(file, 1, L"%d", 2);
    rewind(file);
    wchar_t text[16];
    int one = 0, two = 0;
    ck_assert_int_eq(fgetwc(file), L'a');
    ck_assert_int_eq(ungetwc(L'b', file), L'b');
    ck_assert_int_eq(getwc(file), L'b');
    ck_assert_int_eq(wcscmp(fgetws(text, 5, file), L"bc\n"), 0);
    ck_assert_int_eq(fwscanf(file, L"%d %d", &one, &two), 2);
    ck_assert_int_eq(one * 10 + two, 12);
    ck_assert_int_gt(fwide(file, 0), 0);
    fclose(file);
}
END_TEST

START_TEST(strings_are_formatted_and_scanned_as_without_the_guard)
{
    char text[32], *made = NULL;
    wchar_t wide[32];
    int n = 0;
    const int room = sprintf(text, "%s-%d", "a", 1) + snprintf(text, 3, "%s", "bcde");
    ck_assert_int_eq(room, 7);
    ck_assert_str_eq(text, "bc");
    ck_assert_int_eq(__sprintf_chk(text, 1, sizeof(text), "%d", 42), 2);
    ck_assert_int_eq(__snprintf_chk(text, 9, 1, sizeof(text), "%d", 421), 3);
    ck_assert_str_eq(text, "421");
    ck_assert_int_eq(asprintf(&made, "%s", "made"), 4);
    free(made);
    ck_assert_int_eq(__asprintf_chk(&made, 1, "%s", "made again"), 10);
    free(made);
    ck_assert_int_eq(sscanf("x 17", "%*c %d", &n), 1);
    ck_assert_int_eq(n, 17);
    ck_assert_int_eq(__isoc99_sscanf("18", "%d", &n), 1);
    ck_assert_int_eq(n, 18);
    ck_assert_int_eq(swprintf(wide, 32, L"%ls", L"wide"), 4);
    ck_assert_int_eq(swscanf(L"19", L"%d", &n), 1);
    ck_assert_int_eq(n, 19);
}
END_TEST

START_TEST(position_and_state_of_a_file_are_as_without_the_guard)
{
    FILE *const file = tmpfile();
    fputs("0123456789", file);
    ck_assert_int_eq(ftell(file), 10);
    fpos_t at;
    ck_assert_int_eq(fgetpos(file, &at), 0);
    ck_assert_int_eq(fseeko(file, 4, SEEK_SET), 0);
    ck_assert_int_eq(fgetc(file), '4');
    ck_assert_int_eq(fsetpos(file, &at), 0);
    ck_assert_int_eq(ftello(file), 10);
    ck_assert_int_eq(fgetc(file), EOF);
    ck_assert(feof(file));
    clearerr(file);
    ck_assert(!feof(file) && !ferror(file));
    ck_assert_int_eq(fclose(file), 0);
    FILE *const pipe = popen("echo piped", "r");
    char text[16] = "";
    ck_assert_str_eq(fgets(text, sizeof(text), pipe), "piped\n");
    ck_assert_int_eq(pclose(pipe), 0);
}
END_TEST

static void print_for_ever(FILE *stream)
{
    for (;;)
        fprintf(stream, "a line that is %s or %s, %d%%\n", "whole", "absent", 100);
}

/* Returns how many lines were printed, and sets *torn to how many of them are wrong. */
static int count_lines(const char *text, int *torn)
{
    int lines = 0;
    *torn = 0;
    while (*text) {
        const char *const line = "a line that is whole or absent, 100%\n";
        *torn += strncmp(text, line, strlen(line)) != 0;
        text = strchrnul(text, '\n');
        text += *text == '\n';
        lines++;
    }
    return lines;
}

START_TEST(lines_printed_in_aborted_loops_are_whole)
{
    char *volatile text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream((char **)&text, &size);
    volatile int aborts = 0;
    for (volatile int i = 0; i < 2000; i++) {
        dlex_try_within_rel(INT64_C(10000) + i * 7919 % 20000) {
            print_for_ever(stream);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborts = aborts + 1;
        } dlex_end
    }
    ck_assert_int_eq(ftrylockfile(stream), 0);
    funlockfile(stream);
    fclose(stream);
    int torn;
    ck_assert_int_gt(count_lines(text, &torn), 100);
    ck_assert_int_eq(torn, 0);
    ck_assert_int_eq(aborts, 2000);
    free(text);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        every_function_that_writes_runs_in_a_section,
        buffered_data_is_written_in_a_section,
        every_function_that_reads_runs_in_a_section,
        wide_characters_are_written_and_read_as_without_the_guard,
        strings_are_formatted_and_scanned_as_without_the_guard,
        position_and_state_of_a_file_are_as_without_the_guard,
        lines_printed_in_aborted_loops_are_whole,
        NULL,
    };
    return suite_run("libdlex-guard streams", 120, tests);
}
