/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads of this process, watched by perf events. Skipped where the kernel does not allow them. Not covered: other users'
 * processes, and how much the observation costs, which the laboratory measures.
 */
#include "process_watch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ns.h"
#include "suite.h"
#include "switch_ring.h"

enum { EXIT_SKIPPED = 77, JOBS = 60, TRIES = 3 };

static const int64_t period_ns = 20 * NS_PER_MS;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

static void sleep_until(int64_t time_ns)
{
    const struct timespec time = ns_to_timespec(time_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* Works at 50 Hz for 60 jobs. */
static void *work_at_50_hz(void *unused)
{
    (void)unused;
    const int64_t begun_ns = now_ns();
    for (int64_t job = 1; job <= JOBS; job++)
        sleep_until(begun_ns + job * period_ns);
    return NULL;
}

static void poll_for_a_while(struct process_watch *watch)
{
    const int64_t until_ns = now_ns() + (JOBS + 5) * period_ns;
    while (now_ns() < until_ns) {
        process_watch_poll(watch);
        sleep_until(now_ns() + 50 * NS_PER_MS);
    }
}

/* Starts the watch, then the thread if it is to come later, and returns the number of the thread with most jobs. */
static int watch_the_thread(struct process_watch **watch, struct period_thread *threads, bool is_later)
{
    pthread_t thread;
    if (!is_later)
        ck_assert_int_eq(pthread_create(&thread, NULL, work_at_50_hz, NULL), 0);
    ck_assert_int_eq(process_watch_create(watch, getpid()), 0);
    if (is_later)
        ck_assert_int_eq(pthread_create(&thread, NULL, work_at_50_hz, NULL), 0);
    poll_for_a_while(*watch);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    process_watch_poll(*watch);
    const int count = process_watch_threads(*watch, INT64_MIN, threads, WATCHED_THREADS_MAX);
    int busiest = 0;
    for (int i = 0; i < count; i++)
        if (threads[i].count > threads[busiest].count)
            busiest = i;
    return busiest;
}

/* The main thread has 20 jobs per second here, which are the polls. The other one has ended, and its jobs are still there. */
static bool sees_50_hz(bool is_later)
{
    static struct period_work work;
    struct process_watch *watch;
    struct period_thread threads[WATCHED_THREADS_MAX];
    const int busiest = watch_the_thread(&watch, threads, is_later);
    const int jobs = (int)threads[busiest].count;
    struct period found;
    ck_assert_int_eq(period_detect(&found, threads[busiest].events, threads[busiest].count, NS_PER_S, &work), 0);
    const double hz = found.verdict == PERIOD_FOUND ? found.rate[0].hz : 0;
    const bool is_other = process_watch_id(watch, busiest) != getpid();
    const bool is_seen = is_other && jobs >= JOBS - 10 && jobs <= JOBS + 10 && hz > 49.5 && hz < 50.5;
    if (!is_seen)
        printf("%d jobs of %s thread at %.1f Hz\n", jobs, is_other ? "the other" : "the main", hz);
    ck_assert_int_eq(process_watch_gaps(watch).lost_records, 0);
    process_watch_destroy(&watch);
    ck_assert_ptr_null(watch);
    return is_seen;
}

/* A machine that stops for a moment spoils a measurement: jobs that are late follow each other without a pause. */
static void expect_50_hz(bool is_later)
{
    bool is_seen = false;
    for (int i = 0; i < TRIES && !is_seen; i++)
        is_seen = sees_50_hz(is_later);
    ck_assert(is_seen);
}

START_TEST(thread_is_seen_at_its_rate)
{
    expect_50_hz(false);
}
END_TEST

START_TEST(thread_that_starts_later_is_found)
{
    expect_50_hz(true);
}
END_TEST

START_TEST(process_that_does_not_exist_is_an_error)
{
    struct process_watch *watch;
    ck_assert_int_eq(process_watch_create(&watch, 0x3ffffff0), -ESRCH);
    ck_assert_ptr_null(watch);
    process_watch_destroy(&watch);
}
END_TEST

static void *become_a_loop(void *unused)
{
    execlp("sh", "sh", "-c", "while :; do sleep 0.02; done", NULL);
    return unused;
}

/* The second thread of a program calls exec, and has the id of the first one from then on. */
_Noreturn static void run_program(int go)
{
    pthread_t second;
    char word;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
    (void)!read(go, &word, 1);
    pthread_create(&second, NULL, become_a_loop, NULL);
    for (;;)
        pause();
}

START_TEST(thread_that_has_called_exec_is_watched_under_its_new_id)
{
    struct process_watch *watch;
    struct period_thread threads[WATCHED_THREADS_MAX];
    int go[2], jobs = 0;
    ck_assert_int_eq(pipe(go), 0);
    const pid_t program = fork();
    if (!program)
        run_program(go[0]);
    ck_assert_int_eq(process_watch_create(&watch, program), 0);
    ck_assert_int_eq(write(go[1], "x", 1), 1);
    for (int tries = 0; tries < 20 && jobs < JOBS / 4; tries++) {
        poll_for_a_while(watch);
        const int count = process_watch_threads(watch, INT64_MIN, threads, WATCHED_THREADS_MAX);
        for (int i = 0; i < count; i++)
            if (process_watch_id(watch, i) == program && process_watch_lives(watch, i))
                jobs = (int)threads[i].count;
    }
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    ck_assert_int_ge(jobs, JOBS / 4);
    process_watch_destroy(&watch);
}
END_TEST

/* When the long job of the thread below has begun and not ended. */
static int64_t middle_ns;

/* Blocks, so that its jobs are known from then on, and has one of 0.2 s. */
static void *work_for_long(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++)
        sleep_until(now_ns() + 10 * period_ns);
    middle_ns = now_ns() + 5 * period_ns;
    while (now_ns() < middle_ns + 5 * period_ns)
        ;
    sleep_until(now_ns() + period_ns);
    return NULL;
}

START_TEST(job_that_lasts_into_the_time_that_is_kept_is_not_forgotten)
{
    pthread_t thread;
    struct process_watch *watch;
    struct period_thread threads[WATCHED_THREADS_MAX];
    int earlier = 0, kept = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, work_for_long, NULL), 0);
    ck_assert_int_eq(process_watch_create(&watch, getpid()), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    process_watch_poll(watch);
    process_watch_forget(watch, middle_ns);
    const int count = process_watch_threads(watch, INT64_MIN, threads, WATCHED_THREADS_MAX);
    for (int i = 0; i < count; i++)
        for (int64_t k = 0; k < threads[i].count && process_watch_id(watch, i) != getpid(); k++) {
            earlier += threads[i].events[k].end_ns < middle_ns;
            kept += threads[i].events[k].time_ns < middle_ns && threads[i].events[k].end_ns >= middle_ns;
        }
    ck_assert_int_eq(kept, 1);
    ck_assert_int_eq(earlier, 0);
    process_watch_destroy(&watch);
}
END_TEST

