/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "build_facts.h"
#include "machine.h"
#include "ns.h"

static const double overhead_goal = 1.01; /* for the upper end of the interval */
static const double jump_goal_us = 100;   /* above the raw timer, at p99 */

struct summary {
    size_t count;
    double p50_us, p99_us, max_us;
};

static struct summary summarize(const struct samples *samples)
{
    struct summary summary = {.count = samples->count};
    double *sorted = malloc((samples->count + 1) * sizeof(*sorted));
    if (!samples->count || !sorted)
        goto out;
    memcpy(sorted, samples->ns, samples->count * sizeof(*sorted));
    stats_sort(sorted, samples->count);
    summary.p50_us = stats_quantile(sorted, samples->count, 0.50) / 1e3;
    summary.p99_us = stats_quantile(sorted, samples->count, 0.99) / 1e3;
    summary.max_us = sorted[samples->count - 1] / 1e3;
out:
    free(sorted);
    return summary;
}

static void print_overhead(const struct gate_overhead *overhead)
{
    const struct stats_interval ratio = overhead->ratio;
    printf("Open gate, deadline an hour away, against pristine FFmpeg: CPU time, %d pictures,\n"
           "%d interleaved pairs\n"
           "  median ratio %.4f   95 %% interval %.4f to %.4f   pairs %.4f to %.4f\n"
           "  goal: interval below %.2f: %s\n",
           overhead->pictures, overhead->pair_count, ratio.median, ratio.low, ratio.high,
           overhead->spread_low, overhead->spread_high, overhead_goal,
           ratio.high < overhead_goal ? "reached" : "not reached");
}

static void print_summary(const char *name, struct summary summary)
{
    printf("  %-34s %6zu  %10.1f  %10.1f  %10.1f\n", name, summary.count, summary.p50_us,
           summary.p99_us, summary.max_us);
}

/* How much later than the raw timer control may come, at p99: by the jump, or one row more by the poll. */
static double limit_us(const struct latency_case *it)
{
    return it->latency.way == ABORT_BY_JUMP ? jump_goal_us : summarize(&it->latency.row_ns).p99_us;
}

static bool is_reached(const struct latency_case *it)
{
    return summarize(&it->latency.inside_ns).p99_us <= summarize(&it->latency.raw_ns).p99_us + limit_us(it);
}

static void print_case(const struct latency_case *it)
{
    printf("%s, %s, %s", it->clip, latency_case_way(it), it->is_fifo ? "fifo" : "other");
    if (it->latency.threads > 1)
        printf(", %d frame threads", it->latency.threads);
    if (it->load)
        printf(", beside %d programs that compute", it->load);
    printf("%s\n", it->is_measured ? "" : ": not measured");
    if (!it->is_measured)
        return;
    print_summary("inside a droppable picture", summarize(&it->latency.inside_ns));
    print_summary("raw timer to its handler", summarize(&it->latency.raw_ns));
    print_summary("waited for a protected section", summarize(&it->latency.waited_ns));
    if (it->latency.way == ABORT_BY_POLL)
        print_summary("one row", summarize(&it->latency.row_ns));
    if (!latency_case_has_goal(it))
        return;
    printf("  goal: p99 inside at most %.1f us more than the raw timer's: %s\n", limit_us(it),
           !it->latency.inside_ns.count ? "unmeasured" : is_reached(it) ? "reached" : "not reached");
}

static void print_latency(const struct latency_cases *cases)
{
    printf("Expired deadline to control, %.3f ms after the decode began; us\n"
           "  %-34s %6s  %10s  %10s  %10s\n",
           cases->cases[0].latency.deadline_base_ns / (double)NS_PER_MS, "", "count", "p50", "p99", "max");
    for (int i = 0; i < cases->count; i++)
        print_case(&cases->cases[i]);
    printf("  (waited: the deadline passed in headers, output or a reference picture, which are\n"
           "  never left in the middle; the time is the rest of that section)\n");
}

