/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "kernel_file.h"
#include "switch_ring.h"
#include "thread_policy.h"
#include "undo_journal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FINDING_SIZE = SWITCH_RING_REMEDY_SIZE };

/* What a check has found: one sentence about this machine, with a remedy if something is missing. */
struct finding {
    bool is_good;
    char text[FINDING_SIZE];
};

static struct finding finding(bool is_good, const char *text)
{
    struct finding found = {.is_good = is_good};
    snprintf(found.text, sizeof found.text, "%s", text);
    return found;
}

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
        return finding(false, switch_ring_remedy(error, text));
    perf_ring_close(&ring);
    return finding(true, "allowed, for programs of the same user");
}

/* Tries a policy in a child, whose end gives everything back. Returns 0 or a negative errno. */
static int try_policy(const char *text)
{
    struct thread_policy policy;
    int status;
    int error = thread_policy_parse(&policy, text);
    if (error)
        return error;
    const pid_t child = fork();
    if (child < 0)
        return -errno;
    if (!child)
        _exit(-thread_policy_set(0, &policy));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

static struct finding check_priorities(void)
{
    const int error = try_policy("fifo:20");
    if (!error)
        return finding(true, "allowed");
    return finding(false, error == -EPERM ? "not allowed; a line `@audio - rtprio 60` in /etc/security/limits.conf allows it to "
                                            "the group audio from the next login on" : strerror(-error));
}

static struct finding check_reservations(void)
{
    const int error = try_policy("deadline:1/100");
    if (!error)
        return finding(true, "allowed");
    if (error == -EBUSY)
        return finding(false, "all that can be reserved is reserved by other programs");
    return finding(false, error == -EPERM ? "not allowed; it needs root or CAP_SYS_NICE, and a thread that may run on all CPUs"
                                          : strerror(-error));
}

/* The kernel's guard against real-time threads that never sleep. */
static struct finding check_guard(void)
{
    struct finding found;
    const long runtime_us = kernel_file_number("/proc/sys/kernel/sched_rt_runtime_us", -1);
    const long period_us = kernel_file_number("/proc/sys/kernel/sched_rt_period_us", 1000000);
    if (runtime_us < 0)
        return finding(false, "off: a real-time thread that never sleeps takes its CPU for ever; "
                              "`sudo sysctl kernel.sched_rt_runtime_us=950000` limits it");
    found.is_good = true;
    snprintf(found.text, sizeof found.text, "real-time threads may use %ld of each %ld ms", runtime_us / 1000, period_us / 1000);
    return found;
}

static struct finding check_sched_ext(void)
{
    char state[32];
    if (!kernel_file_line("/sys/kernel/sched_ext/state", state, sizeof state))
        return finding(false, "this kernel has no sched_ext; Linux 6.12 and later have it if built with CONFIG_SCHED_CLASS_EXT");
    if (access("/sys/kernel/btf/vmlinux", R_OK))
        return finding(false, "the kernel has sched_ext, but not its types (CONFIG_DEBUG_INFO_BTF)");
    const bool is_off = !strcmp(state, "disabled");
    return finding(is_off, is_off ? "possible as root" : "another such scheduler is running");
}

static struct finding check_timers(void)
{
    struct timespec resolution;
    if (clock_getres(CLOCK_MONOTONIC, &resolution) || resolution.tv_sec || resolution.tv_nsec > 1)
        return finding(false, "timers are as coarse as the kernel's tick; the kernel needs CONFIG_HIGH_RES_TIMERS");
    return finding(true, "of high resolution");
}

static struct finding check_left(void)
{
    const int left = undo_journals_left();
    struct finding found = {.is_good = !left};
    if (left)
        snprintf(found.text, sizeof found.text, "%d killed runs of this user have left some; `dlex-sched repair` takes them back", left);
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
    {"reservations", check_reservations},
    {"left reservations", check_left},
    {"guard", check_guard},
    {"own schedulers", check_sched_ext},
    {"timers", check_timers},
};

int doctor_command(int argc, char **argv)
{
    if (argc > 1) {
        const bool is_help = !strcmp(argv[1], "--help");
        fprintf(is_help ? stdout : stderr, "Usage: %s\n\nSays what this machine allows this user, and what would help.\n", argv[0]);
        return is_help ? EXIT_DONE : EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const struct finding found = checks[i].run();
        printf("%-4s%-19s%s\n", found.is_good ? "ok" : "no", checks[i].name, found.text);
    }
    return EXIT_DONE;
}
