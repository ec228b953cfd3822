/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quotas of CPU time, and room for threads, read from made-up control groups, also while they change. Not covered: those of this
 * machine; memory, which is found in the same groups; what the player does about a change (test_allowance.c,
 * tests/input/test_limits.py).
 */
#include "limits_watch.h"

#include <check.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"
#include "thread_role.h"

enum { PATH_SIZE = 256 };

static char folder[] = "/tmp/dlex-groups-XXXXXX";
static char membership[PATH_SIZE];
static char root[PATH_SIZE];

static void setup(void)
{
    strcpy(strrchr(folder, '-'), "-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(membership, sizeof membership, "%s/membership", folder);
    snprintf(root, sizeof root, "%s/root", folder);
}

static void teardown(void)
{
    char command[PATH_SIZE + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Writes a file below the folder, and makes the folders above it. */
static void put(const char *path, const char *text)
{
    char whole[2 * PATH_SIZE];
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    for (char *slash = whole + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *const out = fopen(whole, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

static double quota(void)
{
    const struct control_group_files files = {membership, root};
    return cpu_limits_quota(&files);
}

START_TEST(without_groups_there_is_no_quota)
{
    ck_assert(isinf(quota()));
    put("membership", "");
    ck_assert(isinf(quota()));
    put("membership", "no line of this kind\n0::\n:\n");
    ck_assert(isinf(quota()));
}
END_TEST

START_TEST(quota_of_version_2_is_divided_by_its_period)
{
    put("membership", "0::/user.slice/app.scope\n");
    put("root/user.slice/app.scope/cpu.max", "150000 100000\n");
    ck_assert_double_eq(quota(), 1.5);
    put("root/user.slice/app.scope/cpu.max", "max 100000\n");
    ck_assert(isinf(quota()));
}
END_TEST

START_TEST(quota_of_version_1_is_divided_by_its_period)
{
    put("membership", "12:memory:/x\n3:cpu,cpuacct:/docker/1f\n2:cpuset:/\n");
    put("root/cpu/docker/1f/cpu.cfs_quota_us", "250000\n");
    put("root/cpu/docker/1f/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(quota(), 2.5);
    put("root/cpu/docker/1f/cpu.cfs_quota_us", "-1\n");
    ck_assert(isinf(quota()));
}
END_TEST

START_TEST(group_with_the_least_quota_counts)
{
    put("membership", "0::/a/b\n");
    put("root/a/cpu.max", "50000 100000\n");
    put("root/a/b/cpu.max", "300000 100000\n");
    ck_assert_double_eq(quota(), 0.5);
    put("root/a/cpu.max", "400000 100000\n");
    ck_assert_double_eq(quota(), 3);
}
END_TEST

/* A container sees its own group as the root, and the path of the machine. */
START_TEST(group_of_a_container_is_the_root)
{
    put("membership", "4:cpu,cpuacct:/docker/1f\n");
    put("root/cpu/cpu.cfs_quota_us", "200000\n");
    put("root/cpu/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(quota(), 2);
}
END_TEST

START_TEST(outer_group_of_version_1_may_have_the_least_quota)
{
    put("membership", "3:cpu,cpuacct:/a/b\n");
    put("root/cpu/a/cpu.cfs_quota_us", "50000\n");
    put("root/cpu/a/cpu.cfs_period_us", "100000\n");
    put("root/cpu/a/b/cpu.cfs_quota_us", "-1\n");
    put("root/cpu/a/b/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(quota(), 0.5);
}
END_TEST

START_TEST(group_with_the_least_room_for_threads_counts)
{
    const struct control_group_files files = {membership, root};
    ck_assert_int_eq(control_groups_thread_room(&files), INT64_MAX);
    put("membership", "0::/a/b\n");
    put("root/a/pids.max", "max\n");
    put("root/a/pids.current", "7\n");
    ck_assert_int_eq(control_groups_thread_room(&files), INT64_MAX);
    put("root/a/b/pids.max", "20\n");
    put("root/a/b/pids.current", "5\n");
    ck_assert_int_eq(control_groups_thread_room(&files), 15);
    put("root/a/pids.max", "10\n");
    ck_assert_int_eq(control_groups_thread_room(&files), 3);
    put("root/a/pids.max", "2\n"); /* lowered below what runs */
    ck_assert_int_eq(control_groups_thread_room(&files), 0);
    put("membership", "8:pids:/x\n");
    put("root/pids/x/pids.max", "9\n");
    put("root/pids/x/pids.current", "1\n");
    ck_assert_int_eq(control_groups_thread_room(&files), 8);
}
END_TEST

START_TEST(other_controllers_are_not_asked)
{
    put("membership", "5:cpuset:/q\n6:cpuacct:/q\n");
    put("root/cpu/q/cpu.cfs_quota_us", "100000\n");
    put("root/cpu/q/cpu.cfs_period_us", "100000\n");
    ck_assert(isinf(quota()));
    put("membership", "5:cpuset:/q\n6:cpuacct,cpu:/q\n");
    ck_assert_double_eq(quota(), 1);
}
END_TEST

START_TEST(cpus_are_those_of_the_thread)
{
    cpu_set_t before;
    cpu_set_t one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    ck_assert_int_eq(cpu_limits_affinity(), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int cpu = 0; !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(cpu_limits_affinity(), 1);
    sched_setaffinity(0, sizeof before, &before);
}
END_TEST

/* Waits until the watch has seen a quota; it looks four times a second. */
static void expect_quota(struct limits_watch *watch, double expected)
{
    for (int i = 0; limits_watch_seen(watch).quota != expected && i < 1000; i++)
        usleep(10000);
    ck_assert_double_eq(limits_watch_seen(watch).quota, expected);
}

START_TEST(watch_follows_quotas_that_change_appear_and_end)
{
    struct limits_watch *watch;
    put("membership", "0::/a\n");
    put("root/a/cpu.max", "150000 100000\n");
    ck_assert_int_eq(limits_watch_create(&watch, &(struct control_group_files){membership, root}), 0);
    ck_assert_int_eq(limits_watch_seen(watch).cpus, 0); /* nobody has looked */
    ck_assert(isinf(cpu_limits_least(&(struct cpu_limits){0})));
    limits_watch_look(watch);
    ck_assert_double_eq(limits_watch_seen(watch).quota, 1.5);
    put("root/a/cpu.max", "75000 100000\n");
    expect_quota(watch, 0.75);
    put("root/a/cpu.max", "max 100000\n");
    expect_quota(watch, INFINITY);
    put("root/cpu.max", "50000 100000\n"); /* of a group around it */
    expect_quota(watch, 0.5);
    limits_watch_destroy(&watch);
    ck_assert_ptr_null(watch);
    limits_watch_destroy(&watch);
}
END_TEST

START_TEST(watch_follows_the_program_into_another_group)
{
    struct limits_watch *watch;
    put("membership", "3:cpu,cpuacct:/a\n");
    put("root/cpu/b/cpu.cfs_quota_us", "25000\n");
    put("root/cpu/b/cpu.cfs_period_us", "50000\n");
    ck_assert_int_eq(limits_watch_create(&watch, &(struct control_group_files){membership, root}), 0);
    limits_watch_look(watch);
    ck_assert(isinf(limits_watch_seen(watch).quota));
    put("membership", "3:cpu,cpuacct:/b\n");
    expect_quota(watch, 0.5);
    limits_watch_destroy(&watch);
}
END_TEST

/* The watch has a thread of its own, which may run elsewhere. */
START_TEST(watch_counts_the_cpus_of_the_threads_that_decode_or_present)
{
    struct limits_watch *watch;
    cpu_set_t all;
    cpu_set_t one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_int_eq(limits_watch_create(&watch, &(struct control_group_files){membership, root}), 0);
    ck_assert_int_eq(thread_role_take(ROLE_PRESENT), 0);
    limits_watch_look(watch);
    ck_assert_int_eq(limits_watch_seen(watch).cpus, CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int cpu = 0; !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; limits_watch_seen(watch).cpus != 1 && i < 1000; i++)
        usleep(10000);
    ck_assert_int_eq(limits_watch_seen(watch).cpus, 1);
    ck_assert_double_eq(cpu_limits_least(&(struct cpu_limits){.cpus = 1, .quota = 1.5}), 1);
    ck_assert_double_eq(cpu_limits_least(&(struct cpu_limits){.cpus = 2, .quota = 1.5}), 1.5);
    thread_role_take(0);
    sched_setaffinity(0, sizeof all, &all);
    limits_watch_destroy(&watch);
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &without_groups_there_is_no_quota,
        &quota_of_version_2_is_divided_by_its_period,
        &quota_of_version_1_is_divided_by_its_period,
        &group_with_the_least_quota_counts,
        &group_of_a_container_is_the_root,
        &outer_group_of_version_1_may_have_the_least_quota,
        &group_with_the_least_room_for_threads_counts,
        &other_controllers_are_not_asked,
        &cpus_are_those_of_the_thread,
        &watch_follows_quotas_that_change_appear_and_end,
        &watch_follows_the_program_into_another_group,
        &watch_counts_the_cpus_of_the_threads_that_decode_or_present,
    };
    TCase *const tcase = tcase_create("cpu_limits");
    tcase_set_timeout(tcase, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("cpu_limits", tcase, CK_FORK_GETENV);
}
