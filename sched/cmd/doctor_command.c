/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "doctor_checks.h"
#include "doctor_policies.h"
#include "doctor_tracing.h"
#include "kernel_file.h"
#include "ns.h"
#include "reservation.h"
#include "rm_levels.h"
#include "scheduling_right.h"
#include "switch_ring.h"
#include "thread_policy.h"
#include "undo_journal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The guard of dlex-sched-dwcs, by default; members and dispatcher are below it. */
enum { DWCS_PRIORITY = 19 };

static struct finding check_kernel(void)
{
    struct utsname names;
    struct finding found = {.is_good = uname(&names) == 0};
    if (found.is_good)
        snprintf(found.text, sizeof found.text, "%s %s, %ld CPUs", names.sysname, names.release, sysconf(_SC_NPROCESSORS_ONLN));
    return found;
}

static struct finding check_observing(void)
{
    struct perf_ring ring;
    char text[SWITCH_RING_REMEDY_SIZE];
    const int error = switch_ring_open(&ring, (pid_t)gettid());
    if (error)
        return doctor_finding(false, switch_ring_remedy(error, text));
    perf_ring_close(&ring);
    return doctor_finding(true, "allowed, for programs of the same user");
}

static int try_fifo(int priority)
{
    const struct thread_policy policy = {.kind = THREAD_FIFO, .priority = priority};
    return doctor_try_policy(&policy);
}

/* rm run and dwcs need different priorities; dwcs the lower ones. */
static struct finding check_priorities(void)
{
    static const char line[] = "a line `@audio - rtprio 60` in /etc/security/limits.conf allows it to the group audio from the next "
                               "login on";
    const int for_rm = rm_band_guaranteed.highest, error = try_fifo(for_rm);
    char remedy[SCHEDULING_REMEDY_SIZE];
    struct finding found = {.is_good = !error};
    if (found.is_good)
        snprintf(found.text, sizeof found.text, "allowed, as high as rm run (%d) and dwcs (%d) need", for_rm, DWCS_PRIORITY);
    else if (!try_fifo(DWCS_PRIORITY))
        snprintf(found.text, sizeof found.text, "allowed up to %d, which dwcs needs, but not to %d for rm run; %s", DWCS_PRIORITY, for_rm,
                 line);
    else if (error == -EPERM)
        snprintf(found.text, sizeof found.text, "not allowed up to %d, which dwcs needs, or %d for rm run: %s", DWCS_PRIORITY,
                 for_rm, fixed_priority_remedy(error, remedy));
    else
        snprintf(found.text, sizeof found.text, "%s", fixed_priority_remedy(error, remedy));
    return found;
}

/* The remedy is for what the shell starts next, so it names the shell. */
static struct finding check_reservations(void)
{
    const struct thread_policy policy = {.kind = THREAD_DEADLINE, .runtime_ns = NS_PER_MS, .period_ns = 100 * NS_PER_MS};
    struct reservation tried = {.entry = {.thread = {.process = getppid(), .thread = getpid()}}};
    char text[RESERVATION_REASON_SIZE];
    const int error = doctor_try_policy(&policy);
    if (!error)
        return doctor_finding(true, "allowed");
    return doctor_finding(false, reservation_reason(reservation_answer_to(error, &tried), &tried, text));
}

/* The kernel's guard against real-time threads that never sleep. */
static struct finding check_guard(void)
{
    struct finding found;
    const long runtime_us = kernel_file_number("/proc/sys/kernel/sched_rt_runtime_us", -1);
    const long period_us = kernel_file_number("/proc/sys/kernel/sched_rt_period_us", 1000000);
    if (runtime_us < 0)
        return doctor_finding(false, "off: a real-time thread that never sleeps takes its CPU for ever; "
                              "`sudo sysctl kernel.sched_rt_runtime_us=950000` limits it");
    found.is_good = true;
    snprintf(found.text, sizeof found.text, "real-time threads may use %ld of each %ld ms", runtime_us / 1000, period_us / 1000);
    return found;
}

