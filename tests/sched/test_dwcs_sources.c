/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the dispatcher of DWCS is made of, as far as it needs no rights: windows, sources of events, facts about a member. */
#include "dwcs_guard.h"
#include "dwcs_member.h"
#include "event_source.h"
#include "member_journal.h"
#include "window_count.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { TRIES = 30000 }; /* of 1 ms */

static const struct dwcs_params two_of_three = {.x = 1, .y = 3};

START_TEST(windows_are_counted_one_after_the_other)
{
    static const char periods[] = "s.s" "..s" "sss" ".s"; /* s: served */
    struct window_count count = {0};
    struct dwcs_counts counts = {0};
    for (int i = 0; periods[i]; i++) {
        counts.served += periods[i] == 's';
        counts.missed += periods[i] != 's';
        window_count_look(&count, &counts, &two_of_three);
    }
    ck_assert_int_eq(count.kept, 2);
    ck_assert_int_eq(count.lost, 1);
}
END_TEST

START_TEST(periods_that_end_together_are_counted)
{
    struct window_count count = {0};
    const struct dwcs_counts first = {.served = 5, .missed = 1}, second = {.served = 6, .missed = 3};
    window_count_look(&count, &first, &two_of_three);
    ck_assert_int_eq(count.kept, 2);
    window_count_look(&count, &second, &two_of_three);
    ck_assert_int_eq(count.lost, 1);
}
END_TEST

START_TEST(without_a_window_constraint_there_are_no_windows)
{
    struct window_count count = {0};
    const struct dwcs_counts counts = {.served = 5, .missed = 5};
    window_count_look(&count, &counts, &(struct dwcs_params){0});
    ck_assert_int_eq(count.kept + count.lost, 0);
}
END_TEST

START_TEST(each_one_written_to_an_eventfd_is_an_event)
{
    struct event_source source;
    struct pollfd polled;
    const int file = eventfd(0, EFD_NONBLOCK);
    ck_assert_int_eq(event_source_open(&source, EVENTS_OF_EVENTFD, -1, file), 0);
    ck_assert_int_eq(event_source_take(&source), 0);
    eventfd_write(file, 2);
    eventfd_write(file, 1);
    ck_assert(event_source_poll(&source, &polled));
    ck_assert_int_eq(poll(&polled, 1, 0), 1);
    ck_assert_int_eq(event_source_take(&source), 3);
    ck_assert_int_eq(event_source_take(&source), 0);
    eventfd_write(file, 1000000);
    ck_assert_int_eq(event_source_take(&source), 16);
    event_source_close(&source);
    ck_assert_int_eq(eventfd_write(file, 1), 0); /* it is still open */
    close(file);
}
END_TEST

/* The member shares the file, and can change it. */
START_TEST(blocking_eventfd_is_not_waited_for)
{
    struct event_source source;
    const int file = eventfd(0, EFD_NONBLOCK);
    ck_assert_int_eq(event_source_open(&source, EVENTS_OF_EVENTFD, -1, file), 0);
    ck_assert_int_eq(fcntl(file, F_SETFL, 0), 0);
    ck_assert_int_eq(event_source_take(&source), 0);
    eventfd_write(file, 2);
    ck_assert_int_eq(event_source_take(&source), 2);
    ck_assert_int_eq(event_source_take(&source), 0);
    close(file);
}
END_TEST

