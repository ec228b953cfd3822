/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of benchmark mode: limits, text, JSON, and the file at exit. For the file this program runs
 * itself with the name of a scenario. Not here: what is measured (test_dlex_benchmark.c), and the layout
 * of the text. */
#define DLEX_BENCHMARK
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlex_testing.h"
#include "report.h"
#include "tolerance.h"

static void enter(int times)
{
    for (volatile int i = 0; i < times; i++) {
        dlex_try_within_rel(HOUR) {
        } dlex_end
    }
}

static void enter_forever(void)
{
    dlex_try_within_wcet(INT64_MAX) {
        exit(3);
    } dlex_end
}

dlex_define_exception(trouble) dlex_extends(dlex_exception);

/* Bytes that are not UTF-8, which compilers do not allow in __FILE__: a stray byte, an overlong form, a
 * surrogate, an unfinished sequence. Also a valid character of four bytes. */
static struct dlex_samples_ byte_samples;
static struct dlex_measure_ bytes = {
    "\377,\340\200\200,\355\240\200,\360\237\230\200,\303", "enter_bytes", 1, DLEX_REL_,
    &byte_samples, NULL, 0,
};

static void enter_bytes(void)
{
    dlex_open_at_(, &bytes, dlex_benchmark_begin_(&dlex_block_, HOUR)) {
    } dlex_end
}

/* A file name with characters that JSON must escape (quote, backslash, control), and UTF-8. */
#line 7 "a\"b\\c\td\303\244.c"
static void enter_strange_file(void)
{
    dlex_try_within_abs_cooperative(0) {
    } dlex_end
    dlex_try_within_wcet_shielded(5) {
        dlex_throw(trouble);
    } dlex_handle dlex_when_any {
    } dlex_end
}
#line 60 "test_dlex_report.c"

/* The caller frees it. */
static char *report(enum dlex_benchmark_format format, double miss_ratio)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(dlex_benchmark_write(out, format, miss_ratio), 0);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* Returns P(at most j of n), computed as a sum. */
static double binomial_up_to(int64_t j, int64_t n, double p)
{
    double sum = 0;
    for (int64_t i = 0; i <= j; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1)
                   + (double)i * log(p) + (double)(n - i) * log1p(-p));
    return sum;
}

START_TEST(number_of_samples_above_a_limit_matches_the_binomial_distribution)
{
    for (int64_t n = 1; n < 300000; n = n * 5 / 3 + 1) {
        for (double p = 0.5; p > 1e-5; p /= 3) {
            const int64_t above = dlex_tolerance_above((uint64_t)n, p);
            ck_assert_double_gt(binomial_up_to(above + 1, n, p), 0.05 - 1e-9);
            if (above >= 0)
                ck_assert_double_le(binomial_up_to(above, n, p), 0.05 + 1e-9);
        }
    }
}
END_TEST

/* The tables are those of Wilks: 59 samples for 95 % of the population with confidence 95 %. */
START_TEST(samples_needed_are_those_of_the_tables)
{
    ck_assert_uint_eq(dlex_tolerance_samples(0.05), 59);
    ck_assert_uint_eq(dlex_tolerance_samples(0.01), 299);
    ck_assert_uint_eq(dlex_tolerance_samples(0.001), 2995);
    for (double p = 0.9; p > 1e-6; p /= 2) {
        const uint64_t n = dlex_tolerance_samples(p);
        ck_assert_int_ge(dlex_tolerance_above(n, p), 0);
        ck_assert_int_eq(dlex_tolerance_above(n - 1, p), -1);
    }
}
END_TEST

START_TEST(limit_is_just_above_the_sample_of_its_rank)
{
    static struct histogram h;
    struct report r = { .miss_ratio = 0.01 };
    for (int i = 1; i <= 298; i++)
        dlex_histogram_add(&h, i * 1000);
    ck_assert_int_eq(dlex_report_limit(&r, &h), 0);
    dlex_histogram_add(&h, 299 * 1000);
    ck_assert_int_eq(dlex_report_limit(&r, &h), 299 * 1000 + 1);
}
END_TEST