static struct finding check_sched_ext(void)
{
    char state[32];
    if (!kernel_file_line("/sys/kernel/sched_ext/state", state, sizeof state))
        return doctor_finding(false, "this kernel has no sched_ext, which dlex does not need; Linux 6.12 and later have it with "
                                     "CONFIG_SCHED_CLASS_EXT");
    if (access("/sys/kernel/btf/vmlinux", R_OK))
        return doctor_finding(false, "the kernel has sched_ext, but not its types (CONFIG_DEBUG_INFO_BTF)");
    const bool is_off = !strcmp(state, "disabled");
    return doctor_finding(is_off, is_off ? "possible as root"
                                        : "another such scheduler is running; `cat /sys/kernel/sched_ext/root/ops` names it");
}

static struct finding check_timers(void)
{
    struct timespec resolution;
    if (clock_getres(CLOCK_MONOTONIC, &resolution) || resolution.tv_sec || resolution.tv_nsec > 1)
        return doctor_finding(false, "timers are as coarse as the kernel's tick; the kernel needs CONFIG_HIGH_RES_TIMERS");
    return doctor_finding(true, "of high resolution");
}

/* How often the kernel looks at the clock, and whether it can be interrupted. */
static struct finding check_tick(void)
{
    struct timespec tick;
    struct utsname names;
    struct finding found = {.is_good = true};
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || uname(&names))
        return doctor_finding(false, strerror(errno));
    const char *const preemption = strstr(names.version, "PREEMPT");
    snprintf(found.text, sizeof found.text, "each %.1f ms%s%.*s", ns_to_ms(ns_from_timespec(tick)), preemption ? "; " : "",
             preemption ? (int)strcspn(preemption, " ") : 0, preemption ? preemption : "");
    return found;
}

static struct finding check_left(void)
{
    const int left = undo_journals_left();
    struct finding found = {.is_good = !left};
    if (left)
        snprintf(found.text, sizeof found.text, "%d killed runs of this user have left reservations or priorities; `dlex-sched "
                 "repair` takes them back", left);
    else
        snprintf(found.text, sizeof found.text, "none of this user's");
    return found;
}

static const struct check {
    const char *name;
    struct finding (*run)(void);
} checks[] = {
    {"kernel", check_kernel},
    {"watching programs", check_observing},
    {"fixed priorities", check_priorities},
    {"priority limit", doctor_check_priority_limit},
    {"reservations", check_reservations},
    {"left reservations", check_left},
    {"reclaiming", doctor_check_reclaiming},
    {"used-up budgets", doctor_check_throttling},
    {"budget left", doctor_check_budget_left},
    {"overrun signals", doctor_check_overruns},
    {"new threads", doctor_check_starting},
    {"clamping", doctor_check_clamping},
    {"guard", check_guard},
    {"system calls", doctor_check_trace_points},
    {"call filters", doctor_check_call_filters},
    {"call rings", doctor_check_io_uring},
    {"tracers", doctor_check_tracers},
    {"time counters", doctor_check_time_counters},
    {"CPU counters", doctor_check_cpu_counters},
    {"kernel probes", doctor_check_probes},
    {"scheduler files", doctor_check_scheduler_files},
    {"own schedulers", check_sched_ext},
    {"BPF", doctor_check_bpf},
    {"switches by BPF", doctor_check_switch_point},
    {"descriptors", doctor_check_descriptors},
    {"control groups", doctor_check_groups},
    {"timers", check_timers},
    {"tick", check_tick},
};

int doctor_command(int argc, char **argv)
{
    if (argc > 1) {
        const bool is_help = !strcmp(argv[1], "--help");
        fprintf(is_help ? stdout : stderr, "Usage: %s\n\nReports what this machine allows this user, and what would allow the "
                "rest.\n", argv[0]);
        return is_help ? EXIT_DONE : EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const struct finding found = checks[i].run();
        printf("%-4s%-19s%s\n", found.is_good ? "ok" : "no", checks[i].name, found.text);
    }
    return EXIT_DONE;
}