/* A process with a socket, for the other end of which the test writes. */
START_TEST(socket_of_another_process_is_an_event_when_it_becomes_readable)
{
    int ends[2];
    char text;
    struct event_source source;
    struct pollfd polled;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
    const pid_t owner = fork();
    if (owner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    const int pidfd = (int)syscall(SYS_pidfd_open, owner, 0);
    const int number = ends[1];
    const int error = event_source_open(&source, EVENTS_OF_SOCKET, pidfd, number);
    if (error != -EPERM) { /* in some containers nobody may */
        ck_assert_int_eq(error, 0);
        ck_assert_int_ne(source.file, number);
        ck_assert(event_source_poll(&source, &polled));
        ck_assert_int_eq(event_source_take(&source), 0);
        ck_assert_int_eq(write(ends[0], "a", 1), 1);
        ck_assert_int_eq(event_source_take(&source), 1);
        ck_assert_int_eq(event_source_take(&source), 0); /* it still is readable */
        ck_assert(!event_source_poll(&source, &polled));
        ck_assert_int_eq(read(ends[1], &text, 1), 1);
        ck_assert_int_eq(event_source_take(&source), 0);
        ck_assert_int_eq(write(ends[0], "a", 1), 1);
        ck_assert_int_eq(event_source_take(&source), 1);
        event_source_close(&source);
        ck_assert_int_eq(event_source_open(&source, EVENTS_OF_SOCKET, pidfd, 999), -EBADF);
    }
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
}
END_TEST

START_TEST(member_is_seen_to_work_and_to_sleep)
{
    static struct member_before before;
    struct dwcs_member member;
    const pid_t worker = fork();
    if (worker == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile long i = 0;; i++)
            ;
    }
    ck_assert_int_eq(member_before_read(&before, worker, 0, 1), 0);
    ck_assert_int_eq(dwcs_member_open(&member, &before), 0);
    int64_t ran_ns = 0;
    for (int i = 0; i < TRIES && ran_ns < 10000000; i++) {
        usleep(1000);
        ran_ns += dwcs_member_ran_ns(&member);
    }
    ck_assert_int_ge(ran_ns, 10000000);
    ck_assert_int_eq(dwcs_member_cpu_ns(&member), ran_ns);
    ck_assert(dwcs_member_is_runnable(&member));
    const int64_t sleeps = dwcs_member_sleeps(&member);
    ck_assert_int_ge(sleeps, 0);
    kill(worker, SIGSTOP);
    int status;
    ck_assert_int_eq(waitpid(worker, &status, WUNTRACED), worker);
    ck_assert(!dwcs_member_is_runnable(&member));
    for (int i = 0; i < TRIES && dwcs_member_sleeps(&member) <= sleeps; i++)
        usleep(1000); /* its parent learns that it stops, and then it leaves the CPU */
    ck_assert_int_gt(dwcs_member_sleeps(&member), sleeps);
    const int64_t wait_ns = dwcs_member_wait_ns(&member);
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    ck_assert_int_eq(dwcs_member_wait_ns(&member), wait_ns); /* the kernel has forgotten it */
    ck_assert(!dwcs_member_is_runnable(&member));
    ck_assert_int_eq(dwcs_member_ran_ns(&member), 0);
    ck_assert_int_eq(dwcs_member_cpu_ns(&member) >= ran_ns, 1);
    dwcs_member_close(&member);
    ck_assert_int_eq(dwcs_member_open(&member, &before), -ESRCH);
}
END_TEST