static pid_t starter;

/* Names itself, starts a process that does so, too, and waits for it. */
static void *start_a_process(void *name)
{
    starter = gettid();
    const pid_t started = fork();
    prctl(PR_SET_NAME, name);
    if (!started) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    waitpid(started, NULL, 0);
    return NULL;
}

/* pthread_join returns a little before the kernel has noted the end of the thread. */
static void join_and_await_end(pthread_t thread)
{
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    while (!syscall(SYS_tgkill, getpid(), starter, 0))
        sched_yield();
}

/* Returns a living thread with this name that belongs to this process, or to another one; 0: there is none. */
static pid_t find_named(const struct process_watch *watch, const char *name, bool is_of_another)
{
    for (int i = 0; i < process_watch_count(watch); i++)
        if (process_watch_lives(watch, i) && !strcmp(process_watch_name(watch, i), name) &&
            (process_watch_process(watch, i) != getpid()) == is_of_another)
            return process_watch_process(watch, i);
    return 0;
}

/* All that has happened before a poll is known after it and the next one, which knows what a thread did before it was found. */
START_TEST(names_and_processes_are_found_without_delay)
{
    struct process_watch *watch;
    pthread_t thread;
    ck_assert_int_eq(process_watch_create(&watch, getpid()), 0);
    process_watch_family(watch);
    for (int i = 0; i < 7; i++) /* when nothing happens, nothing is read */
        process_watch_poll(watch);
    ck_assert_int_eq(pthread_create(&thread, NULL, start_a_process, "watched name"), 0);
    sleep_until(now_ns() + 200 * NS_PER_MS);
    const int before = process_watch_poll(watch);
    const int threads = process_watch_poll(watch);
    ck_assert_int_ge(before, 2);
    ck_assert_int_ge(threads, before);
    ck_assert_int_eq(find_named(watch, "watched name", false), getpid());
    const pid_t started = find_named(watch, "watched name", true);
    ck_assert_int_ne(started, 0);
    prctl(PR_SET_NAME, "renamed");
    process_watch_poll(watch);
    ck_assert_int_eq(find_named(watch, "renamed", false), getpid());
    kill(started, SIGKILL);
    join_and_await_end(thread);
    ck_assert_int_eq(process_watch_poll(watch), threads - 2);
    process_watch_destroy(&watch);
}
END_TEST

static pid_t left_behind;

