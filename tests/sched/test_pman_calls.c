/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which system calls the library makes, and when: this program has functions of its own in place of the C library's, which look on
 * or let something else happen first. Not covered: what the calls do (the tests beside this file).
 */
#include "pman_members.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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
        name_of_a_later_table_is_not_freed,
        NULL,
    };
    return suite_run("pman_calls", 60, tests);
}
