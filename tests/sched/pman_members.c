/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pman_members.h"

#include "ns.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

enum { PATH_SIZE = 320 };

static char table_name[PMAN_NAME_SIZE];

void members_pause(void)
{
    usleep(1000);
}

const char *members_table(void)
{
    return table_name;
}

static void remove_table(const char *name)
{
    struct pman *pman;
    char path[PATH_SIZE];
    if (pman_open(&pman, name) == 0)
        pman_close(&pman);
    snprintf(path, sizeof path, "/dev/shm/dlex-pman-%u-%s", (unsigned)geteuid(), name);
    unlink(path); /* of another version */
}

/* Of a test that has failed. */
static void remove_own_table(void)
{
    remove_table(table_name);
}

/* True if the test that has made a table with this name was killed: its name is test-PID, and perhaps more. */
static bool is_left(const char *name)
{
    int pid;
    return sscanf(name, "test-%d", &pid) == 1 && kill(pid, 0) && errno == ESRCH;
}

static void remove_left_tables(void)
{
    char prefix[PATH_SIZE];
    DIR *const folder = opendir("/dev/shm");
    const int length = snprintf(prefix, sizeof prefix, "dlex-pman-%u-", (unsigned)geteuid());
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (!strncmp(entry->d_name, prefix, (size_t)length) && is_left(entry->d_name + length))
            remove_table(entry->d_name + length);
    if (folder)
        closedir(folder);
}

void members_begin(struct pman **pman, enum pman_deadlines deadlines)
{
    const struct pman_options options = {.deadlines = deadlines};
    remove_left_tables();
    snprintf(table_name, sizeof table_name, "test-%d", (int)getpid());
    remove_own_table();
    atexit(remove_own_table);
    ck_assert_int_eq(pman_init(pman, table_name, &options), 0);
}

void members_add(struct pman *pman, const char *name, struct pman_timing timing, const char *recovery)
{
    ck_assert_int_eq(pman_procadd(pman, name, &timing, 0, recovery), 0);
}

static int64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return ns_from_timespec(time);
}

static void compute(int work_us)
{
    const int64_t until_ns = cpu_ns() + work_us * NS_PER_US;
    while (cpu_ns() < until_ns)
        ;
}

static _Noreturn void run_member(const char *name, int work_us)
{
    struct pman *pman;
    int error = pman_open(&pman, table_name);
    if (!error)
        error = pman_attach(pman, name, getpid(), PMAN_BY_FUTEX);
    while (!error && !(error = pman_wait(pman, name))) {
        compute(work_us);
        pman_epilogue(pman, name);
    }
    _exit(-error);
}

pid_t members_start(const char *name, int work_us)
{
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_member(name, work_us);
    }
    return pid;
}

int members_end(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

struct pman_statistics members_query(struct pman *pman, const char *name)
{
    struct pman_statistics statistics;
    ck_assert_int_eq(pman_query(pman, name, &statistics), 0);
    return statistics;
}

bool members_is_idle(struct pman *pman, const char *name)
{
    const struct pman_statistics statistics = members_query(pman, name);
    return statistics.status == PMAN_IDLE && statistics.has_waited;
}

static long number_from(const char *name, long otherwise)
{
    const char *const text = getenv(name);
    return text ? strtol(text, NULL, 0) : otherwise;
}

int members_kills(void)
{
    return (int)number_from("DLEX_TEST_KILLS", 200);
}

long members_random(long limit)
{
    static unsigned short state[3];
    static bool is_seeded;
    if (!is_seeded)
        state[0] = (unsigned short)number_from("DLEX_TEST_SEED", 1);
    is_seeded = true;
    return nrand48(state) % limit;
}
