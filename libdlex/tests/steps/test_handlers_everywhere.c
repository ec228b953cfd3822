/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A signal handler of the program at each instruction of a block that is bound to a trigger, and of a violation that is
 * handled on an alternate stack. The handler, installed by dlex_sigaction, uses the library itself, or as much of the
 * alternate stack as it can. Each clone checks that it does not crash, that no trigger keeps the number of a
 * thread without blocks, that the list of threads is whole, and that everything is closed.
 *
 * Not here: the end of a thread (test_dlex_trigger_handlers.c), and handlers that may be left.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlex/dlex.h>

#include "tracer.h"
#include "world.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

enum { SKIP = 77 };

static struct dlex_trigger other;
static volatile int64_t told_ns;

static void bind_other(int signo)
{
    (void)signo;
    dlex_try {
        dlex_trigger_bind(&other);
    } dlex_end
}

static void bind_same(int signo)
{
    (void)signo;
    dlex_try {
        dlex_trigger_bind(&world.trigger);
    } dlex_end
}

static void ask_for_time(int signo)
{
    (void)signo;
    told_ns = dlex_remaining_ns();
    told_ns = dlex_deadline_ns();
}

static void have_first_deadline(int signo)
{
    (void)signo;
    dlex_try_within_rel(FAR) {
        told_ns = dlex_remaining_ns();
    } dlex_end
}

static void bound_block(void)
{
    dlex_try {
        dlex_trigger_bind(&world.trigger);
    } dlex_end
}

static void timed_block(void)
{
    dlex_try_within_rel(FAR) {
        told_ns = 1;
    } dlex_end
}

static char alternate[1 << 16];
static volatile int violations;

/* If the kernel took the stack for free while the library's handler is on it, that handler would find this. */
static void use_the_alternate_stack(int signo)
{
    volatile char use[sizeof(alternate) / 4];
    for (size_t i = 0; i < sizeof(use); i++)
        use[i] = (char)signo;
}

static void violated_block(void)
{
    dlex_try_within_rel(NEAR) {
        world_pass(FAR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        violations = violations + 1;
    } dlex_end
}

/* ---- One walk ----------------------------------------------------------------------------- */

struct interruption {
    const char *name;
    void (*run)(void);
    void (*handler)(int signo);
    enum { FIRST /* the thread has not used the library */, USED, ON_ALTERNATE_STACK } thread;
};

static const struct interruption interruptions[] = {
    { "first bound block, handler binds", bound_block, bind_other, FIRST },
    { "first timed block, handler has one", timed_block, have_first_deadline, FIRST },
    { "bound block, handler binds", bound_block, bind_other, USED },
    { "bound block, handler binds the same", bound_block, bind_same, USED },
    { "bound block, handler asks for time", bound_block, ask_for_time, USED },
    { "violation from an alternate stack", violated_block, use_the_alternate_stack, ON_ALTERNATE_STACK },
};

static const struct interruption *now;

static void prepare(void)
{
    struct sigaction action = { .sa_handler = now->handler, .sa_flags = SA_ONSTACK };
    const stack_t stack = {
        .ss_sp = alternate, .ss_size = sizeof(alternate), .ss_flags = (int)SS_AUTODISARM
    };
    sigemptyset(&action.sa_mask);
    dlex_sigaction(SIGUSR1, &action, NULL);
    if (now->thread == FIRST)
        return;
    if (now->thread == ON_ALTERNATE_STACK)
        sigaltstack(&stack, NULL);
    bound_block();
    timed_block();
    dlex_idle();
}

/* The kernel reports a stack that disarms itself as armed as soon as it is. */
static bool has_lost_its_stack(void)
{
    stack_t stack;
    sigaltstack(NULL, &stack);
    return stack.ss_sp != alternate || stack.ss_flags != (int)SS_AUTODISARM;
}

/* The firing looks for a thread that is not in the list: it would not end if the list were a ring. */
static void check(struct report *report)
{
    struct dlex_trigger lost = { .thread_ = UINT64_MAX };
    if (dlex_guard_.depth || dlex_guard_.top)
        strcpy(report->complaint, "a section or a block is still open");
    else if (world.trigger.thread_ || other.thread_)
        strcpy(report->complaint, "a trigger has a thread, and no block is open");
    else if (dlex_trigger_fire(&lost))
        strcpy(report->complaint, "a trigger without a thread cannot be fired");
    else if (now->thread == ON_ALTERNATE_STACK && (violations != 1 || has_lost_its_stack()))
        strcpy(report->complaint, "the violation or the alternate stack is lost");
}

static bool is_right(void *arg, const struct report *report, uintptr_t where)
{
    bool *const failed = arg;
    if (!*report->complaint)
        return true;
    printf("FAIL %s: at 0x%lx: %s\n", now->name, (unsigned long)where, report->complaint);
    *failed = true;
    return false;
}

static int walk(void)
{
    bool failed = false;
    const struct walk walk = { now->run, prepare, check, { .signal = UPSET_INTERRUPT }, is_right, &failed };
    const int instructions = tracer_walk(&walk);
    if (!failed)
        printf("%-40s %d\n", now->name, instructions);
    fflush(stdout);
    return failed ? -ECANCELED : instructions;
}

/* With an argument, only the walks run whose names contain it. */
int main(int argc, char **argv)
{
    const char *const preload = getenv("LD_PRELOAD");
    int failures = 0;
    if (preload && strstr(preload, "vgpreload")) {
        puts("skipped: the instructions would be those of valgrind");
        return SKIP;
    }
    for (size_t i = 0; i < sizeof(interruptions) / sizeof(interruptions[0]); i++) {
        now = &interruptions[i];
        if (argc > 1 && !strstr(now->name, argv[1]))
            continue;
        const int instructions = walk();
        if (instructions == -EPERM || instructions == -EACCES || instructions == -ENOSYS) {
            puts("skipped: this process may not trace its children");
            return SKIP;
        }
        failures += instructions < 100;
    }
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
