/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process has before DWCS schedules it, and whether it gets that back. Without the right to real-time priorities only what
 * concerns CPUs is tested. Not covered: the dispatcher and its guard (test_dwcs_ends.c), processes of other users.
 */
#include "dwcs_member.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ns.h"
#include "suite.h"
#include "timer_slack.h"

enum { EXIT_SKIPPED = 77, PRIORITY = 30, OTHER_PRIORITY = 5 };

/* A process that starts a thread or a child when it is asked to. It dies with the test. */
static pid_t subject;
static int requests[2], answers[2];

static struct member_before before;
static struct dwcs_member member;

static void *sleep_for_ever(void *id)
{
    __atomic_store_n((pid_t *)id, gettid(), __ATOMIC_RELEASE);
    for (;;)
        pause();
    return NULL;
}

static pid_t start_thread(void)
{
    static pid_t id;
    pthread_t thread;
    __atomic_store_n(&id, 0, __ATOMIC_RELAXED);
    if (pthread_create(&thread, NULL, sleep_for_ever, &id))
        return 0;
    while (!__atomic_load_n(&id, __ATOMIC_ACQUIRE))
        usleep(1000);
    return id;
}

static pid_t start_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return child;
}

static _Noreturn void serve(void)
{
    char request;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(requests[0], &request, 1) == 1) {
        const pid_t made = request == 't' ? start_thread() : start_child();
        (void)!write(answers[1], &made, sizeof made);
    }
    _exit(0);
}

static void begin(void)
{
    ck_assert(!pipe(requests) && !pipe(answers));
    subject = fork();
    ck_assert_int_ge(subject, 0);
    if (subject == 0)
        serve();
}

/* Asks the subject for a thread (t) or a child (c). */
static pid_t ask_for(const char *what)
{
    pid_t made;
    ck_assert_int_eq(write(requests[1], what, 1), 1);
    ck_assert_int_eq(read(answers[0], &made, sizeof made), sizeof made);
    ck_assert_int_gt(made, 0);
    return made;
}

static void end(void)
{
    kill(subject, SIGKILL);
    waitpid(subject, NULL, 0);
}

static int cpu_after(int cpu)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (cpu++; cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set); cpu++)
        ;
    return cpu;
}

/* The second CPU is CPU_SETSIZE if there is only one. */
static int first_cpu(void)
{
    return cpu_after(-1);
}

static cpu_set_t only(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return set;
}

static void expect_cpus(pid_t thread, cpu_set_t expected)
{
    cpu_set_t now;
    ck_assert_int_eq(sched_getaffinity(thread, sizeof now, &now), 0);
    ck_assert(CPU_EQUAL(&now, &expected));
}

/* The policy is one number with its flag, as of sched_getscheduler(2). */
static void expect_policy(pid_t thread, int policy, int priority)
{
    struct sched_param parameters;
    ck_assert_int_eq(sched_getscheduler(thread), policy);
    ck_assert_int_eq(sched_getparam(thread, &parameters), 0);
    ck_assert_int_eq(parameters.sched_priority, priority);
}

static void set_policy(pid_t thread, int policy, int priority)
{
    const struct sched_param parameters = {.sched_priority = priority};
    ck_assert_int_eq(sched_setscheduler(thread, policy, &parameters), 0);
}

/* The subject joins, and is chosen and passed over some times. */
static void join_and_run(void)
{
    ck_assert_int_eq(member_before_read(&before, subject, first_cpu(), PRIORITY), 0);
    ck_assert_int_eq(dwcs_member_open(&member, &before), 0);
    ck_assert_int_eq(member_before_confine(&before, NULL), 0);
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_FIRST), 1);
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_FIRST), 0);
    expect_policy(subject, SCHED_FIFO | SCHED_RESET_ON_FORK, PRIORITY);
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_LAST), 1);
    ck_assert_int_eq(sched_getscheduler(subject) & ~SCHED_RESET_ON_FORK, SCHED_IDLE);
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_FIRST), 1);
}

static void give_back(void)
{
    member_before_give_back(&before);
    dwcs_member_close(&member);
}

