/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report for people. */
#include <inttypes.h>
#include <string.h>

#include "report.h"

enum { DURATION_SIZE = 32, BAR = 24 };

/* Writes a duration in the unit that leaves one to three digits before the point; returns text. */
static const char *duration(double ns, char text[DURATION_SIZE])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    int unit = 0;
    for (; ns >= 1000 && unit < 3; unit++)
        ns /= 1000;
    snprintf(text, DURATION_SIZE, "%.*f %s", unit == 0 || ns >= 100 ? 0 : ns >= 10 ? 1 : 2, ns,
             units[unit]);
    return text;
}

static const char *bodies(uint64_t count)
{
    return count == 1 ? "body" : "bodies";
}

void dlex_text_head(const struct report *r)
{
    char wall[DURATION_SIZE], cpu[DURATION_SIZE], program[DURATION_SIZE];
    fprintf(r->out,
            "libdlex benchmark: no constraint below was enforced.\n"
            "An empty block measures %s of wall-clock and %s of CPU time, and costs its program %s. "
            "Nothing is subtracted.\n",
            duration((double)r->cost.wall_ns, wall), duration((double)r->cost.cpu_ns, cpu),
            duration((double)r->cost.program_ns, program));
}

static void put_constraint(const struct report *r, const struct samples *copy)
{
    char least[DURATION_SIZE], most[DURATION_SIZE];
    const uint64_t least_ns = ~copy->not_least_ns, most_ns = copy->most_ns;
    if (!copy->not_least_ns)
        fprintf(r->out, ", no constraint");
    else if (least_ns == most_ns)
        fprintf(r->out, ", %s", duration((double)most_ns, most));
    else
        fprintf(r->out, ", %s to %s", duration((double)least_ns, least),
                duration((double)most_ns, most));
}

static void put_counts(const struct report *r, const struct samples *copy, uint64_t ended)
{
    const uint64_t open = dlex_report_open(copy, ended);
    fprintf(r->out, "    %" PRIu64 " %s", ended, bodies(ended));
    if (copy->not_least_ns && ended > 0)
        fprintf(r->out, ", %" PRIu64 " (%.3g %%) would have missed the constraint", copy->missed,
                100.0 * (double)copy->missed / (double)ended);
    if (copy->left)
        fprintf(r->out, "; %" PRIu64 " left by an exception", copy->left);
    if (open)
        fprintf(r->out, "; %" PRIu64 " not ended", open);
    fputc('\n', r->out);
}

static void put_row(const struct report *r, const char *name, const struct histogram *copy)
{
    const struct histogram_summary s = dlex_histogram_summarise(copy);
    const double columns[] = { (double)s.min_ns, s.mean_ns, s.stddev_ns, (double)s.p50_ns,
                               (double)s.p90_ns, (double)s.p99_ns, (double)s.max_ns };
    char text[DURATION_SIZE];
    fprintf(r->out, "    %-5s", name);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        fprintf(r->out, "%10s", duration(columns[i], text));
    fputc('\n', r->out);
}

static void put_limits(const struct report *r, const struct samples *copy, uint64_t ended)
{
    const int64_t deadline_ns = dlex_report_limit(r, &copy->wall);
    const int64_t wcet_ns = dlex_report_limit(r, &copy->cpu);
    if (deadline_ns && wcet_ns)
        fprintf(r->out,
                "    For a miss ratio of at most %g: deadline %" PRId64 " ns, WCET %" PRId64
                " ns (95 %% sure if bodies are independent).\n",
                r->miss_ratio, deadline_ns, wcet_ns);
    else
        fprintf(r->out,
                "    %" PRIu64 " %s cannot show a miss ratio of %g: a limit for it needs %" PRIu64
                " bodies. n bodies say nothing about ratios below 1/n.\n",
                ended, bodies(ended), r->miss_ratio, r->needed);
}

/* Counts durations from 2^octave to just below the next power; 0 and 1 ns are in the first octave. */
static uint64_t in_octave(const struct histogram *copy, int octave)
{
    uint64_t count = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        const uint64_t low = (uint64_t)dlex_histogram_bucket(i).low_ns | 1;
        if (63 - __builtin_clzll(low) == octave)
            count += copy->buckets[i];
    }
    return count;
}

static void put_bar(const struct report *r, uint64_t count, uint64_t total, int width)
{
    static const char marks[BAR + 1] = "########################";
    const int length = (int)((double)count / (double)total * BAR + 0.999);
    fprintf(r->out, "  %10" PRIu64 " %-*.*s", count, width, length < BAR ? length : BAR, marks);
}

static void put_distribution(const struct report *r, const struct samples *copy, uint64_t ended)
{
    char from[DURATION_SIZE];
    fprintf(r->out, "      from  %12s %*s  %10s\n", "wall", BAR, "", "CPU");
    for (int octave = 0; octave < 48; octave++) {
        const uint64_t wall = in_octave(&copy->wall, octave), cpu = in_octave(&copy->cpu, octave);
        if (wall + cpu == 0)
            continue;
        fprintf(r->out, "    %8s", duration((double)(UINT64_C(1) << octave), from));
        put_bar(r, wall, ended, BAR);
        put_bar(r, cpu, ended, 0);
        fputc('\n', r->out);
    }
}

void dlex_text_site(const struct report *r, const struct site_total *total)
{
    const struct samples *const copy = &total->samples;
    const uint64_t ended = dlex_histogram_count(&copy->wall);
    fprintf(r->out, "\n%s:%d, %s: %s", total->site->file, total->site->line, total->site->function,
            dlex_report_kind(total->site->how));
    put_constraint(r, copy);
    fputc('\n', r->out);
    put_counts(r, copy, ended);
    if (ended == 0)
        return;
    fprintf(r->out, "         %10s%10s%10s%10s%10s%10s%10s\n", "min", "mean", "s.d.", "p50", "p90",
            "p99", "max");
    put_row(r, "wall", &copy->wall);
    put_row(r, "CPU", &copy->cpu);
    put_limits(r, copy, ended);
    put_distribution(r, copy, ended);
}
