/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "figure_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_facts.h"

static size_t goals_held(const struct figures *figures)
{
    size_t held = 0;
    for (size_t i = 0; i < figures->count; i++)
        held += figure_holds(&figures->list[i]);
    return held;
}

/* Small ratios are easiest to read as 1/n. The goals are written in the same way. */
static void print_value(const struct figure *figure)
{
    const struct stats_interval v = figure->value;
    if (figure->kind == FIGURE_COUNT)
        printf("%10s %10s  %.0f of %-18zu", "", "", v.median, figure->tries);
    else if (figure->kind == FIGURE_DIFFERENCE)
        printf("%10.1f %10.1f  %+.2f (%+.2f to %+.2f)", figure->ours_ns, figure->raw_ns, v.median,
               v.low, v.high);
    else if (v.median < 0.5)
        printf("%10.1f %10.1f  1/%.1f (1/%.1f to 1/%.1f)", figure->ours_ns, figure->raw_ns,
               1 / v.median, 1 / v.low, 1 / v.high);
    else
        printf("%10.1f %10.1f  %.3f (%.3f to %.3f)", figure->ours_ns, figure->raw_ns, v.median,
               v.low, v.high);
}

static void print_figure(const struct figure *figure)
{
    printf("%s, against %s\n  ", figure->what, figure->against);
    if (figure->failure)
        printf("not measured: %s", figure->failure);
    else
        print_value(figure);
    printf("   goal %s: %s\n", figure->goal_text, figure_holds(figure) ? "yes" : "no");
}

static void print_host(const struct host *host)
{
    printf("%s, %d CPUs, %s, %d Hz tick, governor %s, clock %s, load %.2f\n", host->cpu,
           host->cpu_count, host->kernel, host->tick_hz, host->governor, host->clock_source,
           host->load);
}

void figure_report_print(const struct figure_report *report)
{
    const struct figures *figures = report->figures;
    print_host(report->host);
    printf("libdlex %s; both sides measured in turns, %zu rounds of each cost%s\n"
           "Each line: ns, raw ns, ratio or difference (95 %% interval of the median, whose upper\n"
           "end must reach the goal)\n\n",
           DLEX_COMMIT, report->rounds, report->quick ? " (--quick: less certain)" : "");
    for (size_t i = 0; i < figures->count; i++)
        print_figure(&figures->list[i]);
    printf("\n%zu of %zu goals hold\n", goals_held(figures), figures->count);
}

static void write_string(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": \"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void write_number(FILE *out, const char *name, double value)
{
    if (isfinite(value))
        fprintf(out, ", \"%s\": %.9g", name, value);
    else
        fprintf(out, ", \"%s\": null", name);
}

static void write_rounds(FILE *out, const struct figure *figure)
{
    fprintf(out, ", \"rounds\": [");
    for (size_t i = 0; i < figure->round_count; i++)
        fprintf(out, "%s%.9g", i ? ", " : "", figure->rounds[i]);
    fprintf(out, "]");
}

static void write_figure(FILE *out, const struct figure *figure)
{
    static const char *const kinds[] = {"ratio", "difference_ns", "count"};
    fprintf(out, "  {");
    write_string(out, "what", figure->what);
    fprintf(out, ", ");
    write_string(out, "against", figure->against);
    fprintf(out, ", \"kind\": \"%s\", \"holds\": %s", kinds[figure->kind],
            figure_holds(figure) ? "true" : "false");
    write_number(out, "goal", figure->goal);
    if (figure->failure) {
        fprintf(out, ", ");
        write_string(out, "failure", figure->failure);
    } else {
        write_number(out, "value", figure->value.median);
        write_number(out, "low", figure->value.low);
        write_number(out, "high", figure->value.high);
    }
    if (figure->kind == FIGURE_COUNT) {
        fprintf(out, ", \"tries\": %zu", figure->tries);
    } else if (!figure->failure) {
        write_number(out, "ours_ns", figure->ours_ns);
        write_number(out, "raw_ns", figure->raw_ns);
        write_rounds(out, figure);
    }
    fprintf(out, "}");
}

static void write_host(FILE *out, const struct host *host)
{
    fprintf(out, " \"machine\": {");
    write_string(out, "cpu", host->cpu);
    fprintf(out, ", ");
    write_string(out, "kernel", host->kernel);
    fprintf(out, ", ");
    write_string(out, "governor", host->governor);
    fprintf(out, ", ");
    write_string(out, "clock_source", host->clock_source);
    fprintf(out, ", \"cpus\": %d, \"tick_hz\": %d, \"load\": %.2f},\n", host->cpu_count,
            host->tick_hz, host->load);
}

static void write_json(FILE *out, const struct figure_report *report)
{
    const struct figures *figures = report->figures;
    fprintf(out, "{\n \"benchmark\": \"libdlex\", ");
    write_string(out, "commit", DLEX_COMMIT);
    fprintf(out, ", \"quick\": %s,\n", report->quick ? "true" : "false");
    write_host(out, report->host);
    fprintf(out, " \"goals\": %zu, \"goals_held\": %zu,\n \"figures\": [\n", figures->count,
            goals_held(figures));
    for (size_t i = 0; i < figures->count; i++) {
        write_figure(out, &figures->list[i]);
        fprintf(out, "%s\n", i + 1 < figures->count ? "," : "");
    }
    fprintf(out, " ]\n}\n");
}

int figure_report_write_json(const struct figure_report *report, const char *path)
{
    char *partial = NULL;
    if (asprintf(&partial, "%s.partial", path) < 0)
        return -ENOMEM;
    int ret = 0;
    FILE *out = fopen(partial, "w");
    if (!out) {
        ret = -errno;
        goto out;
    }
    write_json(out, report);
    const int failed = ferror(out);
    if (fclose(out) || failed || rename(partial, path)) {
        ret = errno ? -errno : -EIO;
        unlink(partial);
    }
out:
    free(partial);
    return ret;
}
