/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tracer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

extern const char __executable_start[];
extern const char steps_syscall[];
__asm__(".pushsection .text\n"
        ".type steps_syscall, @function\n"
        "steps_syscall: syscall\n"
        "int3\n"
        ".popsection\n");

/* The tracer forks the leader and never executes another program, so addresses are the same in all processes. All of
 * them share this page. */
static struct report *shared;

struct leader {
    pid_t pid;
    int status;
    int held; /* a signal that was pending for the leader; the tracer takes it before the leader is cloned */
};

/* ---- In the leader ------------------------------------------------------------------------ */

/* The walk ends here, when the function returns. */
static __attribute__((noinline)) void walk_is_over(void)
{
    __asm__ __volatile__("" ::: "memory");
}

static __attribute__((noinline)) void run_to_the_end(const struct walk *walk)
{
    uintptr_t sp_before, sp_after;
    __asm__ __volatile__("mov %%rsp, %0" : "=r"(sp_before));
    walk->run();
    walk_is_over();
    __asm__ __volatile__("mov %%rsp, %0" : "=r"(sp_after));
    if (sp_before != sp_after)
        strcpy(shared->complaint, "the stack pointer is another");
    else
        walk->check(shared);
}

_Noreturn static void lead(const struct walk *walk)
{
    const struct rlimit seconds = { 20, 20 }; /* CPU time after which a clone that hangs is killed */
    setrlimit(RLIMIT_CPU, &seconds);
    walk->prepare();
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(errno);
    raise(SIGSTOP);
    run_to_the_end(walk);
    _exit(0);
}

/* ---- In the tracer ------------------------------------------------------------------------ */

static int start(struct leader *leader, const struct walk *walk)
{
    *leader = (struct leader){ .pid = fork() };
    if (leader->pid < 0)
        return -errno;
    if (leader->pid == 0)
        lead(walk);
    if (waitpid(leader->pid, &leader->status, 0) != leader->pid)
        return -errno;
    if (!WIFSTOPPED(leader->status))
        return WIFEXITED(leader->status) ? -WEXITSTATUS(leader->status) : -ECHILD;
    const long options = PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL;
    return ptrace(PTRACE_SETOPTIONS, leader->pid, NULL, options) < 0 ? -errno : 0;
}

/* Steps the leader by one instruction, or into a signal handler. */
static int step(struct leader *leader)
{
    if (ptrace(PTRACE_SINGLESTEP, leader->pid, NULL, (long)leader->held) < 0)
        return -errno;
    leader->held = 0;
    if (waitpid(leader->pid, &leader->status, 0) != leader->pid || !WIFSTOPPED(leader->status))
        return -ECHILD;
    if (WSTOPSIG(leader->status) != SIGTRAP)
        leader->held = WSTOPSIG(leader->status);
    return 0;
}

static bool has_pending(pid_t pid)
{
    siginfo_t info;
    struct __ptrace_peeksiginfo_args args = { .nr = 1 };
    return ptrace(PTRACE_PEEKSIGINFO, pid, &args, &info) > 0;
}

/* A pending signal would be delivered before the instruction that clones. So it is taken first, and then sent to the
 * clone as well, because a fork does not copy pending signals. */
static int step_to_a_quiet_stop(struct leader *leader)
{
    int err = step(leader);
    if (!err && !leader->held && has_pending(leader->pid))
        err = step(leader);
    return err;
}

/* Makes the leader execute clone() and then puts it back to where it stopped. The clone is a child of the tracer. */
static pid_t clone_leader(struct leader *leader, const struct user_regs_struct *regs)
{
    const int held = leader->held;
    struct user_regs_struct calling = *regs;
    unsigned long child = 0;
    calling.rip = (uintptr_t)steps_syscall;
    calling.rax = SYS_clone;
    calling.rdi = CLONE_PARENT | SIGCHLD;
    calling.rsi = calling.rdx = calling.r10 = calling.r8 = 0;
    calling.orig_rax = -1;
    ptrace(PTRACE_SETREGS, leader->pid, NULL, &calling);
    leader->held = 0;
    if (step(leader) < 0 || leader->status >> 8 != (SIGTRAP | PTRACE_EVENT_FORK << 8))
        return -1;
    ptrace(PTRACE_GETEVENTMSG, leader->pid, NULL, &child);
    if (step(leader) < 0 || waitpid((pid_t)child, NULL, __WALL) != (pid_t)child)
        return -1;
    ptrace(PTRACE_SETREGS, leader->pid, NULL, regs);
    ptrace(PTRACE_SETREGS, (pid_t)child, NULL, regs);
    leader->held = held;
    return (pid_t)child;
}