/* Returns the limit for 1000 samples, of which so many are short and the others are long. */
static int64_t limit_of_two_lengths(int short_ones, double miss_ratio)
{
    struct histogram *h = calloc(1, sizeof(*h));
    ck_assert_ptr_nonnull(h);
    for (int i = 0; i < 1000; i++)
        dlex_histogram_add(h, i < short_ones ? 5 : 9);
    const struct report r = { .miss_ratio = miss_ratio };
    const int64_t limit_ns = dlex_report_limit(&r, h);
    free(h);
    return limit_ns;
}

START_TEST(limit_has_exactly_the_allowed_number_of_samples_above_it)
{
    const int above = (int)dlex_tolerance_above(1000, 0.1);
    ck_assert_int_gt(above, 50);
    ck_assert_int_eq(limit_of_two_lengths(1000 - above, 0.1), 6);
    ck_assert_int_eq(limit_of_two_lengths(1000 - above - 1, 0.1), 10);
}
END_TEST

START_TEST(one_body_is_reported_in_the_singular)
{
    dlex_benchmark_reset();
    enter(1);
    char *text = report(DLEX_BENCHMARK_TEXT, 0.01);
    ck_assert_ptr_nonnull(strstr(text, "enter: rel, 3600 s\n    1 body, 0 (0 %)"));
    ck_assert_ptr_nonnull(strstr(text, "    1 body cannot show a miss ratio of 0.01"));
    free(text);
}
END_TEST

START_TEST(text_proposes_limits_only_with_the_needed_number_of_samples)
{
    dlex_benchmark_reset();
    enter(298);
    char *text = report(DLEX_BENCHMARK_TEXT, 0.01);
    ck_assert_ptr_nonnull(strstr(text, "enter: rel, 3600 s\n    298 bodies, 0 (0 %)"));
    ck_assert_ptr_nonnull(strstr(text, "298 bodies cannot show a miss ratio of 0.01"));
    ck_assert_ptr_nonnull(strstr(text, "a limit for it needs 299 bodies"));
    free(text);
    enter(1);
    text = report(DLEX_BENCHMARK_TEXT, 0.01);
    ck_assert_ptr_nonnull(strstr(text, "For a miss ratio of at most 0.01: deadline "));
    ck_assert_ptr_null(strstr(text, "299 bodies cannot tell"));
    free(text);
}
END_TEST

/* Reads the report as another program would, and compares its figures with each other. */
static const char checker[] =
    "import json, sys\n"
    "r = json.load(sys.stdin)\n"
    "sites = {(s['file'], s['line']): s for s in r['sites']}\n"
    "strange = [s for s in r['sites'] if s['function'] == 'enter_strange_file']\n"
    "assert [s['file'] for s in strange] == ['a\"b\\\\c\\td\\u00e4.c'] * 2, strange\n"
    "assert [s['line'] for s in strange] == [9, 11]\n"
    "assert [s['kind'] for s in strange] == ['abs_cooperative', 'wcet_shielded']\n"
    "assert [s['count'] for s in strange] == [1, 0]\n"
    "assert [s['missed'] for s in strange] == [1, 0]\n"
    "assert [s['left_by_exception'] for s in strange] == [0, 1]\n"
    "assert strange[1]['constraint'] == {'min_ns': 5, 'max_ns': 5}\n"
    "assert strange[1]['wall'] is None\n"
    "bad, = [s['file'] for s in r['sites'] if s['function'] == 'enter_bytes']\n"
    "assert bad == '\\ufffd,' + 2 * '\\ufffd\\ufffd\\ufffd,' + '\\U0001f600,\\ufffd', ascii(bad)\n"
    "plain, = [s for s in r['sites'] if s['function'] == 'enter']\n"
    "assert plain['count'] == 1000 and plain['missed'] == plain['not_ended'] == 0\n"
    "for clock in 'wall', 'cpu':\n"
    "    c = plain[clock]\n"
    "    assert sum(n for low, high, n in c['histogram']) == 1000\n"
    "    assert c['histogram'][0][0] <= c['min_ns'] <= c['histogram'][0][1]\n"
    "    assert c['histogram'][-1][0] <= c['max_ns'] <= c['histogram'][-1][1]\n"
    "    assert c['min_ns'] <= c['p50_ns'] <= c['p90_ns'] <= c['p99_ns'] <= c['max_ns']\n"
    "    assert c['min_ns'] - 1 <= c['mean_ns'] <= c['max_ns'] + 1 and c['stddev_ns'] >= 0\n"
    "s = plain['suggested']\n"
    "assert s['deadline_ns'] > plain['wall']['p90_ns'] and s['wcet_ns'] > plain['cpu']['p90_ns']\n"
    "assert strange[0]['suggested'] == {'deadline_ns': None, 'wcet_ns': None}\n"
    "assert abs(r['miss_ratio'] - 0.0123) < 1e-12 and r['samples_needed'] > 200\n"
    "assert r['empty_block']['program_ns'] >= r['empty_block']['wall_ns'] > 0\n";