void report_print(const struct bench_report *report)
{
    printf("clip: %s\n\n", report->clip);
    if (report->overhead)
        print_overhead(report->overhead);
    else
        printf("Open gate against pristine FFmpeg: not measured, this build has none to compare\n"
               "with; ./dlex bench decode makes one\n");
    printf("\n");
    print_latency(report->cases);
}

static json_t *overhead_json(const struct gate_overhead *overhead)
{
    if (!overhead)
        return json_null();
    json_t *pairs = json_array();
    for (int i = 0; i < overhead->pair_count; i++)
        json_array_append_new(pairs, json_pack("{s:I, s:I}",
                                               "gated_ns", overhead->pairs[i].gated_ns,
                                               "pristine_ns", overhead->pairs[i].pristine_ns));
    return json_pack("{s:f, s:f, s:f, s:f, s:i, s:I, s:o}",
                     "ratio_median", overhead->ratio.median,
                     "ratio_low", overhead->ratio.low,
                     "ratio_high", overhead->ratio.high,
                     "goal_below", overhead_goal,
                     "pictures", overhead->pictures,
                     "bootstrap_seed", (json_int_t)overhead->seed,
                     "pairs", pairs);
}

static json_t *samples_json(const struct samples *samples)
{
    const struct summary summary = summarize(samples);
    json_t *trace = json_array();
    for (size_t i = 0; i < samples->count; i++)
        json_array_append_new(trace, json_integer(samples->ns[i]));
    return json_pack("{s:I, s:f, s:f, s:f, s:o}",
                     "count", (json_int_t)summary.count,
                     "p50_us", summary.p50_us,
                     "p99_us", summary.p99_us,
                     "max_us", summary.max_us,
                     "samples_ns", trace);
}

static json_t *case_json(const struct latency_case *it)
{
    const struct abort_latency *latency = &it->latency;
    const bool has_goal = latency_case_has_goal(it);
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:b, s:f, s:i, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "clip", it->clip,
                     "way", latency_case_way(it),
                     "policy", it->is_fifo ? "fifo" : "other",
                     "threads", latency->threads,
                     "load", it->load,
                     "measured", it->is_measured,
                     "deadline_base_ms", latency->deadline_base_ns / (double)NS_PER_MS,
                     "passes", latency->passes,
                     "inside", samples_json(&latency->inside_ns),
                     "raw_timer", samples_json(&latency->raw_ns),
                     "waited", samples_json(&latency->waited_ns),
                     "row", samples_json(&latency->row_ns),
                     "goal_above_raw_us", has_goal ? json_real(limit_us(it)) : json_null(),
                     "goal_reached", has_goal ? json_boolean(latency->inside_ns.count && is_reached(it)) : json_null());
}

static json_t *cases_json(const struct latency_cases *cases)
{
    json_t *list = json_array();
    for (int i = 0; i < cases->count; i++)
        json_array_append_new(list, case_json(&cases->cases[i]));
    return list;
}

static int replace_file(const char *path, const json_t *root)
{
    char *partial = NULL;
    if (asprintf(&partial, "%s.partial", path) < 0)
        return -ENOMEM;
    int ret = 0;
    errno = EIO;
    if (json_dump_file(root, partial, JSON_INDENT(1)) || rename(partial, path)) {
        ret = -errno;
        unlink(partial);
    }
    free(partial);
    return ret;
}

int report_write_json(const struct bench_report *report, const char *path)
{
    json_t *root = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}",
                             "benchmark", "decode",
                             "commit", DLEX_COMMIT,
                             "clip", report->clip,
                             "machine", machine_facts(),
                             "overhead", overhead_json(report->overhead),
                             "latency", cases_json(report->cases));
    if (!root)
        return -ENOMEM;
    const int ret = replace_file(path, root);
    json_decref(root);
    return ret;
}
