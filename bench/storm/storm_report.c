/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "storm_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "bench_facts.h"
#include "heap_ledger.h"
#include "host.h"
#include "ns.h"

enum { FAULTS = 11 };

/* One kind of fault. `key` is the name that programs read. */
struct fault {
    const char *key, *text;
    uint64_t count;
};

static void sum_up(const struct storm_report *report, struct fault faults[FAULTS])
{
    uint64_t stalled = 0, bytes = 0, descriptors = 0, not_aborted = 0;
    for (int i = 0; i < report->runs; i++) {
        const struct storm_result *const r = &report->results[i];
        stalled += r->stalled;
        bytes += r->leaked_bytes > 0 ? (uint64_t)r->leaked_bytes : 0;
        descriptors += (uint64_t)abs(r->leaked_descriptors);
        not_aborted += r->not_aborted;
    }
    const struct fault all[FAULTS] = {
        { "stalled", "blocks without progress", stalled },
        { "not_aborted", "blocks that ended without a violation", not_aborted },
        { "damaged_memory", "pieces of memory damaged", storm_faults.damaged_memory },
        { "unprotected_calls", "calls of the allocator outside a section",
          heap_ledger_unprotected() },
        { "ledger_overflows", "pieces of memory for which the ledger had no room", heap_ledger_overflows() },
        { "torn_records", "records torn", storm_faults.torn_records },
        { "damaged_counters", "counters damaged", storm_faults.damaged_counters },
        { "open_sections", "sections or locks still counted after their block",
          storm_faults.open_sections },
        { "locks_held", "locks still locked after the threads ended", (uint64_t)report->locks_held },
        { "leaked_bytes", "bytes leaked", bytes },
        { "leaked_descriptors", "descriptors leaked", descriptors },
    };
    for (int i = 0; i < FAULTS; i++)
        faults[i] = all[i];
}

uint64_t storm_report_faults(const struct storm_report *report)
{
    struct fault faults[FAULTS];
    sum_up(report, faults);
    uint64_t sum = 0;
    for (int i = 0; i < FAULTS; i++)
        sum += faults[i].count;
    return sum;
}

static double rate(const struct storm_result *r)
{
    return r->duration_ns ? (double)storm_aborts(r) * (double)NS_PER_S / (double)r->duration_ns : 0;
}

static void print_runs(const struct storm_report *report, uint64_t *aborts, uint64_t *left)
{
    printf("threads    aborts  aborts/s");
    for (int kind = 0; kind < STORM_KINDS; kind++)
        printf(" %9s", storm_kind_names[kind]);
    printf("\n");
    for (int i = 0; i < report->runs; i++) {
        const struct storm_result *const r = &report->results[i];
        printf("%7d %9" PRIu64 " %9.0f", r->threads, storm_aborts(r), rate(r));
        for (int kind = 0; kind < STORM_KINDS; kind++)
            printf(" %9" PRIu64, r->aborts[kind]);
        printf("\n");
        *aborts += storm_aborts(r);
        *left += r->left_pieces;
    }
}

void storm_report_print(const struct storm_report *report)
{
    struct fault faults[FAULTS];
    sum_up(report, faults);
    uint64_t aborts = 0, left = 0;
    print_runs(report, &aborts, &left);
    printf("\n");
    for (int i = 0; i < FAULTS; i++)
        printf("%9" PRIu64 "  %s\n", faults[i].count, faults[i].text);
    printf("\nAborted heap loops left %" PRIu64 " pieces of memory behind. The ledger of this "
           "benchmark found them; a program uses dlex_scoped_malloc instead.\n", left);
    const uint64_t sum = storm_report_faults(report);
    if (sum)
        printf("storm: %" PRIu64 " aborts, seed %u: %" PRIu64 " faults\n", aborts, report->seed,
               sum);
    else
        printf("storm: %" PRIu64 " aborts, seed %u: no fault\n", aborts, report->seed);
}

static void write_run(FILE *out, const struct storm_result *r)
{
    fprintf(out, "  {\"threads\": %d, \"aborts\": %" PRIu64 ", \"aborts_per_s\": %.1f", r->threads,
            storm_aborts(r), rate(r));
    for (int kind = 0; kind < STORM_KINDS; kind++)
        fprintf(out, ", \"%s\": %" PRIu64, storm_kind_names[kind], r->aborts[kind]);
    fprintf(out, ", \"left_pieces\": %" PRIu64 ", \"leaked_bytes\": %" PRId64 "}", r->left_pieces,
            r->leaked_bytes);
}

static void write_json(FILE *out, const struct storm_report *report)
{
    struct host host;
    host_read(&host);
    struct fault faults[FAULTS];
    sum_up(report, faults);
    fprintf(out, "{\n \"benchmark\": \"storm\", \"commit\": \"%s\", \"seed\": %u,\n"
                 " \"machine\": {\"cpu\": \"%s\", \"kernel\": \"%s\", \"cpus\": %d, "
                 "\"load\": %.2f},\n \"runs\": [\n",
            DLEX_COMMIT, report->seed, host.cpu, host.kernel, host.cpu_count, host.load);
    for (int i = 0; i < report->runs; i++) {
        write_run(out, &report->results[i]);
        fprintf(out, "%s\n", i + 1 < report->runs ? "," : "");
    }
    fprintf(out, " ],\n \"faults\": {");
    for (int i = 0; i < FAULTS; i++)
        fprintf(out, "%s\"%s\": %" PRIu64, i ? ", " : "", faults[i].key, faults[i].count);
    fprintf(out, "}\n}\n");
}

int storm_report_write_json(const struct storm_report *report, const char *path)
{
    FILE *const out = fopen(path, "w");
    if (!out)
        return -errno;
    write_json(out, report);
    const bool failed = ferror(out);
    return fclose(out) != 0 || failed ? (errno ? -errno : -EIO) : 0;
}
