/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "period_report.h"

#include "ns.h"
#include "period_paper.h"
#include "switch_ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_rate(const struct observation *seen)
{
    const struct picture_rate *const rate = &seen->rate;
    if (rate->verdict == PERIOD_UNKNOWN)
        printf("Too few jobs in %.1f s to find a rate. If the player is paused, let it play.\n", ns_to_s(seen->observed_ns));
    else if (rate->verdict == PERIOD_NONE)
        puts("Not periodic: no thread works at a steady rate.");
    else if (rate->standard.numerator)
        printf("%.5g pictures per second (measured %.4f +/- %.4f), by %d of %d threads\n", standard_rate_hz(rate->standard),
               rate->hz, rate->sd_hz, rate->threads, seen->count);
    else
        printf("%.4f per second (+/- %.4f), by %d of %d threads\n", rate->hz, rate->sd_hz, rate->threads, seen->count);
}

static void print_thread(const struct observation *seen, const struct process_watch *watch, int number)
{
    const struct period_thread *const thread = &seen->threads[number];
    const struct period *const found = &thread->found;
    printf("%8d  %-16s%7.2f %%", (int)process_watch_id(watch, number), process_watch_name(watch, number), 100 * found->cpu_share);
    if (thread->hz > 0)
        printf("%11.3f", thread->hz);
    else
        printf("%11s", found->verdict == PERIOD_NONE ? "none" : "?");
    if (thread->part)
        printf("   1/%-4d", thread->part);
    else
        printf("%9s", "");
    if (thread->hz > 0)
        printf("%9.3f", found->cpu_share / thread->hz * 1e3);
    if (found->rates)
        printf("%8.2f", found->rate[0].regularity);
    putchar('\n');
}

static void print_threads(const struct observation *seen, const struct process_watch *watch)
{
    printf("\n%8s  %-16s%9s%11s   part  %9s%8s\n", "thread", "name", "CPU", "rate, Hz", "ms a job", "regular");
    for (int i = 0; i < seen->count; i++)
        print_thread(seen, watch, i);
    puts("\npart: of the picture rate; 1/3 is one thread in three of a decoder. regular: 1 if all jobs begin at the same phase.");
}

/*
 * The paper watches one process as a whole: all threads' jobs are one series of events. Returns false if its detector has nothing to
 * work with.
 */
static bool detect_as_paper(struct observation *seen, struct period_paper *found)
{
    int64_t count = 0, taken = 0;
    for (int i = 0; i < seen->count; i++)
        count += seen->threads[i].count;
    int64_t *const times_ns = malloc((size_t)count * sizeof *times_ns + 1);
    for (int i = 0; times_ns && i < seen->count; i++)
        for (int64_t k = 0; k < seen->threads[i].count; k++)
            times_ns[taken++] = seen->threads[i].events[k].time_ns;
    const bool is_done = taken && !period_paper_detect(found, &period_paper_defaults, times_ns, taken, &seen->work.spectrum);
    free(times_ns);
    return is_done;
}

static void print_paper(struct observation *seen)
{
    static const char *const reasons[] = {
        [PAPER_NOT_PERIODIC] = "no candidate", [PAPER_FEW] = "the largest of few candidates",
        [PAPER_REGRESSION] = "by regression", [PAPER_LARGEST] = "the largest candidate",
    };
    struct period_paper found;
    if (detect_as_paper(seen, &found))
        printf("The paper's detector: %.0f Hz (%s; 0: not periodic)\n", found.hz, reasons[found.step]);
}

static void print_gaps(const struct process_watch *watch)
{
    const struct process_watch_gaps gaps = process_watch_gaps(watch);
    char text[SWITCH_RING_REMEDY_SIZE];
    if (gaps.lost_records)
        printf("%lld context switches were lost; the figures are less certain.\n", (long long)gaps.lost_records);
    if (gaps.unwatched)
        printf("%d threads are missing: %s.\n", gaps.unwatched,
               gaps.error ? switch_ring_remedy(gaps.error, text) : "there are too many");
}

void period_report_text(struct observation *seen, const struct process_watch *watch, bool with_paper)
{
    print_rate(seen);
    print_threads(seen, watch);
    if (with_paper)
        print_paper(seen);
    print_gaps(watch);
}

static const char *verdict_text(enum period_verdict verdict)
{
    static const char *const texts[] = {
        [PERIOD_UNKNOWN] = "unknown", [PERIOD_NONE] = "not periodic", [PERIOD_FOUND] = "periodic",
    };
    return texts[verdict];
}

/* Names of threads may contain anything but a zero. */
static void write_string(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ' || (unsigned char)*text >= 127)
            printf("\\u%04x", (unsigned char)*text);
        else
            putchar(*text);
    putchar('"');
}

/* Writes a number and the comma before it, or null if it is not above 0. */
static void write_positive(const char *key, double value)
{
    if (value > 0)
        printf(", \"%s\": %.9g", key, value);
    else
        printf(", \"%s\": null", key);
}

static void write_thread(const struct observation *seen, const struct process_watch *watch, int number)
{
    const struct period_thread *const thread = &seen->threads[number];
    printf("%s\n    {\"id\": %d, \"name\": ", number ? "," : "", (int)process_watch_id(watch, number));
    write_string(process_watch_name(watch, number));
    printf(", \"verdict\": \"%s\", \"cpu_share\": %.9g", verdict_text(thread->found.verdict), thread->found.cpu_share);
    write_positive("hz", thread->hz);
    write_positive("part", thread->part);
    write_positive("cpu_per_period_ms", thread->hz > 0 ? thread->found.cpu_share / thread->hz * 1e3 : 0);
    write_positive("regularity", thread->found.rates ? thread->found.rate[0].regularity : 0);
    putchar('}');
}

void period_report_json(struct observation *seen, const struct process_watch *watch, bool with_paper)
{
    struct period_paper paper = {.hz = 0};
    const struct picture_rate *const rate = &seen->rate;
    const struct process_watch_gaps gaps = process_watch_gaps(watch);
    printf("{\n  \"observed_s\": %.9g, \"verdict\": \"%s\"", ns_to_s(seen->observed_ns), verdict_text(rate->verdict));
    write_positive("hz", rate->hz);
    write_positive("hz_sd", rate->sd_hz);
    write_positive("standard_hz", standard_rate_hz(rate->standard));
    if (with_paper) {
        detect_as_paper(seen, &paper);
        write_positive("paper_hz", paper.hz);
    }
    printf(",\n  \"lost_switches\": %" PRId64 ", \"unwatched_threads\": %d,\n  \"threads\": [", gaps.lost_records, gaps.unwatched);
    for (int i = 0; i < seen->count; i++)
        write_thread(seen, watch, i);
    puts("\n  ]\n}");
}
