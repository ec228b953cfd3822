/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Members of the registry that change what they have entered. Each test is a process of its own, which is one of the members.
 * Not covered: joining, priorities of running programs, and members that are killed (test_rm.py).
 *
 * Skipped while programs of this user are in the registry.
 */
#include "rm_registry.h"

#include "ns.h"
#include "own_folder.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS NS_PER_MS

enum { EXIT_SKIPPED = 77 };

static struct rm_task statistical(int64_t period_ns, int64_t mean_ns)
{
    return (struct rm_task){.kind = RM_STATISTICAL, .period_ns = period_ns, .deadline_ns = period_ns, .cost_mean_ns = mean_ns};
}

static struct rm_task guaranteed(int64_t period_ns, int64_t longest_ns, int64_t mean_ns)
{
    return (struct rm_task){
        .kind = RM_GUARANTEED, .period_ns = period_ns, .deadline_ns = period_ns, .cost_max_ns = longest_ns, .cost_mean_ns = mean_ns,
    };
}

/* Another program, which does as `act` says, writes the result and waits for its end. */
struct other {
    pid_t process;
    int result;
};

static struct other start(int (*act)(const void *arg), const void *arg)
{
    int ends[2];
    struct other other = {.result = 0};
    ck_assert_int_eq(pipe(ends), 0);
    other.process = fork();
    if (!other.process) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int result = act(arg);
        if (write(ends[1], &result, sizeof result) == sizeof result)
            pause();
        _exit(1);
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &other.result, sizeof other.result), sizeof other.result);
    close(ends[0]);
    return other;
}

static int join_as(const void *task)
{
    struct rm_joined joined;
    const int error = rm_registry_join(task, "other", &joined);
    return error ? error : joined.level;
}

/* Starts a program that joins with this task. Its result is its level, or a negative errno. */
static struct other start_member(struct rm_task task)
{
    return start(join_as, &task);
}

static void end(const struct other *other)
{
    kill(other->process, SIGKILL);
    ck_assert_int_eq(waitpid(other->process, NULL, 0), other->process);
}

static int join(struct rm_task task)
{
    struct rm_joined joined;
    ck_assert_int_eq(rm_registry_join(&task, "self", &joined), 0);
    return joined.level;
}

/* Returns what the registry has of this process. */
static struct rm_task own_task(void)
{
    struct rm_registry registry;
    ck_assert_int_eq(rm_registry_read(&registry), 0);
    for (int i = 0; i < registry.count; i++)
        if (registry.members[i].process == getpid())
            return registry.tasks[i];
    ck_abort_msg("this process is not a member");
}

static void expect_own(struct rm_task wanted, int level)
{
    const struct rm_task own = own_task();
    ck_assert_int_eq(own.kind, wanted.kind);
    ck_assert_int_eq(own.period_ns, wanted.period_ns);
    ck_assert_int_eq(own.cost_max_ns, wanted.cost_max_ns);
    ck_assert_int_eq(own.cost_mean_ns, wanted.cost_mean_ns);
    ck_assert_int_eq(own.level, level);
    ck_assert_int_eq(rm_registry_level(), level);
}

START_TEST(learnt_cost_replaces_an_unknown_one_and_the_level_stays)
{
    struct rm_joined joined;
    const int level = join(statistical(40 * MS, 1));
    const struct rm_task learnt = statistical(40 * MS, 8 * MS);
    ck_assert_int_eq(rm_registry_update(&learnt, true, &joined), 0);
    ck_assert_int_eq(joined.level, level);
    expect_own(learnt, level);
}
END_TEST

START_TEST(guarantee_with_a_learnt_cost_has_a_level_of_the_upper_band_and_can_be_given_back)
{
    struct rm_joined joined;
    join(statistical(40 * MS, 1));
    const struct rm_task promised = guaranteed(40 * MS, 12 * MS, 8 * MS), mean = statistical(40 * MS, 8 * MS);
    ck_assert_int_eq(rm_registry_update(&promised, true, &joined), 0);
    ck_assert_int_ge(joined.level, rm_band_guaranteed.lowest);
    expect_own(promised, joined.level);
    ck_assert_int_eq(rm_registry_update(&mean, true, &joined), 0);
    ck_assert_int_le(joined.level, rm_band_statistical.highest);
    expect_own(mean, joined.level);
}
END_TEST

/* In 40 ms, 29 and twice 6 ms: the other one would take 41 ms. */
START_TEST(guarantee_that_would_make_another_program_late_is_refused_and_changes_nothing)
{
    struct rm_joined joined;
    const struct other other = start_member(guaranteed(40 * MS, 29 * MS, 9 * MS));
    ck_assert_int_gt(other.result, 0);
    const struct rm_task before = statistical(30 * MS, 3 * MS), fits = guaranteed(30 * MS, 5 * MS, 3 * MS),
                         too_long = guaranteed(30 * MS, 6 * MS, 3 * MS);
    const int level = join(before);
    ck_assert_int_eq(rm_registry_update(&too_long, true, &joined), -EBUSY);
    ck_assert_int_eq(joined.by, RESPONSE_TOO_LATE);
    ck_assert_int_eq(joined.late.process, other.process);
    ck_assert_int_eq(joined.late_response_ns, 41 * MS);
    expect_own(before, level);
    ck_assert_int_eq(rm_registry_update(&fits, true, &joined), 0);
    expect_own(fits, joined.level);
    ck_assert_int_eq(rm_registry_update(&too_long, true, &joined), -EBUSY);
    expect_own(fits, rm_registry_level());
    end(&other);
}
END_TEST

