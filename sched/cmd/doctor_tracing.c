/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "doctor_tracing.h"

#include "kernel_file.h"
#include "switch_ring.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Opens a counter of this thread for a moment. Returns 0 or a negative errno. */
static int try_counter(uint32_t type, uint64_t config)
{
    struct perf_event_attr attributes = {.size = sizeof attributes, .type = type, .config = config, .exclude_kernel = 1};
    const int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

struct finding doctor_check_time_counters(void)
{
    char text[SWITCH_RING_REMEDY_SIZE];
    int error = try_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    if (!error)
        error = try_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
    return doctor_finding(!error, error ? switch_ring_remedy(error, text) : "the CPU time and the context switches of a thread");
}

struct finding doctor_check_cpu_counters(void)
{
    char text[SWITCH_RING_REMEDY_SIZE];
    const int error = try_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    if (error == -ENOENT || error == -EOPNOTSUPP)
        return doctor_finding(false, "this machine has none, as most virtual ones, which cannot be changed here; dlex does not need them");
    return doctor_finding(!error, error ? switch_ring_remedy(error, text) : "what the CPU does, such as its cycles");
}

struct finding doctor_check_probes(void)
{
    if (access("/sys/bus/event_source/devices/kprobe", F_OK))
        return doctor_finding(false, "this kernel has none (CONFIG_KPROBE_EVENTS), which dlex does not need");
    return doctor_finding(true, "possible as root");
}

/* Traces a child for a moment. Returns 0 or a negative errno. */
static int try_tracing(const void *context)
{
    (void)context;
    const pid_t child = fork();
    if (child < 0)
        return -errno;
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    const int error = ptrace(PTRACE_SEIZE, child, 0, 0) ? -errno : 0;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return error;
}

struct finding doctor_check_tracers(void)
{
    const int error = doctor_in_child(try_tracing, NULL);
    const long scope = kernel_file_number("/proc/sys/kernel/yama/ptrace_scope", 0);
    if (!error && scope == 1)
        return doctor_finding(true, "a program can be traced by what has started it, as strace does; `sudo sysctl "
                              "kernel.yama.ptrace_scope=0` allows it for programs that run already");
    if (!error)
        return doctor_finding(true, "a program can be traced, as strace does");
    if (scope > 1)
        return doctor_finding(false, "kernel.yama.ptrace_scope forbids it, which dlex does not need; `sudo sysctl "
                              "kernel.yama.ptrace_scope=1` allows it, unless it is 3, which stays until the next start");
    return doctor_finding(false, "the filter of system calls of a container forbids it, which dlex does not need; `docker run "
                          "--cap-add=SYS_PTRACE` allows it");
}

/* Installs a filter that lets all calls pass, and that somebody may listen to. */
static int install_filter(const void *context)
{
    (void)context;
    struct sock_filter passes = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    const struct sock_fprog program = {.len = 1, .filter = &passes};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0 ? -errno : 0;
}

struct finding doctor_check_call_filters(void)
{
    const int error = doctor_in_child(install_filter, NULL);
    if (!error)
        return doctor_finding(true, "a program can answer another one's system calls; dlex does not do it");
    return doctor_finding(false, "a program cannot answer another one's system calls (CONFIG_SECCOMP_FILTER, Linux 5.0 and later), which "
                          "dlex does not need");
}

static int set_up_ring(const void *context)
{
    (void)context;
    struct io_uring_params parameters;
    memset(&parameters, 0, sizeof parameters);
    return syscall(SYS_io_uring_setup, 1, &parameters) < 0 ? -errno : 0;
}

struct finding doctor_check_io_uring(void)
{
    const int error = doctor_in_child(set_up_ring, NULL);
    if (!error)
        return doctor_finding(true, "system calls can be made through rings in memory (io_uring); dlex does not do it");
    if (error == -ENOSYS)
        return doctor_finding(false, "this kernel has no io_uring (CONFIG_IO_URING), which dlex does not need");
    return doctor_finding(false, "io_uring is switched off, which dlex does not need; `sudo sysctl kernel.io_uring_disabled=0` allows it, and the "
                          "filter of system calls of a container may still forbid it");
}

struct finding doctor_check_scheduler_files(void)
{
    char line[64];
    const bool has_state = kernel_file_line("/proc/self/sched", line, sizeof line);
    if (!kernel_file_line("/proc/self/schedstat", line, sizeof line))
        return doctor_finding(false, "this kernel does not count how long threads wait for a CPU (CONFIG_SCHED_INFO)");
    if (!has_state)
        return doctor_finding(false, "how long threads wait for a CPU, but not the scheduler's state of a thread (CONFIG_SCHED_DEBUG), "
                              "which dlex does not need");
    return doctor_finding(true, "how long threads wait for a CPU, and the scheduler's state of a thread");
}
