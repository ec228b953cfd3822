/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The detectors on what real players did: traces/, which record_traces.py has recorded. NAME.jobs has the jobs of a program's threads,
 * for the detector that is used, and NAME.calls the entries and exits of its system calls, for that of seed 003. Each trace says which
 * rate the film had (0: it was no film but a conversion), and what the seed's detector said about these events when they were recorded,
 * right or wrong.
 *
 * Not covered: how often a rate is found (`./dlex bench detect`), and watching (test_process_watch, test_period_command.py).
 *
 * Run as: test_period_traces FOLDER
 */
#include "period_paper.h"
#include "period_vote.h"

#include "suite.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 1 << 16, THREADS_MAX = 64, LINE_SIZE = 512, PATTERN_SIZE = 4096 };

static const int64_t jobs_ns = INT64_C(4000000000), ns_per_us = 1000;
/* Half of what 23.976 and 24, 29.97 and 30, or 59.94 and 60 differ by. */
static const double accuracy = 0.5 / 1001;

static struct trace {
    const char *path;
    struct standard_rate rate; /* numerator 0: not periodic */
    double paper_hz;           /* 0: not periodic */
    struct thread_event events[EVENTS_MAX];
    int64_t count;
    struct period_thread threads[THREADS_MAX];
    int thread_count;
} trace;
static struct period_work work;
static int64_t times_ns[EVENTS_MAX];
static const char *folder;

/* Adds a line of a file of jobs, whose threads follow each other. */
static void add_job(int thread, int64_t begin_us, int64_t cpu_us)
{
    ck_assert_msg(trace.count < EVENTS_MAX && thread < THREADS_MAX, "%s is too large", trace.path);
    trace.events[trace.count] = (struct thread_event){.time_ns = begin_us * ns_per_us, .cpu_ns = cpu_us * ns_per_us};
    if (thread == trace.thread_count)
        trace.threads[trace.thread_count++].events = &trace.events[trace.count];
    ck_assert_msg(thread == trace.thread_count - 1, "the threads of %s are not in order", trace.path);
    trace.threads[thread].count++;
    trace.count++;
}

static void read_line(const char *line)
{
    int thread, at = 0;
    long long begin_us, cpu_us;
    if (sscanf(line, "# rate: %d/%d", &trace.rate.numerator, &trace.rate.denominator) >= 1 ||
        sscanf(line, "# paper: %lf", &trace.paper_hz) == 1)
        return;
    if (sscanf(line, "%d,%lld,%lld", &thread, &begin_us, &cpu_us) == 3)
        add_job(thread, begin_us, cpu_us);
    else if (sscanf(line, "%lld%n", &begin_us, &at) == 1 && line[at] == '\n')
        add_job(0, begin_us, 0);
}

static void read_trace(const char *path)
{
    char line[LINE_SIZE];
    trace = (struct trace){.path = path, .rate = {.numerator = -1, .denominator = 1}, .paper_hz = -1};
    FILE *const file = fopen(path, "r");
    ck_assert_msg(file, "%s cannot be read", path);
    while (fgets(line, sizeof line, file))
        read_line(line);
    fclose(file);
    ck_assert_msg(trace.count && trace.rate.numerator >= 0 && trace.paper_hz >= 0, "%s is not a trace", path);
}

/* Calls check for each trace of this kind, and returns their number. */
static int each_trace(const char *kind, void (*check)(void))
{
    char pattern[PATTERN_SIZE];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.%s", folder, kind);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        read_trace(found.gl_pathv[i]);
        check();
    }
    const int count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

static struct picture_rate detect(void)
{
    struct picture_rate rate;
    ck_assert_int_eq(period_vote(&rate, trace.threads, trace.thread_count, jobs_ns, &work), 0);
    return rate;
}

static void expect_rate(void)
{
    const struct picture_rate found = detect();
    if (!trace.rate.numerator) {
        ck_assert_msg(found.verdict == PERIOD_NONE, "%s: verdict %d, %.4f Hz", trace.path, (int)found.verdict, found.hz);
        return;
    }
    const double hz = standard_rate_hz(trace.rate);
    ck_assert_msg(found.verdict == PERIOD_FOUND && fabs(found.hz - hz) <= accuracy * hz, "%s: verdict %d, %.4f Hz", trace.path,
                  (int)found.verdict, found.hz);
    ck_assert_msg(found.standard.numerator == trace.rate.numerator && found.standard.denominator == trace.rate.denominator,
                  "%s: %.4f Hz, s.e. %.4f, is not named", trace.path, found.hz, found.sd_hz);
}

START_TEST(rate_of_each_player_is_found_and_named_and_a_conversion_has_none)
{
    ck_assert_int_gt(each_trace("jobs", expect_rate), 0);
}
END_TEST

static double paper_hz(void)
{
    struct period_paper found;
    for (int64_t i = 0; i < trace.count; i++)
        times_ns[i] = trace.events[i].time_ns;
    ck_assert_int_eq(period_paper_detect(&found, &period_paper_defaults, times_ns, trace.count, &work.spectrum), 0);
    return found.hz;
}

static void expect_paper(void)
{
    ck_assert_msg(paper_hz() == trace.paper_hz, "%s: %.0f Hz", trace.path, paper_hz());
}

START_TEST(detector_of_the_paper_says_what_it_said_at_the_recording)
{
    ck_assert_int_gt(each_trace("calls", expect_paper), 0);
    ck_assert_int_gt(each_trace("jobs", expect_paper), 0);
}
END_TEST

/* The paper's claim is about this player, by its system calls, at 25 pictures per second; its steps are 1 Hz. */
START_TEST(detector_of_the_paper_finds_the_rate_of_the_papers_player)
{
    char path[PATTERN_SIZE];
    snprintf(path, sizeof path, "%s/mplayer-25.calls", folder);
    read_trace(path);
    ck_assert_double_eq(paper_hz(), 25);
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = {
        rate_of_each_player_is_found_and_named_and_a_conversion_has_none,
        detector_of_the_paper_says_what_it_said_at_the_recording,
        detector_of_the_paper_finds_the_rate_of_the_papers_player,
        NULL,
    };
    if (argc != 2)
        return EXIT_FAILURE;
    folder = argv[1];
    return suite_run("period_traces", SUITE_TIMEOUT_DEFAULT, tests);
}