START_TEST(each_thread_is_given_back_its_cpus)
{
    const int first = first_cpu(), second = cpu_after(first);
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    begin();
    const pid_t thread = ask_for("t");
    const cpu_set_t of_thread = only(second < CPU_SETSIZE ? second : first);
    ck_assert_int_eq(sched_setaffinity(thread, sizeof of_thread, &of_thread), 0);
    ck_assert_int_eq(member_before_read(&before, subject, first, PRIORITY), 0);
    ck_assert_int_eq(member_before_confine(&before, NULL), 0);
    expect_cpus(subject, only(first));
    expect_cpus(thread, only(first));
    member_before_give_back(&before);
    expect_cpus(subject, all);
    expect_cpus(thread, of_thread);
    end();
    member_before_give_back(&before);
}
END_TEST

START_TEST(cpus_that_somebody_else_has_set_stay)
{
    const int first = first_cpu(), second = cpu_after(first);
    if (second == CPU_SETSIZE)
        return;
    begin();
    ck_assert_int_eq(member_before_read(&before, subject, first, PRIORITY), 0);
    ck_assert_int_eq(member_before_confine(&before, NULL), 0);
    const cpu_set_t other = only(second);
    ck_assert_int_eq(sched_setaffinity(subject, sizeof other, &other), 0);
    member_before_give_back(&before);
    expect_cpus(subject, other);
    end();
}
END_TEST

/* A thread's start is known to 10 ms. */
static void let_a_tick_pass(void)
{
    usleep(20000);
}

START_TEST(what_begins_later_is_given_back_its_cpus)
{
    const int first = first_cpu();
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    begin();
    const pid_t elder = ask_for("c"); /* somebody else has confined it to the same CPU */
    const cpu_set_t of_elder = only(first);
    ck_assert_int_eq(sched_setaffinity(elder, sizeof of_elder, &of_elder), 0);
    let_a_tick_pass();
    ck_assert_int_eq(member_before_read(&before, subject, first, PRIORITY), 0);
    ck_assert_int_eq(member_before_confine(&before, NULL), 0);
    const pid_t thread = ask_for("t"), child = ask_for("c");
    expect_cpus(thread, only(first));
    expect_cpus(child, only(first));
    member_before_give_back(&before);
    expect_cpus(thread, all);
    expect_cpus(child, all);
    expect_cpus(elder, of_elder);
    end();
}
END_TEST

START_TEST(ended_process_is_no_member)
{
    begin();
    ck_assert_int_eq(member_before_read(&before, subject, first_cpu(), PRIORITY), 0);
    end();
    ck_assert_int_eq(dwcs_member_open(&member, &before), -ESRCH);
    ck_assert_int_eq(member_before_confine(&before, NULL), -ESRCH);
    ck_assert_int_eq(member_before_read(&before, subject, first_cpu(), PRIORITY), -ESRCH);
}
END_TEST

START_TEST(batch_its_flag_and_its_nice_value_come_back)
{
    begin();
    ck_assert_int_eq(setpriority(PRIO_PROCESS, (id_t)subject, 5), 0);
    set_policy(subject, SCHED_BATCH | SCHED_RESET_ON_FORK, 0);
    join_and_run();
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_ORDINARY), 1); /* not chosen, but a member */
    expect_policy(subject, SCHED_BATCH | SCHED_RESET_ON_FORK, 0);
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_FIRST), 1);
    give_back();
    expect_policy(subject, SCHED_BATCH | SCHED_RESET_ON_FORK, 0);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)subject), 5);
    end();
}
END_TEST

START_TEST(idle_process_is_idle_again)
{
    begin();
    set_policy(subject, SCHED_IDLE, 0);
    join_and_run();
    give_back();
    expect_policy(subject, SCHED_IDLE, 0);
    end();
}
END_TEST

START_TEST(flag_that_it_did_not_have_does_not_stay)
{
    begin();
    join_and_run();
    give_back();
    expect_policy(subject, SCHED_OTHER, 0);
    end();
}
END_TEST

