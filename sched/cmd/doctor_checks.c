/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "doctor_checks.h"

#include "kernel_file.h"
#include "ns.h"
#include "scheduling_right.h"
#include "syscall_watch.h"
#include "thread_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIDFD_OF_THREAD = O_EXCL }; /* PIDFD_THREAD; older headers do not have it */

struct finding doctor_finding(bool is_good, const char *text)
{
    struct finding found = {.is_good = is_good};
    snprintf(found.text, sizeof found.text, "%s", text);
    return found;
}

int doctor_in_child(int (*act)(const void *context), const void *context)
{
    int status;
    const pid_t child = fork();
    if (child < 0)
        return -errno;
    if (!child)
        _exit(-act(context));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

static int take_policy(const void *policy)
{
    return thread_policy_set(0, policy);
}

int doctor_try_policy(const struct thread_policy *policy)
{
    return doctor_in_child(take_policy, policy);
}

struct finding doctor_no_reservation(int error)
{
    struct finding found = {.is_good = false};
    if (error == -EPERM)
        snprintf(found.text, sizeof found.text, "needs the right to reserve: see the line of the reservations");
    else
        snprintf(found.text, sizeof found.text, "needs a reservation, and the kernel refused one (%s): see the line of the reservations",
                 strerror(-error));
    return found;
}

struct finding doctor_check_reclaiming(void)
{
    const struct thread_policy policy = {
        .kind = THREAD_DEADLINE, .runtime_ns = NS_PER_MS, .period_ns = 100 * NS_PER_MS, .reclaims = true,
    };
    const int error = doctor_try_policy(&policy);
    if (!error)
        return doctor_finding(true, "a thread may use more than its budget of what no thread has reserved");
    return doctor_no_reservation(error);
}

/* Loads a program of BPF that does nothing, of this type. Returns its descriptor or a negative errno. */
static int load_program(uint32_t type)
{
    const struct bpf_insn nothing[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = type;
    attributes.insns = (uint64_t)(uintptr_t)nothing;
    attributes.insn_cnt = sizeof nothing / sizeof nothing[0];
    attributes.license = (uint64_t)(uintptr_t)"GPL";
    const int program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes);
    return program < 0 ? -errno : program;
}

/* Attaches a program that does nothing to a raw trace point for a moment. Returns 0 or a negative errno. */
static int try_raw_trace_point(const char *name)
{
    union bpf_attr attributes;
    const int program = load_program(BPF_PROG_TYPE_RAW_TRACEPOINT);
    if (program < 0)
        return program;
    memset(&attributes, 0, sizeof attributes);
    attributes.raw_tracepoint.name = (uint64_t)(uintptr_t)name;
    attributes.raw_tracepoint.prog_fd = (uint32_t)program;
    const int link = (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attributes, sizeof attributes);
    const int error = link < 0 ? -errno : 0;
    if (link >= 0)
        close(link);
    close(program);
    return error;
}

struct finding doctor_check_throttling(void)
{
    const int error = try_raw_trace_point("sched_dl_throttle_tp");
    if (!error)
        return doctor_finding(true, "the kernel reports it (sched_dl_throttle_tp); tune infers it from context switches");
    if (error == -ENOENT)
        return doctor_finding(false, "this kernel does not report it, kernels such as Linux 7.3 do; tune infers it from context "
                              "switches");
    return doctor_finding(false, "cannot be found out without BPF: see its line; tune infers it from context switches");
}

/* Returns who may load programs of BPF. */
static const char *who_may(void)
{
    if (geteuid() && (capability_is_in_reach(CAP_BPF) || capability_is_in_reach(CAP_SYS_ADMIN)))
        return "only root may load programs of BPF; run it with sudo";
    return geteuid() ? "nobody may load programs of BPF here, because a capability is missing, as in a container; as root, `docker "
                       "run --cap-add=BPF --cap-add=PERFMON` gives both that it needs"
                     : "root may not load programs of BPF here, because a capability is missing, as in a container; `docker run "
                       "--cap-add=BPF --cap-add=PERFMON` gives both that it needs";
}

struct finding doctor_check_switch_point(void)
{
    const int error = try_raw_trace_point("sched_switch");
    if (!error)
        return doctor_finding(true, "programs of BPF can see every context switch; dlex uses perf");
    return doctor_finding(false, error == -EPERM ? who_may() : "this kernel shows none to programs of BPF (CONFIG_BPF_EVENTS), which dlex "
                          "does not need");
}

struct finding doctor_check_trace_points(void)
{
    struct syscall_watch *watch;
    char text[SYSCALL_WATCH_REMEDY_SIZE];
    const int error = syscall_watch_create(&watch, getpid());
    syscall_watch_destroy(&watch);
    return doctor_finding(!error, error ? syscall_watch_remedy(error, text) : "can be watched");
}

struct finding doctor_check_bpf(void)
{
    const int program = load_program(BPF_PROG_TYPE_TRACEPOINT);
    if (program >= 0)
        close(program);
    if (program == -EPERM)
        return doctor_finding(false, who_may());
    if (program < 0)
        return doctor_finding(false, "this kernel loads no programs of BPF (CONFIG_BPF_SYSCALL)");
    if (access("/sys/kernel/btf/vmlinux", R_OK))
        return doctor_finding(false, "programs of BPF can be loaded, but the kernel's types are missing (CONFIG_DEBUG_INFO_BTF)");
    return doctor_finding(true, "programs of BPF can be loaded, and the kernel has its types");
}

struct finding doctor_check_descriptors(void)
{
    int fd = (int)syscall(SYS_pidfd_open, gettid(), PIDFD_OF_THREAD);
    const bool is_of_thread = fd >= 0;
    if (!is_of_thread)
        fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0)
        return doctor_finding(false, "this kernel has none; Linux 5.3 and later have them");
    close(fd);
    return is_of_thread ? doctor_finding(true, "of processes and single threads")
                        : doctor_finding(true, "of processes; of single threads since Linux 6.9, until then their start times count");
}

static const char *yes(bool has)
{
    return has ? "with" : "without";
}

static struct finding finding_of_groups(int version, bool has_sets, bool has_quotas, const char *more)
{
    struct finding found = {.is_good = has_sets && has_quotas};
    snprintf(found.text, sizeof found.text, "version %d, %s CPU sets, %s quotas%s%s", version, yes(has_sets), yes(has_quotas), more,
             found.is_good ? "" : "; the kernel needs CONFIG_CPUSETS and CONFIG_CFS_BANDWIDTH, and no other version may have them");
    return found;
}

struct finding doctor_check_groups(void)
{
    struct statfs mounted;
    char controllers[FINDING_SIZE / 2];
    if (statfs("/sys/fs/cgroup", &mounted))
        return doctor_finding(false, "none are mounted; `sudo mount -t cgroup2 none /sys/fs/cgroup` mounts them");
    if (mounted.f_type != CGROUP2_SUPER_MAGIC) {
        const bool has_time = !access("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", F_OK);
        return finding_of_groups(1, !access("/sys/fs/cgroup/cpuset/cpuset.cpus", F_OK), !access("/sys/fs/cgroup/cpu", F_OK),
                                 has_time ? ", each with its own time for fixed priorities" : "");
    }
    if (!kernel_file_line("/sys/fs/cgroup/cgroup.controllers", controllers, sizeof controllers - 1))
        controllers[0] = '\0';
    strcat(controllers, " "); /* so that each name ends with one */
    return finding_of_groups(2, strstr(controllers, "cpuset "), strstr(controllers, "cpu "), "");
}
