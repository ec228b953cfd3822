/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gates_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench_facts.h"
#include "host.h"

enum { NAME_SIZE = 64 };

static bool is_cell_of(const struct gates_cell *cell, const char *codec, struct decode_mode mode)
{
    return !strcmp(cell->codec, codec) && cell->mode.way == mode.way && (cell->mode.threads > 1) == (mode.threads > 1) &&
           (mode.threads == 1 || cell->mode.thread_type == mode.thread_type);
}

static struct gates_cell *find_cell(struct gates_report *report, const char *codec, struct decode_mode mode)
{
    for (int i = 0; i < report->cell_count; i++)
        if (is_cell_of(&report->cells[i], codec, mode))
            return &report->cells[i];
    if (report->cell_count == REPORT_CELLS_MAX)
        return &report->cells[REPORT_CELLS_MAX - 1]; /* there are fewer codecs and modes */
    struct gates_cell *const cell = &report->cells[report->cell_count++];
    *cell = (struct gates_cell){.codec = codec, .mode = mode};
    return cell;
}

static void add_differences(struct differences *sum, const struct differences *more)
{
    sum->wrong += more->wrong;
    sum->order += more->order;
    sum->marks += more->marks;
    sum->strays += more->strays;
    sum->reports += more->reports;
}

void report_add(struct gates_report *report, const char *codec, const char *clip, const struct gate_storm *storm)
{
    struct gates_cell *const cell = find_cell(report, codec, storm->mode);
    cell->clips++;
    cell->interrupted += storm->interrupted;
    cell->refused += storm->refused;
    cell->compared += storm->compared;
    add_differences(&cell->differences, &storm->differences);
    char mode[NAME_SIZE];
    if (differences_count(&storm->differences))
        printf("%s, %s: %s\n", clip, mode_name(storm->mode, mode, sizeof(mode)), storm->differences.first);
}

/* Returns "poll, frame threads" and the like. */
static const char *name_of(const struct gates_cell *cell, char *buffer, size_t size)
{
    mode_name(cell->mode, buffer, size);
    if (cell->mode.threads > 1) {
        char *const number = strchr(buffer, ',') + 2;
        memmove(number, strchr(number, ' ') + 1, strlen(strchr(number, ' ')));
    }
    return buffer;
}

int64_t report_faults(const struct gates_report *report)
{
    int64_t faults = 0;
    for (int i = 0; i < report->cell_count; i++)
        faults += differences_count(&report->cells[i].differences);
    return faults;
}

/* A decode that is refused before it begins is no abort, unless the codec knows nothing else. */
static int64_t aborts_of(const struct gates_report *report, const char *codec)
{
    int64_t sum = 0;
    for (int i = 0; i < report->cell_count; i++) {
        const struct gates_cell *const cell = &report->cells[i];
        if (!strcmp(cell->codec, codec))
            sum += cell->mode.way == WAY_WITHHOLD ? cell->refused : cell->interrupted;
    }
    return sum;
}

/* The cells of a codec are beside each other. */
static bool is_first_of_codec(const struct gates_report *report, int cell)
{
    return !cell || strcmp(report->cells[cell].codec, report->cells[cell - 1].codec);
}

int report_shortfalls(const struct gates_report *report)
{
    int count = 0;
    for (int i = 0; i < report->cell_count; i++)
        count += is_first_of_codec(report, i) && aborts_of(report, report->cells[i].codec) < report->wanted;
    return count;
}

static void print_shortfalls(const struct gates_report *report)
{
    for (int i = 0; i < report->cell_count; i++) {
        const char *const codec = report->cells[i].codec;
        if (is_first_of_codec(report, i) && aborts_of(report, codec) < report->wanted)
            printf("%s: only %" PRId64 " of %" PRId64 " decodes were given up\n", codec, aborts_of(report, codec), report->wanted);
    }
}

void report_print(const struct gates_report *report)
{
    printf("%-8s %-22s %12s %9s %10s %6s %6s %6s %6s %8s\n", "codec", "mode", "interrupted", "refused", "compared", "wrong",
           "order", "marks", "stray", "reports");
    int64_t aborts = 0;
    for (int i = 0; i < report->cell_count; i++) {
        const struct gates_cell *const cell = &report->cells[i];
        const struct differences *const found = &cell->differences;
        char name[NAME_SIZE];
        printf("%-8s %-22s %12" PRId64 " %9" PRId64 " %10" PRId64 " %6" PRId64 " %6" PRId64 " %6" PRId64 " %6" PRId64
               " %8" PRId64 "\n", cell->codec, name_of(cell, name, sizeof(name)), cell->interrupted, cell->refused,
               cell->compared, found->wrong, found->order, found->marks, found->strays, found->reports);
        aborts += cell->interrupted + cell->refused;
    }
    print_shortfalls(report);
    const int64_t faults = report_faults(report);
    printf("gates: %" PRId64 " pictures given up, seed %" PRIu64 ": ", aborts, report->seed);
    if (faults)
        printf("%" PRId64 " faults\n", faults);
    else
        printf("no fault\n");
}

static void write_cell(FILE *out, const struct gates_cell *cell)
{
    const struct differences *const found = &cell->differences;
    char name[NAME_SIZE];
    fprintf(out, "  {\"codec\": \"%s\", \"mode\": \"%s\", \"storms\": %d, \"interrupted\": %" PRId64 ", \"refused\": %" PRId64
            ", \"compared\": %" PRId64 ", \"wrong\": %" PRId64 ", \"order\": %" PRId64 ", \"marks\": %" PRId64
            ", \"strays\": %" PRId64 ", \"reports\": %" PRId64 "}", cell->codec, name_of(cell, name, sizeof(name)),
            cell->clips, cell->interrupted, cell->refused, cell->compared, found->wrong, found->order, found->marks,
            found->strays, found->reports);
}

int report_write_json(const struct gates_report *report, const char *path)
{
    FILE *const out = fopen(path, "w");
    if (!out)
        return -errno;
    struct host host;
    host_read(&host);
    fprintf(out, "{\n \"benchmark\": \"gates\", \"commit\": \"%s\", \"seed\": %" PRIu64 ",\n"
                 " \"machine\": {\"cpu\": \"%s\", \"kernel\": \"%s\", \"cpus\": %d, \"load\": %.2f},\n \"cells\": [\n",
            DLEX_COMMIT, report->seed, host.cpu, host.kernel, host.cpu_count, host.load);
    for (int i = 0; i < report->cell_count; i++) {
        write_cell(out, &report->cells[i]);
        fprintf(out, "%s\n", i + 1 < report->cell_count ? "," : "");
    }
    fprintf(out, " ]\n}\n");
    const bool failed = ferror(out);
    return fclose(out) != 0 || failed ? (errno ? -errno : -EIO) : 0;
}