/* It runs already; but the next newcomer is refused. */
START_TEST(statistical_program_that_costs_more_is_not_refused)
{
    struct rm_joined joined;
    const struct other other = start_member(statistical(40 * MS, 30 * MS));
    const int level = join(statistical(40 * MS, 5 * MS));
    const struct rm_task costly = statistical(40 * MS, 20 * MS);
    ck_assert_int_eq(rm_registry_update(&costly, true, &joined), 0);
    ck_assert_int_eq(joined.by, RESPONSE_TOO_MUCH);
    expect_own(costly, level);
    const struct other newcomer = start_member(statistical(40 * MS, 1 * MS));
    ck_assert_int_eq(newcomer.result, -EBUSY);
    end(&newcomer);
    end(&other);
}
END_TEST

START_TEST(next_film_has_the_level_of_its_own_rate)
{
    struct rm_joined joined;
    const struct other slow = start_member(statistical(40 * MS, 1)), fast = start_member(statistical(16 * MS, 1));
    const int level = join(statistical(33 * MS, 1));
    ck_assert_int_gt(level, slow.result);
    ck_assert_int_lt(level, fast.result);
    const struct rm_task faster = statistical(10 * MS, 1), slower = statistical(50 * MS, 1);
    ck_assert_int_eq(rm_registry_update(&faster, true, &joined), 0);
    ck_assert_int_gt(joined.level, fast.result);
    expect_own(faster, joined.level);
    ck_assert_int_eq(rm_registry_update(&slower, true, &joined), 0);
    ck_assert_int_lt(joined.level, slow.result);
    expect_own(slower, joined.level);
    end(&slow);
    end(&fast);
}
END_TEST

START_TEST(impossible_values_are_refused_and_change_nothing)
{
    struct rm_joined joined;
    const struct rm_task before = statistical(40 * MS, 5 * MS), too_long = statistical(40 * MS, 41 * MS);
    const int level = join(before);
    ck_assert_int_eq(rm_registry_update(&too_long, true, &joined), -EINVAL);
    expect_own(before, level);
}
END_TEST

START_TEST(program_that_has_not_joined_changes_nothing)
{
    struct rm_joined joined;
    const struct rm_task task = statistical(40 * MS, 5 * MS);
    ck_assert_int_eq(rm_registry_update(&task, true, &joined), -ESRCH);
    ck_assert_int_eq(rm_registry_level(), -ESRCH);
}
END_TEST

/* Joins as the first process of a new PID namespace, which has the /proc of the old one. Returns 1 if there can be none. */
static int join_in_namespace(const void *task)
{
    struct rm_joined joined;
    int status = 0;
    if (unshare(CLONE_NEWPID))
        return 1;
    const pid_t first = fork();
    if (!first)
        _exit(-rm_registry_join(task, "first", &joined));
    waitpid(first, &status, 0);
    return WIFEXITED(status) ? -WEXITSTATUS(status) : 0;
}

START_TEST(program_of_another_namespace_that_would_be_listed_as_a_stranger_is_refused)
{
    struct rm_registry registry;
    const struct rm_task task = statistical(40 * MS, 5 * MS);
    const struct other other = start(join_in_namespace, &task);
    end(&other);
    ck_assert(other.result == -EREMOTE || other.result == 1);
    ck_assert_int_eq(rm_registry_read(&registry), 0);
    ck_assert_int_eq(registry.count, 0);
}
END_TEST

static int take_lock(const void *path)
{
    const int fd = open(path, O_RDWR);
    return fd < 0 || flock(fd, LOCK_EX) ? -errno : 0;
}

START_TEST(change_does_not_wait_for_the_lock_unless_it_may)
{
    char path[OWN_FOLDER_SIZE + 16];
    struct rm_joined joined;
    const int level = join(statistical(40 * MS, 1));
    const struct rm_task learnt = statistical(40 * MS, 8 * MS);
    ck_assert_int_eq(own_folder(path), 0);
    strcat(path, "/rm.lock");
    const struct other other = start(take_lock, path);
    ck_assert_int_eq(other.result, 0);
    ck_assert_int_eq(rm_registry_update(&learnt, false, &joined), -EAGAIN);
    ck_assert_int_eq(rm_registry_update(&learnt, true, &joined), -ETIMEDOUT);
    expect_own(statistical(40 * MS, 1), level);
    end(&other);
    ck_assert_int_eq(rm_registry_update(&learnt, false, &joined), 0);
    expect_own(learnt, level);
}
END_TEST

int main(void)
{
    struct rm_registry registry;
    const TTest *const tests[] = {
        learnt_cost_replaces_an_unknown_one_and_the_level_stays,
        guarantee_with_a_learnt_cost_has_a_level_of_the_upper_band_and_can_be_given_back,
        guarantee_that_would_make_another_program_late_is_refused_and_changes_nothing,
        statistical_program_that_costs_more_is_not_refused,
        next_film_has_the_level_of_its_own_rate,
        impossible_values_are_refused_and_change_nothing,
        program_that_has_not_joined_changes_nothing,
        program_of_another_namespace_that_would_be_listed_as_a_stranger_is_refused,
        change_does_not_wait_for_the_lock_unless_it_may,
        NULL,
    };
    if (rm_registry_read(&registry) || registry.count) {
        puts("skipped: the registry cannot be read, or programs of this user are in it");
        return EXIT_SKIPPED;
    }
    return suite_run("rm_registry", SUITE_TIMEOUT_DEFAULT, tests);
}