/* The limit may allow the dispatcher's priority, and not the guard's, which is above it. */
START_TEST(guard_that_may_not_have_its_priority_is_refused)
{
    enum { NOBODY = 65534, PRIORITY = 42 };
    int status;
    const pid_t child = fork();
    if (child == 0) {
        struct dwcs_guard guard = {0};
        const struct rlimit limit = {PRIORITY - 1, PRIORITY - 1};
        struct rlimit own;
        if (getrlimit(RLIMIT_RTPRIO, &own) || (own.rlim_max >= PRIORITY && setrlimit(RLIMIT_RTPRIO, &limit)))
            _exit(2);
        if (!geteuid() && setresuid(NOBODY, NOBODY, NOBODY))
            _exit(3);
        const int error = dwcs_guard_start(&guard, PRIORITY);
        dwcs_guard_end(&guard);
        _exit(error == -EPERM || thread_policy_is_privileged() ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

static const struct undo_journal *begin_journal(void)
{
    static struct undo_journal journal;
    ck_assert_int_eq(undo_journal_create_of(&journal, UNDO_MEMBERS), 0);
    return &journal;
}

/* Reads a journal and removes it. */
static char *end_journal(const struct undo_journal *journal)
{
    struct undo_journal ended = *journal;
    char *const text = undo_journal_text(journal);
    undo_journal_remove(&ended);
    ck_assert_ptr_nonnull(text);
    return text;
}

static struct member_before *member_of(pid_t process)
{
    struct member_before *const before = calloc(1, sizeof *before);
    before->main = (struct thread_ref){.process = process, .thread = process, .started_ticks = 77};
    before->policy = (struct thread_ordinary){.number = SCHED_BATCH, .resets_on_fork = true, .slice_ns = 3000000};
    before->nice = 5;
    before->timer_slack_ns = 50000;
    before->joined_ticks = UINT64_MAX;
    before->cpu = 1;
    before->priority = 17;
    CPU_SET(0, &before->cpus);
    CPU_SET(CPU_SETSIZE - 1, &before->cpus);
    return before;
}

START_TEST(journal_has_all_that_members_had)
{
    const struct undo_journal *const journal = begin_journal();
    struct member_before *const first = member_of(4000000), *const second = member_of(4000001), *const read = member_of(1);
    struct thread_before one = {.thread = {.process = 4000000, .thread = 4000002, .started_ticks = 78}, .cpus = first->cpus};
    ck_assert_int_eq(member_journal_note(journal, first), 0);
    ck_assert_int_eq(member_journal_note_thread(journal, &one), 0);
    ck_assert_int_eq(member_journal_note(journal, second), 0);
    char *const text = end_journal(journal);
    const char *at = text;
    ck_assert(member_journal_next(&at, read));
    ck_assert_int_eq(read->main.process, 4000000);
    ck_assert_int_eq(read->main.started_ticks, 77);
    ck_assert_int_eq(read->policy.number, SCHED_BATCH);
    ck_assert(read->policy.resets_on_fork && read->is_recorded);
    ck_assert_int_eq(read->policy.slice_ns, 3000000);
    ck_assert_int_eq(read->nice, 5);
    ck_assert_int_eq(read->timer_slack_ns, 50000);
    ck_assert(read->joined_ticks == UINT64_MAX);
    ck_assert(CPU_EQUAL(&read->cpus, &first->cpus));
    ck_assert_int_eq(read->threads, 1);
    ck_assert_int_eq(read->thread[0].thread.thread, 4000002);
    ck_assert(CPU_EQUAL(&read->thread[0].cpus, &first->cpus));
    ck_assert(member_journal_next(&at, read));
    ck_assert_int_eq(read->main.process, 4000001);
    ck_assert_int_eq(read->threads, 0);
    ck_assert(!member_journal_next(&at, read));
    free(text);
    free(first);
    free(second);
    free(read);
}
END_TEST

/* True if a member is read from a line with these fields, and a set of CPUs of so many digits. */
static bool is_member(const char *fields, int digits)
{
    enum { DIGITS = 2 * sizeof(cpu_set_t) };
    char line[DIGITS + 100], cpus[DIGITS + 1];
    struct member_before *const read = member_of(1);
    memset(cpus, '1', DIGITS);
    cpus[digits] = 0;
    snprintf(line, sizeof line, "\nmember %s %s", fields, cpus);
    const char *at = line;
    const bool is_read = member_journal_next(&at, read);
    free(read);
    return is_read;
}

/* Lines of a hostile user, and torn ones: each is wrong in one place. */
START_TEST(nonsense_in_a_journal_is_left_out)
{
    static const char good[] = "4000000 1 1 0 17 0 0 0 0 0";
    enum { DIGITS = 2 * sizeof(cpu_set_t) };
    ck_assert(is_member(good, DIGITS));
    for (int digits = 0; digits < DIGITS; digits++)
        ck_assert(!is_member(good, digits));
    ck_assert(!is_member("-5 1 1 0 17 0 0 0 0 0", DIGITS));
    ck_assert(!is_member("4000000 1 1 99999 17 0 0 0 0 0", DIGITS));
    ck_assert(!is_member("4000000 1 1 -1 17 0 0 0 0 0", DIGITS));
    ck_assert(!is_member("4000000 1 1 0 17 0 0 -1 0 0", DIGITS));
    ck_assert(!is_member("4000000 1 1 0 17 0 0 0 0", DIGITS));
    ck_assert(!is_member("hello", 0));
}
END_TEST

/* Becomes a user without rights but CAP_SYS_NICE, as that of a program with this file capability. */
static bool become_nobody_with_nice(void)
{
    enum { NOBODY = 65534 };
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {{0}};
    kept[0].permitted = kept[0].effective = CAP_TO_MASK(CAP_SYS_NICE);
    return !prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) && !setresuid(NOBODY, NOBODY, NOBODY) && !syscall(SYS_capset, &header, kept);
}

/* The user can have forged the journal. */
START_TEST(process_of_another_user_is_not_changed_by_a_journal)
{
    int status;
    if (geteuid() || !thread_policy_is_privileged())
        return;
    const pid_t other = fork();
    if (other == 0)
        for (;;)
            pause();
    struct member_before *const before = member_of(other);
    struct thread_ref ref;
    cpu_set_t cpus;
    ck_assert_int_eq(thread_ref_open(&ref, other, other), 0);
    thread_ref_close(&ref);
    sched_getaffinity(other, sizeof cpus, &cpus);
    before->main = before->thread[0].thread = ref;
    before->threads = 1;
    before->is_recorded = true;
    before->thread[0].cpus = cpus;
    for (before->cpu = 0; !CPU_ISSET(before->cpu, &cpus); before->cpu++)
        ;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(before->cpu, &only);
    sched_setaffinity(other, sizeof only, &only);
    const pid_t child = fork();
    if (child == 0) {
        if (!become_nobody_with_nice() || !thread_policy_is_privileged())
            _exit(2);
        _exit(member_before_give_back(before) != -EPERM);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(member_before_give_back(before), 1); /* root may */
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    free(before);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        windows_are_counted_one_after_the_other,
        periods_that_end_together_are_counted,
        without_a_window_constraint_there_are_no_windows,
        each_one_written_to_an_eventfd_is_an_event,
        blocking_eventfd_is_not_waited_for,
        socket_of_another_process_is_an_event_when_it_becomes_readable,
        member_is_seen_to_work_and_to_sleep,
        guard_that_may_not_have_its_priority_is_refused,
        journal_has_all_that_members_had,
        nonsense_in_a_journal_is_left_out,
        process_of_another_user_is_not_changed_by_a_journal,
        NULL,
    };
    return suite_run("dwcs_sources", 120, tests);
}