START_TEST(json_is_read_by_python)
{
    if (system("command -v python3 >/dev/null") != 0)
        return;
    dlex_benchmark_reset();
    enter(1000);
    enter_strange_file();
    enter_bytes();
    setenv("CHECKER", checker, 1);
    char *const text = report(DLEX_BENCHMARK_JSON, 0.0123);
    FILE *const python = popen("python3 -c \"$CHECKER\"", "w");
    ck_assert_ptr_nonnull(python);
    fputs(text, python);
    free(text);
    ck_assert_int_eq(pclose(python), 0);
}
END_TEST

START_TEST(wrong_arguments_and_streams_are_errors)
{
    FILE *const null = fopen("/dev/null", "w"), *const full = fopen("/dev/full", "w");
    FILE *const unwritable = fopen("/dev/null", "r");
    ck_assert(null && full && unwritable);
    enter(1);
    errno = 42;
    ck_assert_int_eq(dlex_benchmark_write(null, DLEX_BENCHMARK_TEXT, 0.5), 0);
    ck_assert_int_eq(errno, 42);
    ck_assert_int_eq(dlex_benchmark_write(null, DLEX_BENCHMARK_TEXT, 0), -EINVAL);
    ck_assert_int_eq(dlex_benchmark_write(null, DLEX_BENCHMARK_TEXT, 1), -EINVAL);
    ck_assert_int_eq(dlex_benchmark_write(null, DLEX_BENCHMARK_JSON, NAN), -EINVAL);
    ck_assert_int_eq(dlex_benchmark_write(null, (enum dlex_benchmark_format)7, 0.5), -EINVAL);
    ck_assert_int_eq(dlex_benchmark_write(full, DLEX_BENCHMARK_JSON, 0.5), -ENOSPC);
    ck_assert_int_eq(dlex_benchmark_write(unwritable, DLEX_BENCHMARK_TEXT, 0.5), -EBADF);
    fclose(null);
    fclose(full);
    fclose(unwritable);
}
END_TEST

/* Makes a directory for a test of the files that a process writes. */
static char directory[] = "/tmp/dlex-report-XXXXXX";

static const char *path(const char *name)
{
    static char text[sizeof(directory) + 64];
    snprintf(text, sizeof(text), "%s/%s", directory, name);
    return text;
}

/* Runs this program with the name of a scenario, and returns its exit status. Its stderr goes to the
 * file "said". */
static int run_scenario(const char *scenario, const char *benchmark)
{
    char command[512];
    char self[256] = "";
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
    setenv("SELF", self, 1);
    snprintf(command, sizeof(command), "cd %s && DLEX_BENCHMARK=%s \"$SELF\" %s >out 2>said",
             directory, benchmark, scenario);
    const int status = system(command);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The caller frees it. */
static char *content(const char *name)
{
    char *const text = calloc(1, 1 << 20);
    FILE *const in = fopen(path(name), "r");
    ck_assert_msg(in != NULL, "%s is not there", name);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, in), (1 << 20) - 1);
    fclose(in);
    return text;
}

static void assert_content(const char *name, const char *beginning, const char *part)
{
    char *const text = content(name);
    ck_assert_msg(strncmp(text, beginning, strlen(beginning)) == 0, "%s: %s", name, text);
    ck_assert_msg(strstr(text, part) != NULL, "%s: %s", name, text);
    free(text);
}

static void assert_said(const char *text)
{
    char *const said = content("said");
    ck_assert_str_eq(said, text);
    free(said);
}

