/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report for programs. Numbers are written as integers, since printf's decimal point is that of the
 * locale. */
#include <inttypes.h>

#include "report.h"

/* Returns how many bytes at text are one well-formed UTF-8 sequence beyond ASCII; 0: none. */
static int utf8_length(const unsigned char *text)
{
    static const struct { unsigned char mask, lead, low, high; int length; } forms[] = {
        { 0xff, 0xe0, 0xa0, 0xbf, 3 }, { 0xff, 0xed, 0x80, 0x9f, 3 }, /* no long forms, surrogates */
        { 0xff, 0xf0, 0x90, 0xbf, 4 }, { 0xff, 0xf4, 0x80, 0x8f, 4 }, /* to U+10FFFF */
        { 0xf0, 0xe0, 0x80, 0xbf, 3 }, { 0xf8, 0xf0, 0x80, 0xbf, 4 }, { 0xe0, 0xc0, 0x80, 0xbf, 2 },
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if ((text[0] & forms[i].mask) != forms[i].lead)
            continue;
        if (text[0] < 0xc2 || text[0] > 0xf4 || text[1] < forms[i].low || text[1] > forms[i].high)
            return 0;
        for (int n = 2; n < forms[i].length; n++) {
            if ((text[n] & 0xc0) != 0x80)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

/* File names are bytes: what is not UTF-8 becomes a replacement character. */
static void put_string(FILE *out, const char *string)
{
    const unsigned char *text = (const unsigned char *)string;
    fputc('"', out);
    for (; *text; text++) {
        const int length = *text < 0x80 ? 1 : utf8_length(text);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*text < 0x20 || *text == 0x7f)
            fprintf(out, "\\u%04x", *text);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length > 1 ? length - 1 : 0;
    }
    fputc('"', out);
}

static void put_tenths(FILE *out, double value)
{
    const uint64_t tenths = (uint64_t)(value * 10 + 0.5);
    fprintf(out, "%" PRIu64 ".%d", tenths / 10, (int)(tenths % 10));
}

/* Writes a ratio below 1. */
static void put_ratio(FILE *out, double ratio)
{
    fprintf(out, "%" PRIu64 "e-18", (uint64_t)(ratio * 1e18 + 0.5));
}

void dlex_json_head(const struct report *r)
{
    fprintf(r->out, "{\n  \"format\": \"dlex-benchmark\",\n  \"version\": 1,\n  \"miss_ratio\": ");
    put_ratio(r->out, r->miss_ratio);
    fprintf(r->out,
            ",\n  \"confidence_percent\": 95,\n  \"samples_needed\": %" PRIu64
            ",\n  \"empty_block\": {\"wall_ns\": %" PRId64 ", \"cpu_ns\": %" PRId64
            ", \"program_ns\": %" PRId64 "},\n  \"sites\": [",
            r->needed, r->cost.wall_ns, r->cost.cpu_ns, r->cost.program_ns);
}

static void put_buckets(FILE *out, const struct histogram *copy)
{
    const char *separator = "";
    fprintf(out, "\"histogram\": [");
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (copy->buckets[i] == 0)
            continue;
        const struct histogram_range b = dlex_histogram_bucket(i);
        fprintf(out, "%s[%" PRId64 ", %" PRId64 ", %" PRIu64 "]", separator, b.low_ns, b.high_ns,
                copy->buckets[i]);
        separator = ", ";
    }
    fputc(']', out);
}

/* Writes the figures of one clock; null where there are none. */
static void put_clock(FILE *out, const char *name, const struct histogram *copy)
{
    const struct histogram_summary s = dlex_histogram_summarise(copy);
    fprintf(out, ",\n     \"%s\": ", name);
    if (s.count == 0) {
        fprintf(out, "null");
        return;
    }
    fprintf(out, "{\"min_ns\": %" PRId64 ", \"mean_ns\": ", s.min_ns);
    put_tenths(out, s.mean_ns);
    fprintf(out, ", \"stddev_ns\": ");
    put_tenths(out, s.stddev_ns);
    fprintf(out,
            ", \"p50_ns\": %" PRId64 ", \"p90_ns\": %" PRId64 ", \"p99_ns\": %" PRId64
            ", \"max_ns\": %" PRId64 ",\n      ",
            s.p50_ns, s.p90_ns, s.p99_ns, s.max_ns);
    put_buckets(out, copy);
    fputc('}', out);
}

static void put_limit(FILE *out, const char *name, int64_t limit_ns)
{
    if (limit_ns)
        fprintf(out, "\"%s\": %" PRId64, name, limit_ns);
    else
        fprintf(out, "\"%s\": null", name);
}

static void put_constraint(FILE *out, const struct samples *copy)
{
    if (copy->not_least_ns)
        fprintf(out, "{\"min_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64 "}", ~copy->not_least_ns,
                copy->most_ns);
    else
        fprintf(out, "null");
}

void dlex_json_site(const struct report *r, const struct site_total *total, bool first)
{
    const struct samples *const copy = &total->samples;
    const uint64_t ended = dlex_histogram_count(&copy->wall);
    fprintf(r->out, "%s\n    {\"file\": ", first ? "" : ",");
    put_string(r->out, total->site->file);
    fprintf(r->out, ", \"line\": %d, \"function\": ", total->site->line);
    put_string(r->out, total->site->function);
    fprintf(r->out, ", \"kind\": \"%s\",\n     \"constraint\": ",
            dlex_report_kind(total->site->how));
    put_constraint(r->out, copy);
    fprintf(r->out,
            ",\n     \"count\": %" PRIu64 ", \"missed\": %" PRIu64
            ", \"left_by_exception\": %" PRIu64 ", \"not_ended\": %" PRIu64,
            ended, copy->missed, copy->left, dlex_report_open(copy, ended));
    put_clock(r->out, "wall", &copy->wall);
    put_clock(r->out, "cpu", &copy->cpu);
    fprintf(r->out, ",\n     \"suggested\": {");
    put_limit(r->out, "deadline_ns", dlex_report_limit(r, &copy->wall));
    fprintf(r->out, ", ");
    put_limit(r->out, "wcet_ns", dlex_report_limit(r, &copy->cpu));
    fprintf(r->out, "}}");
}

void dlex_json_tail(const struct report *r)
{
    fprintf(r->out, "\n  ]\n}\n");
}
