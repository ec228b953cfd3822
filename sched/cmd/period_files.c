/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "period_files.h"

#include "job_times.h"
#include "ns.h"
#include "spectrum_plot.h"
#include "user_command.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A spectrum of fewer jobs has peaks by chance. */
enum { PANELS_MAX = 8, JOBS_MIN = 10, TITLE_SIZE = 96 };

static bool open_one(FILE **file, const char *program, const char *path)
{
    if (!path)
        return true;
    const int error = user_command_create_file(file, path);
    if (error)
        fprintf(stderr, "%s: cannot write %s: %s\n", program, path, strerror(-error));
    return !error;
}

bool period_files_open(struct period_files *files, const char *program, const char *plot, const char *record)
{
    *files = (struct period_files){.plot = NULL};
    return open_one(&files->plot, program, plot) && open_one(&files->record, program, record);
}

static void record_jobs(FILE *file, const struct observation *seen, const struct process_watch *watch, int64_t from_ns)
{
    fputs("thread,second,cpu_ms\n", file);
    for (int i = 0; i < seen->count; i++)
        for (int64_t k = 0; k < seen->threads[i].count; k++) {
            const struct thread_event *const job = &seen->threads[i].events[k];
            fprintf(file, "%d,%.9f,%.6f\n", (int)process_watch_id(watch, i), ns_to_s(job->time_ns - from_ns), ns_to_ms(job->cpu_ns));
        }
}

/* Returns the busiest thread among those that have enough jobs and are not chosen yet; -1 if there is none. */
static int busiest(const struct observation *seen, const bool *is_chosen)
{
    int found = -1;
    for (int i = 0; i < seen->count; i++)
        if (!is_chosen[i] && seen->threads[i].count >= JOBS_MIN &&
            (found < 0 || seen->threads[i].found.cpu_share > seen->threads[found].found.cpu_share))
            found = i;
    return found;
}

/* Leaves the numbers of the threads to draw in `chosen`, the busiest first. Returns how many there are. */
static int choose(const struct observation *seen, int chosen[PANELS_MAX])
{
    bool is_chosen[WATCHED_THREADS_MAX] = {false};
    int count = 0;
    for (int thread; count < PANELS_MAX && (thread = busiest(seen, is_chosen)) >= 0; count++) {
        chosen[count] = thread;
        is_chosen[thread] = true;
    }
    return count;
}

static void plot_jobs(FILE *file, struct observation *seen, const struct process_watch *watch)
{
    int chosen[PANELS_MAX];
    const int panels = choose(seen, chosen);
    spectrum_plot_begin(file, panels);
    for (int i = 0; i < panels; i++) {
        const struct period_thread *const thread = &seen->threads[chosen[i]];
        const struct job_times jobs = job_times_of(seen->work.times_ns, thread->events, thread->count);
        char title[TITLE_SIZE];
        snprintf(title, sizeof title, "%s (%d): %" PRId64 " jobs in %.1f s", process_watch_name(watch, chosen[i]),
                 (int)process_watch_id(watch, chosen[i]), jobs.count, ns_to_s(seen->observed_ns));
        const struct spectrum_panel panel = {.title = title, .times_ns = jobs.times_ns, .count = jobs.count, .hz = thread->hz};
        spectrum_plot_panel(file, i, &panel, &seen->work.spectrum);
    }
    spectrum_plot_end(file);
}

void period_files_write_jobs(const struct period_files *files, struct observation *seen, const struct process_watch *watch,
                             int64_t from_ns)
{
    if (files->record)
        record_jobs(files->record, seen, watch, from_ns);
    if (files->plot)
        plot_jobs(files->plot, seen, watch);
}

void period_files_record_events(FILE *file, const struct syscall_event *events, int64_t count, int64_t from_ns)
{
    fputs("thread,second\n", file);
    for (int64_t i = 0; i < count; i++)
        fprintf(file, "%d,%.9f\n", (int)events[i].thread, ns_to_s(events[i].time_ns - from_ns));
}

void period_files_plot_events(FILE *file, const int64_t *times_ns, int64_t count, double hz, struct spectrum *spectrum)
{
    char title[TITLE_SIZE];
    snprintf(title, sizeof title, "all threads: %" PRId64 " entries and exits of system calls", count);
    const struct spectrum_panel panel = {.title = title, .times_ns = times_ns, .count = count, .hz = hz};
    spectrum_plot_begin(file, count > 0);
    if (count > 0)
        spectrum_plot_panel(file, 0, &panel, spectrum);
    spectrum_plot_end(file);
}

static bool close_one(FILE **file, const char *program, const char *what)
{
    if (!*file)
        return true;
    const bool has_failed = ferror(*file) != 0;
    const bool is_closed = !fclose(*file);
    *file = NULL;
    if (is_closed && !has_failed)
        return true;
    fprintf(stderr, "%s: --%s could not be written: %s\n", program, what, strerror(errno));
    return false;
}

bool period_files_close(struct period_files *files, const char *program)
{
    const bool is_plotted = close_one(&files->plot, program, "plot");
    return close_one(&files->record, program, "record") && is_plotted;
}