START_TEST(slice_of_its_own_comes_back)
{
    const struct thread_ordinary short_slices = {.number = SCHED_OTHER, .slice_ns = NS_PER_MS};
    struct thread_policy set, now;
    begin();
    ck_assert_int_eq(thread_ordinary_set(subject, &short_slices), 0);
    ck_assert_int_eq(thread_policy_get(subject, &set), 0);
    join_and_run();
    give_back();
    ck_assert_int_eq(thread_policy_get(subject, &now), 0);
    ck_assert_int_eq(now.runtime_ns, set.runtime_ns);
    end();
}
END_TEST

/* The dispatcher has a priority when it looks at a process. Then the kernel does not say what a usual slice is. */
START_TEST(usual_slice_is_recognized_by_a_real_time_thread)
{
    struct thread_ordinary own;
    begin();
    ck_assert_int_eq(thread_ordinary_get(0, &own), 0);
    set_policy(0, SCHED_FIFO, OTHER_PRIORITY);
    const int error = member_before_read(&before, subject, first_cpu(), PRIORITY);
    set_policy(0, SCHED_OTHER, 0);
    ck_assert_int_eq(error, 0);
    ck_assert_int_eq(before.policy.slice_ns, 0);
    end();
}
END_TEST

/* Also if it is the priority that members get. */
START_TEST(other_threads_keep_their_policies)
{
    begin();
    const pid_t thread = ask_for("t"), as_member = ask_for("t");
    set_policy(thread, SCHED_FIFO, OTHER_PRIORITY);
    set_policy(as_member, SCHED_FIFO, PRIORITY);
    join_and_run();
    give_back();
    expect_policy(thread, SCHED_FIFO, OTHER_PRIORITY);
    expect_policy(as_member, SCHED_FIFO, PRIORITY);
    expect_policy(subject, SCHED_OTHER, 0);
    end();
}
END_TEST

START_TEST(what_begins_later_gets_the_policy_that_it_would_have_inherited)
{
    begin();
    const pid_t elder = ask_for("c");
    set_policy(elder, SCHED_IDLE, 0);
    ck_assert_int_eq(setpriority(PRIO_PROCESS, (id_t)subject, 5), 0);
    set_policy(subject, SCHED_BATCH, 0);
    let_a_tick_pass();
    join_and_run();
    const pid_t while_first = ask_for("c"), own = ask_for("t");
    set_policy(own, SCHED_FIFO, OTHER_PRIORITY);
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_LAST), 1);
    const pid_t thread = ask_for("t"), child = ask_for("c");
    expect_policy(thread, SCHED_IDLE, 0);
    expect_policy(child, SCHED_IDLE, 0);
    expect_policy(while_first, SCHED_OTHER, 0);
    give_back();
    expect_policy(thread, SCHED_BATCH, 0);
    expect_policy(child, SCHED_BATCH, 0);
    expect_policy(while_first, SCHED_BATCH, 0);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)while_first), 5);
    expect_policy(own, SCHED_FIFO, OTHER_PRIORITY);
    expect_policy(elder, SCHED_IDLE, 0);
    end();
}
END_TEST

/* Under SCHED_FIFO a child begins with the policy of its ordinary parent, but without the nice value. */
START_TEST(child_of_an_ordinary_process_gets_its_nice_value)
{
    begin();
    ck_assert_int_eq(setpriority(PRIO_PROCESS, (id_t)subject, 5), 0);
    let_a_tick_pass();
    join_and_run();
    const pid_t child = ask_for("c");
    ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)child), 0);
    give_back();
    expect_policy(child, SCHED_OTHER, 0);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)child), 5);
    end();
}
END_TEST

START_TEST(policy_that_somebody_else_has_set_stays)
{
    begin();
    join_and_run();
    set_policy(subject, SCHED_RR, OTHER_PRIORITY);
    give_back();
    expect_policy(subject, SCHED_RR, OTHER_PRIORITY);
    end();
}
END_TEST

