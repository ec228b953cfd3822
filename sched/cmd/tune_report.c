/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tune_report.h"

#include "ns.h"
#include "user_command.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

static const double percent = 100;

int tune_report_begin(struct tune_report *report, const char *record_path, bool is_dry, bool is_quiet, int64_t now_ns)
{
    *report = (struct tune_report){.is_dry = is_dry, .is_quiet = is_quiet, .begun_ns = now_ns};
    if (!record_path)
        return 0;
    const int error = user_command_create_file(&report->record, record_path);
    if (error)
        return error;
    fputs("second,hz,reserved,used,throttled,tuned,threads,limited,off\n", report->record);
    return 0;
}

bool tune_report_has_reader(void)
{
    struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&error, 1, 0);
}

/* Returns the rate to show: the usual one that it is, or the measured one. */
static double shown_hz(const struct picture_rate *rate)
{
    return rate->standard.numerator ? standard_rate_hz(rate->standard) : rate->hz;
}

static void print_line(const struct tune_report *report, const struct tune_second *second)
{
    if (second->rate.verdict == PERIOD_FOUND)
        fprintf(stderr, "dlex-sched: %.5g pictures/s, ", shown_hz(&second->rate));
    else
        fprintf(stderr, "dlex-sched: %s, ", second->rate.verdict == PERIOD_NONE ? "not periodic" : "no rate yet");
    if (!second->tuned)
        fprintf(stderr, "%d threads\n", second->threads);
    else
        fprintf(stderr, "%s %.1f %%, used %.1f %%, throttled %" PRId64 " times, %d of %d threads%s%s\n",
                report->is_dry ? "would reserve" : "reserved", percent * second->reserved, percent * second->used, second->throttled,
                second->tuned, second->threads, second->is_limited ? "; they need more" : "",
                second->is_off ? "; switched off to compare" : "");
}

/* The record is complete up to here whatever happens. */
static void write_row(struct tune_report *report, const struct tune_second *second, int64_t now_ns)
{
    fprintf(report->record, "%.3f,%.6f,%.6f,%.6f,%" PRId64 ",%d,%d,%d,%d\n", ns_to_s(now_ns - report->begun_ns),
            second->rate.verdict == PERIOD_FOUND ? second->rate.hz : 0, second->reserved, second->used, second->throttled,
            second->tuned, second->threads, second->is_limited, second->is_off);
    if (fflush(report->record) && !report->record_error)
        report->record_error = -errno;
}

void tune_report_second(struct tune_report *report, const struct tune_second *second, int64_t now_ns)
{
    report->seconds++;
    report->limited_seconds += second->is_limited;
    report->throttled += second->throttled;
    if (second->rate.verdict == PERIOD_FOUND)
        report->rate = second->rate;
    if (second->reserved > 0) {
        report->tuned_seconds++;
        report->reserved_sum += second->reserved;
        report->used_sum += second->used;
        if (second->reserved > report->reserved_most)
            report->reserved_most = second->reserved;
    }
    if (!report->is_quiet && tune_report_has_reader())
        print_line(report, second);
    if (report->record)
        write_row(report, second, now_ns);
}

static double own_cpu_s(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage))
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void print_cost(const struct tune_report *report, int64_t now_ns)
{
    const double lasted_s = ns_to_s(now_ns - report->begun_ns);
    if (report->tuned_seconds)
        fprintf(stderr, "dlex-sched: %s %.1f %% of a CPU (at most %.1f %%) for %d s, of which %.1f %% were used; budgets ran out "
                "%" PRId64 " times\n", report->is_dry ? "would have reserved" : "reserved",
                percent * report->reserved_sum / report->tuned_seconds, percent * report->reserved_most, report->tuned_seconds,
                percent * report->used_sum / report->tuned_seconds, report->throttled);
    else
        fprintf(stderr, "dlex-sched: nothing was reserved%s\n",
                report->rate.verdict == PERIOD_FOUND ? "" : ", because no thread worked at a steady rate");
    if (report->limited_seconds)
        fprintf(stderr, "dlex-sched: for %d s the player needed more than may be reserved; --limit allows more of a CPU, as far as "
                "the kernel admits it\n", report->limited_seconds);
    if (lasted_s > 0)
        fprintf(stderr, "dlex-sched: watching used %.2f %% of a CPU\n", percent * own_cpu_s() / lasted_s);
}

static void print_comparison(const struct wake_comparison *comparison)
{
    const struct wake_result result = wake_comparison_result(comparison);
    static const char *const meanings[] = {
        [WAKE_NO_DIFFERENCE] = "the reservations made no difference", [WAKE_HELPED] = "the reservations helped",
        [WAKE_HARMED] = "the reservations did harm",
    };
    if (result.verdict == WAKE_TOO_FEW)
        fputs("dlex-sched: too short to decide whether the reservations helped: that takes three windows of 5 s with "
              "reservations, each followed by one without, in which the player plays\n", stderr);
    else
        fprintf(stderr, "dlex-sched: the threads woke up %.2f ms late with reservations and %.2f ms without (95th percentile; "
                "medians of %d pairs of windows): %s\n", result.with_ns / (double)NS_PER_MS,
                result.without_ns / (double)NS_PER_MS, comparison->pairs, meanings[result.verdict]);
}

static void print_end(const struct tune_report *report, const struct wake_comparison *comparison, int64_t lost, int64_t now_ns)
{
    print_cost(report, now_ns);
    if (lost)
        fprintf(stderr, "dlex-sched: %" PRId64 " context switches were not seen; the figures are less certain\n", lost);
    if (comparison)
        print_comparison(comparison);
    else if (report->tuned_seconds && !report->is_dry)
        fputs("dlex-sched: --check finds out whether it helps\n", stderr);
}

void tune_report_end(const struct tune_report *report, const struct wake_comparison *comparison, int64_t lost, int64_t now_ns)
{
    if (tune_report_has_reader())
        print_end(report, comparison, lost, now_ns);
}

int tune_report_close(struct tune_report *report)
{
    if (report->record && fclose(report->record) && !report->record_error)
        report->record_error = -errno;
    report->record = NULL;
    return report->record_error;
}
