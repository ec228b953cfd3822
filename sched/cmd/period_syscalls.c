/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "period_syscalls.h"

#include "commands.h"
#include "ns.h"
#include "period_paper.h"
#include "standard_output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

static const int64_t poll_ns = 50 * NS_PER_MS;

/* What was seen, and what the detector makes of it. */
struct traced {
    const struct syscall_event *events;
    int64_t count;
    int64_t *times_ns; /* of the events; NULL: there was no memory */
    int64_t lost;
    int64_t observed_ns;
    struct period_paper found;
};

/* Too large for the stack. */
static struct spectrum spectrum;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

/* Runs the detector on all threads' events together, as the paper does. Without events the program is not periodic. */
static void detect(struct traced *traced)
{
    traced->times_ns = malloc((size_t)traced->count * sizeof *traced->times_ns + 1);
    traced->found = (struct period_paper){.step = PAPER_NOT_PERIODIC};
    for (int64_t i = 0; traced->times_ns && i < traced->count; i++)
        traced->times_ns[i] = traced->events[i].time_ns;
    if (traced->times_ns && traced->count)
        period_paper_detect(&traced->found, &period_paper_defaults, traced->times_ns, traced->count, &spectrum);
}

static void write_files(const struct period_files *files, const struct traced *traced, int64_t from_ns)
{
    if (files->record)
        period_files_record_events(files->record, traced->events, traced->count, from_ns);
    if (files->plot)
        period_files_plot_events(files->plot, traced->times_ns, traced->times_ns ? traced->count : 0, traced->found.hz, &spectrum);
}

static void print_text(const struct traced *traced)
{
    static const char *const reasons[] = {
        [PAPER_NOT_PERIODIC] = "no candidate", [PAPER_FEW] = "the largest of few candidates",
        [PAPER_REGRESSION] = "by regression", [PAPER_LARGEST] = "the largest candidate",
    };
    if (traced->found.hz > 0)
        printf("%.0f Hz", traced->found.hz);
    else
        printf("Not periodic");
    printf(" (%s), by the paper's detector and %" PRId64 " entries and exits of system calls in %.1f s\n", reasons[traced->found.step],
           traced->count, ns_to_s(traced->observed_ns));
    if (traced->lost)
        printf("%" PRId64 " events were lost; the rate is less certain.\n", traced->lost);
}

static void print_json(const struct traced *traced)
{
    printf("{\n  \"events\": \"syscalls\", \"observed_s\": %.9g, \"count\": %" PRId64 ", \"lost\": %" PRId64 ",\n  \"paper_hz\": ",
           ns_to_s(traced->observed_ns), traced->count, traced->lost);
    if (traced->found.hz > 0)
        printf("%.9g", traced->found.hz);
    else
        printf("null");
    printf(", \"candidates\": %d\n}\n", traced->found.candidates);
}

/* Polls until this time, or until the process has ended. */
static void watch_until(struct syscall_watch *watch, int64_t until_ns)
{
    const struct timespec pause = ns_to_timespec(poll_ns);
    while (now_ns() < until_ns && syscall_watch_poll(watch) > 0)
        nanosleep(&pause, NULL);
    syscall_watch_poll(watch);
}

int period_syscalls(const char *program, const struct syscalls_request *request)
{
    struct syscall_watch *watch;
    const int error = syscall_watch_create(&watch, request->process);
    if (error) {
        char text[SYSCALL_WATCH_REMEDY_SIZE];
        fprintf(stderr, "%s: cannot watch process %d: %s\n", program, (int)request->process, syscall_watch_remedy(error, text));
        return EXIT_IMPOSSIBLE;
    }
    if (request->with_family)
        syscall_watch_family(watch);
    const int64_t from_ns = now_ns() + request->waits_ns;
    watch_until(watch, from_ns + request->lasts_ns);
    struct traced traced = {.lost = syscall_watch_lost(watch)};
    traced.count = syscall_watch_events(watch, from_ns, &traced.events);
    const int64_t observed_ns = now_ns() - from_ns;
    traced.observed_ns = observed_ns > 0 ? observed_ns : 0; /* it may have ended before */
    detect(&traced);
    if (request->as_json)
        print_json(&traced);
    else
        print_text(&traced);
    standard_output_flush();
    write_files(request->files, &traced, from_ns);
    free(traced.times_ns);
    syscall_watch_destroy(&watch);
    return EXIT_DONE;
}
