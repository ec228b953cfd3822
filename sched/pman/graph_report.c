/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "graph_report.h"

#include "ns.h"
#include "pman_services.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const status_names[] = {
    [PMAN_FREE] = "free", [PMAN_REGISTERED] = "registered", [PMAN_IDLE] = "idle", [PMAN_BLOCKED] = "blocked",
    [PMAN_WAITING] = "waiting", [PMAN_RUNNING] = "running", [PMAN_DIED] = "died",
};

/* Large; only the main thread uses it. */
static struct pman_table table;

int graph_report_begin(struct graph_report *report, struct pman_shared *shared, const char *path)
{
    *report = (struct graph_report){.shared = shared, .begun_ns = pman_now_ns(), .output.file = STDOUT_FILENO};
    pman_log_follow(&report->reader, &shared->log);
    if (!path)
        return 0;
    report->log = fopen(path, "we");
    if (!report->log)
        return -errno;
    fputs("time_ns,kind,process,number,tick,value\n", report->log);
    return 0;
}

static void write_record(FILE *log, const struct pman_log_record *record)
{
    const char *const name = record->process < 0 ? "" : table.process[record->process].name;
    fprintf(log, "%" PRId64 ",%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n", record->time_ns,
            pman_log_kind_name((enum pman_log_kind)record->kind), name, record->number, record->tick, record->value);
}

void graph_report_follow(struct graph_report *report)
{
    struct pman_log_record record;
    if (!report->log || pman_services_view(report->shared, &table))
        return;
    while (pman_log_read(&report->reader, &report->shared->log, &record))
        write_record(report->log, &record);
}

static void print_process(FILE *line, const struct pman_process *process, const char *separator)
{
    fprintf(line, "%s{\"name\": \"%s\", \"status\": \"%s\", \"pid\": %" PRId32 ", \"priority\": %" PRId32 ", \"activations\": %" PRId64
           ", \"misses\": %" PRId64 ", \"skips\": %" PRId64 "}", separator, process->name, status_names[process->status],
           process->pid, process->priority, process->activations, process->misses, process->skips);
}

static void print_table(FILE *line, const struct graph_report *report)
{
    const char *separator = "";
    fprintf(line, "{\"seconds\": %.3f, \"ticks\": %" PRId64 ", \"lost_ticks\": %" PRId64 ", \"lost_records\": %" PRId64
           ", \"processes\": [", ns_to_s(pman_now_ns() - report->begun_ns), table.ticks, report->shared->lost_ticks,
           report->reader.lost);
    for (int i = 0; i < table.used; i++) {
        if (table.process[i].status == PMAN_FREE)
            continue;
        print_process(line, &table.process[i], separator);
        separator = ", ";
    }
    fputs("]}\n", line);
}

int graph_report_print(struct graph_report *report, bool is_last)
{
    char *text = NULL;
    size_t size = 0;
    int error = pman_services_view(report->shared, &table);
    if (error)
        return error;
    FILE *const line = open_memstream(&text, &size);
    if (!line)
        return -ENOMEM;
    print_table(line, report);
    error = ferror(line) | fclose(line) ? -ENOMEM : line_writer_put(&report->output, text, size, is_last);
    free(text);
    return error;
}

int graph_report_close_log(struct graph_report *report)
{
    const int error = report->log && (ferror(report->log) | fclose(report->log)) ? -EIO : 0;
    report->log = NULL;
    return error;
}

int graph_report_end(struct graph_report *report, int stop)
{
    return line_writer_end(&report->output, stop);
}