/* Waits for a byte, starts a process, and ends before that one does. */
static void *start_a_process_and_end(void *go)
{
    char word;
    starter = gettid();
    (void)!read(*(int *)go, &word, 1);
    left_behind = fork();
    while (!left_behind)
        pause();
    return NULL;
}

START_TEST(process_is_found_although_the_thread_that_started_it_has_ended)
{
    struct process_watch *watch;
    pthread_t thread;
    int go[2];
    bool is_found = false;
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(process_watch_create(&watch, getpid()), 0);
    process_watch_family(watch);
    ck_assert_int_eq(pthread_create(&thread, NULL, start_a_process_and_end, &go[0]), 0);
    for (int i = 0; i < 7; i++) /* until the thread is watched and all is known */
        process_watch_poll(watch);
    ck_assert_int_eq(write(go[1], "x", 1), 1);
    join_and_await_end(thread);
    ck_assert_int_gt(left_behind, 0);
    for (int i = 0; i < 2; i++)
        process_watch_poll(watch);
    for (int i = 0; i < process_watch_count(watch); i++)
        is_found |= process_watch_lives(watch, i) && process_watch_process(watch, i) == left_behind;
    kill(left_behind, SIGKILL);
    waitpid(left_behind, NULL, 0);
    ck_assert(is_found);
    process_watch_destroy(&watch);
    close(go[0]);
    close(go[1]);
}
END_TEST

/* While no further file may be open, /proc cannot be read. */
START_TEST(poll_reads_no_file_while_nothing_changes)
{
    struct process_watch *watch;
    struct rlimit files, none;
    ck_assert_int_eq(process_watch_create(&watch, getpid()), 0);
    for (int i = 0; i < 3; i++)
        process_watch_poll(watch);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = (struct rlimit){.rlim_cur = 1, .rlim_max = files.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(process_watch_poll(watch), 1);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    process_watch_destroy(&watch);
}
END_TEST

static void count_gaps(void *context, const struct thread_switch *at)
{
    *(int *)context += at->kind == SWITCH_LOST;
}

/* The kernel reports a loss with the first record that fits again. */
START_TEST(lost_switches_are_counted)
{
    struct perf_ring ring;
    int gaps = 0;
    ck_assert_int_eq(switch_ring_open(&ring, (pid_t)gettid()), 0);
    for (int i = 0; i < 3000; i++)
        sleep_until(now_ns() + NS_PER_US);
    switch_ring_drain(&ring, count_gaps, &gaps);
    sleep_until(now_ns() + NS_PER_MS);
    switch_ring_drain(&ring, count_gaps, &gaps);
    ck_assert_int_gt(ring.lost, 0);
    ck_assert_int_ge(gaps, 1);
    perf_ring_close(&ring);
}
END_TEST

START_TEST(refused_watch_names_the_cause_and_what_helps)
{
    static const struct {
        int error;
        long paranoid;
        const char *cause, *help;
    } cases[] = {
        {-EACCES, 3, "kernel.perf_event_paranoid is 3", "sudo sysctl kernel.perf_event_paranoid=2"}, /* Debian's own setting */
        {-EPERM, 4, "kernel.perf_event_paranoid is 4", "sudo sysctl kernel.perf_event_paranoid=2"},
        {-EACCES, 2, "belongs to another user", "as that user or as root"},
        {-EPERM, 2, "too little memory may be locked", "sudo sysctl kernel.perf_event_mlock_kb=4096"},
        {-EMFILE, 3, "too many open files", "ulimit -n 4096"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[SWITCH_RING_REMEDY_SIZE];
        switch_ring_remedy_under(cases[i].error, cases[i].paranoid, text);
        ck_assert_msg(strstr(text, cases[i].cause) && strstr(text, cases[i].help), "case %zu: %s", i, text);
    }
}
END_TEST

int main(void)
{
    struct perf_ring ring;
    char text[SWITCH_RING_REMEDY_SIZE];
    const int error = switch_ring_open(&ring, (pid_t)gettid());
    if (error) {
        printf("skipped: %s\n", switch_ring_remedy(error, text));
        return EXIT_SKIPPED;
    }
    perf_ring_close(&ring);
    const TTest *const tests[] = {
        thread_is_seen_at_its_rate,
        thread_that_starts_later_is_found,
        process_that_does_not_exist_is_an_error,
        thread_that_has_called_exec_is_watched_under_its_new_id,
        job_that_lasts_into_the_time_that_is_kept_is_not_forgotten,
        names_and_processes_are_found_without_delay,
        process_is_found_although_the_thread_that_started_it_has_ended,
        poll_reads_no_file_while_nothing_changes,
        lost_switches_are_counted,
        refused_watch_names_the_cause_and_what_helps,
        NULL,
    };
    return suite_run("process_watch", 60, tests);
}