/* Also one that members have at times. */
START_TEST(member_whose_policy_somebody_else_has_set_is_left_alone)
{
    static const int policies[] = {SCHED_RR, SCHED_BATCH, SCHED_IDLE, SCHED_OTHER};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        const int priority = policies[i] == SCHED_RR ? OTHER_PRIORITY : 0;
        begin();
        join_and_run();
        set_policy(subject, policies[i], priority);
        ck_assert_int_eq(dwcs_member_put(&member, MEMBER_LAST), 0);
        ck_assert_int_eq(dwcs_member_put(&member, MEMBER_FIRST), 0);
        expect_policy(subject, policies[i], priority);
        ck_assert(member.is_left_alone);
        give_back();
        expect_policy(subject, policies[i], priority);
        end();
    }
}
END_TEST

START_TEST(slice_that_somebody_else_has_set_stays)
{
    const struct thread_ordinary short_slices = {.number = SCHED_OTHER, .slice_ns = NS_PER_MS};
    struct thread_policy set, now;
    begin();
    join_and_run();
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_ORDINARY), 1);
    ck_assert_int_eq(thread_ordinary_set(subject, &short_slices), 0);
    ck_assert_int_eq(thread_policy_get(subject, &set), 0);
    const bool has_slices = set.runtime_ns == NS_PER_MS; /* since Linux 6.12 */
    ck_assert_int_eq(dwcs_member_put(&member, MEMBER_FIRST), !has_slices);
    give_back();
    ck_assert_int_eq(thread_policy_get(subject, &now), 0);
    ck_assert_int_eq(now.runtime_ns, set.runtime_ns);
    end();
}
END_TEST

START_TEST(timer_slack_comes_back_after_each_turn)
{
    static const int64_t own_ns = 123456;
    begin();
    timer_slack_set(subject, own_ns);
    ck_assert_int_eq(timer_slack_get(subject), own_ns);
    join_and_run();
    for (int turn = 0; turn < 2; turn++) {
        ck_assert_int_eq(dwcs_member_put(&member, turn ? MEMBER_ORDINARY : MEMBER_LAST), 1);
        ck_assert_int_eq(timer_slack_get(subject), own_ns);
        ck_assert_int_eq(dwcs_member_put(&member, MEMBER_FIRST), 1);
    }
    give_back();
    ck_assert_int_eq(timer_slack_get(subject), own_ns);
    end();
}
END_TEST

START_TEST(real_time_processes_are_refused)
{
    begin();
    set_policy(subject, SCHED_RR, OTHER_PRIORITY);
    ck_assert_int_eq(member_before_read(&before, subject, first_cpu(), PRIORITY), -EBUSY);
    set_policy(subject, SCHED_FIFO, PRIORITY);
    ck_assert_int_eq(member_before_read(&before, subject, first_cpu(), PRIORITY), -EBUSY);
    expect_policy(subject, SCHED_FIFO, PRIORITY);
    end();
}
END_TEST

int main(void)
{
    const TTest *const of_cpus[] = {
        each_thread_is_given_back_its_cpus,
        cpus_that_somebody_else_has_set_stay,
        what_begins_later_is_given_back_its_cpus,
        ended_process_is_no_member,
        NULL,
    };
    const TTest *const of_policies[] = {
        batch_its_flag_and_its_nice_value_come_back,
        idle_process_is_idle_again,
        flag_that_it_did_not_have_does_not_stay,
        slice_of_its_own_comes_back,
        usual_slice_is_recognized_by_a_real_time_thread,
        other_threads_keep_their_policies,
        what_begins_later_gets_the_policy_that_it_would_have_inherited,
        child_of_an_ordinary_process_gets_its_nice_value,
        policy_that_somebody_else_has_set_stays,
        member_whose_policy_somebody_else_has_set_is_left_alone,
        slice_that_somebody_else_has_set_stays,
        timer_slack_comes_back_after_each_turn,
        real_time_processes_are_refused,
        NULL,
    };
    const int failed = suite_run("member_before", 60, of_cpus);
    if (thread_policy_is_privileged())
        return failed | suite_run("member_before_policies", 60, of_policies);
    puts("skipped: policies; they need the right to set any (CAP_SYS_NICE)");
    return failed ? failed : EXIT_SKIPPED;
}
