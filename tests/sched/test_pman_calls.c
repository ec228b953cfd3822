/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which system calls the library makes, and when: this program has functions of its own in place of the C library's, which look on
 * or let something else happen first. Not covered: what the calls do (the tests beside this file).
 */
#include "pman_members.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

/* Called once, before the next name is freed. */
static void (*before_unlink)(void);

int unlink(const char *path)
{
    void (*const call)(void) = before_unlink;
    before_unlink = NULL;
    if (call)
        call();
    return unlinkat(AT_FDCWD, path, 0);
}

static pid_t rival;

/* Another program makes a table with the same name, as soon as it can. */
static void start_rival(void)
{
    rival = fork();
    if (rival == 0) {
        struct pman *pman;
        _exit(pman_init(&pman, members_table(), &(struct pman_options){0}) != 0);
    }
    usleep(200000);
}

enum { SENT_MAX = 8 };

/* Who got SIGRTMIN, in this order. */
static pid_t sent[SENT_MAX];
static int sent_count;

int kill(pid_t pid, int signal)
{
    if (signal == SIGRTMIN && sent_count < SENT_MAX)
        sent[sent_count++] = pid;
    return (int)syscall(SYS_kill, pid, signal);
}

/* Starts a process that is activated by signals, and inherits that they are ignored. */
static pid_t start_by_signal(struct pman *pman, const char *name)
{
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    ck_assert_int_eq(pman_attach(pman, name, pid, PMAN_BY_SIGNAL), 0);
    return pid;
}

/* The one that is registered last has the first place in the table. */
START_TEST(signals_are_sent_in_the_order_of_the_releases)
{
    static const struct pman_timing never = {0}, each = {.period = 1};
    struct pman *pman;
    signal(SIGRTMIN, SIG_IGN);
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "place", never, NULL);
    members_add(pman, "first", each, NULL);
    members_add(pman, "second", each, NULL);
    ck_assert_int_eq(pman_procdel(pman, "place"), 0);
    members_add(pman, "third", each, NULL);
    const pid_t pid[] = {start_by_signal(pman, "first"), start_by_signal(pman, "second"), start_by_signal(pman, "third")};
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(sent_count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(sent[i], pid[i]);
    pman_close(&pman);
    for (int i = 0; i < 3; i++) {
        kill(pid[i], SIGKILL);
        members_end(pid[i]);
    }
}
END_TEST

START_TEST(name_of_a_later_table_is_not_freed)
{
    struct pman *pman;
    int status;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    before_unlink = start_rival;
    pman_close(&pman);
    ck_assert_int_eq(waitpid(rival, &status, 0), rival);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(pman_open(&pman, members_table()), 0);
    pman_close(&pman);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        signals_are_sent_in_the_order_of_the_releases,
        name_of_a_later_table_is_not_freed,
        NULL,
    };
    return suite_run("pman_calls", 60, tests);
}