START_TEST(process_writes_the_report_to_its_file_when_it_ends)
{
    ck_assert_int_eq(run_scenario("enter", "report.json"), 0);
    assert_said("");
    assert_content("report.json", "{", "\"function\": \"enter\"");
    ck_assert_int_eq(run_scenario("enter", "report.text"), 0);
    assert_content("report.text", "libdlex benchmark: ", "enter: rel");
    char pattern[sizeof(directory) + 64];
    snprintf(pattern, sizeof(pattern), "test -z \"$(ls %s | grep part)\"", directory);
    ck_assert_int_eq(system(pattern), 0);
}
END_TEST

START_TEST(without_a_file_the_report_is_on_stderr)
{
    ck_assert_int_eq(run_scenario("enter", ""), 0);
    assert_content("said", "libdlex benchmark: ", "enter: rel");
    ck_assert_int_eq(run_scenario("enter", "-"), 0);
    assert_content("said", "libdlex benchmark: ", "enter: rel");
}
END_TEST

START_TEST(process_without_a_measured_block_prints_nothing)
{
    ck_assert_int_eq(run_scenario("nothing", ""), 0);
    assert_said("");
}
END_TEST

START_TEST(exit_inside_a_body_reports_it_as_not_ended)
{
    ck_assert_int_eq(run_scenario("forever", "forever.json"), 3);
    assert_content("forever.json", "{", "\"count\": 0, \"missed\": 0, \"left_by_exception\": 0, "
                                        "\"not_ended\": 1");
}
END_TEST

START_TEST(forked_child_leaves_the_report_to_its_parent)
{
    ck_assert_int_eq(run_scenario("fork", "fork.json"), 0);
    assert_content("fork.json", "{", "\"count\": 2,");
}
END_TEST

START_TEST(symbolic_link_is_followed_and_not_replaced)
{
    char name[sizeof(directory) + 64];
    snprintf(name, sizeof(name), "%s", path("target.json"));
    FILE *const target = fopen(name, "w");
    ck_assert_ptr_nonnull(target);
    fclose(target);
    ck_assert_int_eq(symlink(name, path("link.json")), 0);
    ck_assert_int_eq(run_scenario("enter", "link.json"), 0);
    assert_content("target.json", "{", "\"function\": \"enter\"");
}
END_TEST

START_TEST(failure_to_write_the_report_is_one_sentence_on_stderr)
{
    ck_assert_int_eq(run_scenario("enter", "no/where.json"), 0);
    assert_said("libdlex: the benchmark report could not be written to no/where.json: "
                "No such file or directory\n");
}
END_TEST

/* Status 1: the child has written the file. */
static int fork_and_exit(void)
{
    enter(1);
    const pid_t child = fork();
    if (child == 0) {
        enter(1);
        exit(0);
    }
    waitpid(child, NULL, 0);
    enter(1);
    return access("fork.json", F_OK) == 0;
}

static int play(const char *scenario)
{
    if (strcmp(scenario, "enter") == 0)
        enter(1);
    else if (strcmp(scenario, "forever") == 0)
        enter_forever();
    else if (strcmp(scenario, "fork") == 0)
        return fork_and_exit();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return play(argv[1]);
    const TTest *const tests[] = {
        number_of_samples_above_a_limit_matches_the_binomial_distribution,
        samples_needed_are_those_of_the_tables,
        limit_is_just_above_the_sample_of_its_rank,
        limit_has_exactly_the_allowed_number_of_samples_above_it,
        one_body_is_reported_in_the_singular,
        text_proposes_limits_only_with_the_needed_number_of_samples,
        json_is_read_by_python,
        wrong_arguments_and_streams_are_errors,
        process_writes_the_report_to_its_file_when_it_ends,
        without_a_file_the_report_is_on_stderr,
        process_without_a_measured_block_prints_nothing,
        exit_inside_a_body_reports_it_as_not_ended,
        forked_child_leaves_the_report_to_its_parent,
        symbolic_link_is_followed_and_not_replaced,
        failure_to_write_the_report_is_one_sentence_on_stderr,
        NULL,
    };
    if (!mkdtemp(directory))
        return EXIT_FAILURE;
    const int result = suite_run("libdlex report", 120, tests);
    char remove[sizeof(directory) + 16];
    snprintf(remove, sizeof(remove), "rm -r %s", directory);
    setenv("DLEX_BENCHMARK", "/dev/null", 1);
    return system(remove) == 0 ? result : EXIT_FAILURE;
}