static void poke(pid_t pid, int64_t *where, int64_t value)
{
    ptrace(PTRACE_POKEDATA, pid, where, value);
}

static int64_t peek(pid_t pid, const int64_t *where)
{
    return ptrace(PTRACE_PEEKDATA, pid, where, NULL);
}

/* Does the same as world_pass or dlex_trigger_fire, from outside the process. */
static void upset(pid_t pid, const struct upset *upset)
{
    if (upset->signal == UPSET_INTERRUPT) {
        syscall(SYS_tgkill, pid, pid, SIGUSR1);
        return;
    }
    if (upset->wall_ns)
        poke(pid, &world.wall_ns, WALL_START + upset->wall_ns);
    if (upset->cpu_ns)
        poke(pid, &world.cpu_ns, CPU_START + upset->cpu_ns);
    if (upset->signal == UPSET_FIRE) {
        poke(pid, &world.trigger.fired_ns_, WALL_START);
        if (peek(pid, (const int64_t *)&world.trigger.thread_))
            syscall(SYS_tgkill, pid, pid, peek(pid, &world.signal));
        return;
    }
    const int64_t expiry_ns = peek(pid, &world.expiry_ns);
    const bool due = expiry_ns && expiry_ns <= peek(pid, &world.wall_ns);
    if (due)
        poke(pid, &world.expiry_ns, 0);
    if (upset->signal == UPSET_MUTE)
        poke(pid, &world.mute, 1);
    else if (due || upset->signal == UPSET_ALWAYS)
        syscall(SYS_tgkill, pid, pid, peek(pid, &world.signal));
}

static int finish_clone(pid_t pid)
{
    int status = 0;
    if (ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) != pid)
        return -errno;
    if (WIFSIGNALED(status))
        snprintf(shared->complaint, sizeof(shared->complaint), "killed by signal %d",
                 WTERMSIG(status));
    return 0;
}

static int visit(struct leader *leader, const struct walk *walk, struct user_regs_struct *regs)
{
    memset(shared, 0, sizeof(*shared));
    const pid_t clone = clone_leader(leader, regs);
    if (clone < 0)
        return -ECHILD;
    if (leader->held)
        syscall(SYS_tgkill, clone, clone, leader->held);
    upset(clone, &walk->upset);
    const int err = finish_clone(clone);
    if (err < 0)
        return err;
    return walk->each(walk->arg, shared, regs->rip - (uintptr_t)__executable_start) ? 0 : -ECANCELED;
}

/* Between these addresses a clone would go on with the thread id of the leader. */
static bool is_inside(void (*begin)(void), void (*end)(void), uintptr_t where)
{
    return where > (uintptr_t)begin && where < (uintptr_t)end;
}

static int visit_all(struct leader *leader, const struct walk *walk)
{
    int visited = 0;
    bool begun = false;
    for (;;) {
        struct user_regs_struct regs;
        const int err = step_to_a_quiet_stop(leader);
        if (err < 0)
            return err;
        ptrace(PTRACE_GETREGS, leader->pid, NULL, &regs);
        regs.orig_rax = -1; /* no system call must be restarted */
        if (regs.rip == (uintptr_t)walk_is_over)
            return visited;
        begun |= regs.rip == (uintptr_t)walk->run;
        if (!begun || is_inside(world_fire, world_fire_end, regs.rip))
            continue;
        const int err_visit = visit(leader, walk, &regs);
        if (err_visit < 0)
            return err_visit;
        visited++;
    }
}

int tracer_walk(const struct walk *walk)
{
    if (!shared)
        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return -errno;
    struct leader leader;
    int result = start(&leader, walk);
    if (!result)
        result = visit_all(&leader, walk);
    if (leader.pid > 0)
        kill(leader.pid, SIGKILL);
    while (leader.pid > 0 && waitpid(leader.pid, NULL, 0) == leader.pid)
        ;
    return result;
}
