/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What other programs do to a table: they are killed while they close it, have the ids of earlier processes, make files with its
 * name. Not covered: programs that are killed in other calls (test_pman_call_kills.c).
 */
#include "pman_members.h"

#include "pman_change.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static const struct pman_timing each = {.period = 1};
static const struct pman_options usual;

/* Closes the table as pman_close does, and is killed as soon as that cannot be undone. */
static _Noreturn void close_half(struct pman *pman)
{
    struct pman_change change;
    if (pman_change_begin(&change, pman->shared))
        _exit(1);
    pman_table_detach(change.table, "a", change.now_ns, &change.out);
    change.table->is_closed = 1;
    __atomic_store_n(&pman->shared->current, (uint32_t)(change.table - pman->shared->table), __ATOMIC_RELEASE);
    raise(SIGKILL);
    _exit(1);
}

START_TEST(closing_by_a_killed_program_takes_effect_completely)
{
    struct pman *pman, *next;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    const pid_t a = members_start("a", 0);
    EXPECT_SOON(members_is_idle(pman, "a"));
    const pid_t killed = fork();
    if (killed == 0)
        close_half(pman);
    ck_assert_int_eq(members_end(killed), 1000 + SIGKILL);
    ck_assert_int_eq(members_end(a), ESHUTDOWN); /* it has looked again */
    ck_assert_int_eq(pman_open(&next, members_table()), -ENOENT);
    ck_assert_int_eq(pman_tick(pman, 0), -ESHUTDOWN);
    ck_assert_int_eq(pman_tick(pman, 0), -ESHUTDOWN);
    ck_assert_int_eq(pman_init(&next, members_table(), &usual), 0);
    pman_leave(&pman);
    pman_close(&next);
}
END_TEST

START_TEST(another_users_file_is_told_from_a_table)
{
    char path[96];
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER); /* removes what others have left */
    pman_close(&pman);
    snprintf(path, sizeof path, "/dev/shm/dlex-pman-%u-%s", (unsigned)geteuid(), members_table());
    const int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(file, 0);
    const bool is_foreign = fchown(file, 65534, 65534) == 0;
    close(file);
    if (is_foreign) /* only root can make one */
        ck_assert_int_eq(pman_init(&pman, members_table(), &usual), -EACCES);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

static struct pman_slot *signalled; /* the slot of this process */
static int signals;

/* As if, meanwhile, another program had released the next instance and not yet sent its signal. */
static void release_next(int signal)
{
    (void)signal;
    if (!signals++)
        __atomic_fetch_add(&signalled->released, 1, __ATOMIC_RELAXED);
}

/* Else that one's signal would be lost, or this one's sent twice. */
START_TEST(only_the_signal_itself_delivers_an_instance)
{
    struct pman *pman;
    const struct sigaction action = {.sa_handler = release_next};
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    signalled = &pman->shared->slot[0];
    ck_assert_int_eq(sigaction(SIGRTMIN, &action, NULL), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_SIGNAL), 0);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(signalled->delivered, 1);
    ck_assert_int_eq(signals, 1);
    pman_close(&pman);
}
END_TEST

/* The entry of a process that has ended, whose id a later one has got, before anybody has noticed. */
START_TEST(process_with_the_id_of_an_earlier_one_is_another)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", each, NULL);
    members_add(pman, "c", each, NULL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    pman->shared->slot[0].start--;
    ck_assert_int_eq(pman_attach(pman, "b", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_DIED);
    ck_assert_int_eq(members_query(pman, "a").pid, 0);
    ck_assert_int_eq(pman_attach(pman, "c", getpid(), PMAN_BY_FUTEX), 0); /* the same process once more */
    ck_assert_int_eq(members_query(pman, "b").pid, getpid());
    ck_assert_int_eq(members_query(pman, "c").pid, getpid());
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    pman_close(&pman);
}
END_TEST

static void *live_on(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static _Noreturn void end_main_thread(void)
{
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pthread_create(&thread, NULL, live_on, NULL))
        _exit(1);
    syscall(SYS_exit, 0); /* of this thread only */
    abort();
}

static bool is_zombie(pid_t pid)
{
    char path[32], stat[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, stat, sizeof stat - 1);
    close(file);
    return size > 0 && strstr(stat, ") Z ");
}

START_TEST(process_lives_without_its_main_thread)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    const pid_t a = fork();
    if (a == 0)
        end_main_thread();
    EXPECT_SOON(is_zombie(a));
    ck_assert_int_eq(pman_attach(pman, "a", a, PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), -EBUSY);
    kill(a, SIGKILL);
    siginfo_t ended;
    ck_assert_int_eq(waitid(P_PID, (id_t)a, &ended, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    members_end(a);
    pman_close(&pman);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        closing_by_a_killed_program_takes_effect_completely,
        another_users_file_is_told_from_a_table,
        only_the_signal_itself_delivers_an_instance,
        process_with_the_id_of_an_earlier_one_is_another,
        process_lives_without_its_main_thread,
        NULL,
    };
    return suite_run("pman_strangers", 120, tests);
}
