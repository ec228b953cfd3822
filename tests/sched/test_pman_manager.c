/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The manager: ticks of a timer, delays, deadlines, ends of processes, and how one manager follows another. Not covered: how late
 * it is, which depends on the machine; here only that nothing comes early. Killed managers: test_pman_kills.c.
 */
#include "pman_members.h"

#include "pman_shared.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

static const struct pman_timing each = {.period = 1};
static const struct pman_manager_options external = {0};

/* Makes a table with a manager. */
static void begin(struct pman **pman, struct pman_manager **manager, int64_t tick_ns)
{
    const struct pman_manager_options options = {.tick_ns = tick_ns};
    members_begin(pman, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_manager_start(manager, *pman, &options), 0);
}

static void end(struct pman **pman, struct pman_manager **manager)
{
    pman_manager_stop(manager);
    ck_assert_ptr_null(*manager);
    pman_manager_stop(manager);
    pman_close(pman);
}

/* Returns the next record of this kind, of any process. */
static struct pman_log_record next_record(struct pman_log_reader *reader, const struct pman_log *log, enum pman_log_kind kind)
{
    struct pman_log_record record = {.kind = -1};
    while (record.kind != (int32_t)kind)
        EXPECT_SOON(pman_log_read(reader, log, &record));
    return record;
}

START_TEST(timer_ticks_are_periodic)
{
    struct pman *pman;
    struct pman_manager *manager;
    struct pman_log_reader reader = {0};
    begin(&pman, &manager, 5 * MS);
    int64_t before_ns = 0;
    for (int k = 0; k < 50; k++) {
        const struct pman_log_record tick = next_record(&reader, &pman->shared->log, PMAN_LOG_TICK);
        ck_assert_int_eq(tick.number, k);
        if (k > 0) {
            ck_assert_int_ge(tick.time_ns, before_ns + 5 * MS);
            ck_assert_int_eq((tick.time_ns - before_ns) % (5 * MS), 0); /* more than one period if the machine was late */
        }
        before_ns = tick.time_ns;
    }
    end(&pman, &manager);
}
END_TEST

START_TEST(delay_ends_after_its_time)
{
    struct pman *pman;
    struct pman_manager *manager;
    struct pman_log_reader reader = {0};
    begin(&pman, &manager, 0);
    const struct pman_log *const log = &pman->shared->log;
    members_add(pman, "now", each, NULL);
    members_add(pman, "later", (struct pman_timing){.period = 1, .delay_ns = 20 * MS}, NULL);
    const pid_t now = members_start("now", 0), later = members_start("later", 0);
    EXPECT_SOON(members_is_idle(pman, "now") && members_is_idle(pman, "later"));
    for (int k = 1; k <= 10; k++) {
        ck_assert_int_eq(pman_tick(pman, 0), 0);
        const struct pman_log_record tick = next_record(&reader, log, PMAN_LOG_TICK);
        struct pman_log_record start = next_record(&reader, log, PMAN_LOG_START);
        if (start.process == 0) /* that of "now" comes before or after its tick's record */
            start = next_record(&reader, log, PMAN_LOG_START);
        ck_assert_int_eq(start.process, 1);
        ck_assert_int_ge(start.time_ns, tick.time_ns + 20 * MS);
        EXPECT_SOON(members_query(pman, "later").status == PMAN_IDLE);
    }
    end(&pman, &manager);
    ck_assert_int_eq(members_end(now), ESHUTDOWN);
    ck_assert_int_eq(members_end(later), ESHUTDOWN);
}
END_TEST

static int64_t last_release_ns(struct pman *pman, const char *name)
{
    const struct pman_table *const table = pman_shared_table(pman->shared);
    return table->process[pman_table_find(table, name)].start_ns;
}

START_TEST(missed_deadline_activates_the_recovery_process)
{
    struct pman *pman;
    struct pman_manager *manager;
    begin(&pman, &manager, 0);
    members_add(pman, "slow", (struct pman_timing){.period = 1, .deadline_ns = 10 * MS}, "rescue");
    members_add(pman, "rescue", (struct pman_timing){0}, NULL);
    const pid_t rescue = members_start("rescue", 0);
    EXPECT_SOON(members_is_idle(pman, "rescue"));
    ck_assert_int_eq(pman_attach(pman, "slow", getpid(), PMAN_BY_FUTEX), 0);
    for (int k = 1; k <= 5; k++) {
        ck_assert_int_eq(pman_tick(pman, 0), 0);
        EXPECT_SOON(members_query(pman, "rescue").activations == k);
        ck_assert_int_eq(members_query(pman, "slow").status, PMAN_RUNNING);
        ck_assert_int_ge(last_release_ns(pman, "rescue"), last_release_ns(pman, "slow") + 10 * MS);
        EXPECT_SOON(members_query(pman, "rescue").status == PMAN_IDLE);
        ck_assert_int_eq(pman_epilogue(pman, "slow"), 0);
    }
    ck_assert_int_eq(members_query(pman, "slow").misses, 5);
    end(&pman, &manager);
    ck_assert_int_eq(members_end(rescue), ESHUTDOWN);
}
END_TEST

START_TEST(successors_run_when_a_process_has_died)
{
    struct pman *pman;
    struct pman_manager *manager;
    begin(&pman, &manager, 0);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", each, NULL);
    ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
    const pid_t a = members_start("a", 100000000), b = members_start("b", 0); /* it works until it is killed */
    EXPECT_SOON(members_is_idle(pman, "a") && members_is_idle(pman, "b"));
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(members_query(pman, "b").status, PMAN_BLOCKED);
    kill(a, SIGKILL);
    EXPECT_SOON(members_query(pman, "b").activations == 1 && members_is_idle(pman, "b"));
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_DIED);
    ck_assert_int_eq(members_end(a), 1000 + SIGKILL);
    ck_assert_int_eq(pman_tick(pman, 0), 0); /* without a */
    EXPECT_SOON(members_query(pman, "b").activations == 2);
    end(&pman, &manager);
    ck_assert_int_eq(members_end(b), ESHUTDOWN);
}
END_TEST

START_TEST(process_that_was_attached_before_the_manager_came_is_watched)
{
    struct pman *pman;
    struct pman_manager *manager;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", each, NULL);
    const pid_t a = members_start("a", 0), b = members_start("b", 0);
    EXPECT_SOON(members_is_idle(pman, "a") && members_is_idle(pman, "b"));
    kill(a, SIGKILL);
    members_end(a); /* before the manager comes */
    ck_assert_int_eq(pman_manager_start(&manager, pman, &external), 0);
    EXPECT_SOON(members_query(pman, "a").status == PMAN_DIED);
    kill(b, SIGKILL);
    EXPECT_SOON(members_query(pman, "b").status == PMAN_DIED);
    members_end(b);
    end(&pman, &manager);
}
END_TEST

/* Leaves so many numbers of files that can be opened. Returns the limit before. */
static struct rlimit leave_files(int files)
{
    struct rlimit before;
    const int lowest = dup(STDERR_FILENO);
    close(lowest);
    getrlimit(RLIMIT_NOFILE, &before);
    const struct rlimit limit = {.rlim_cur = (rlim_t)(lowest + files), .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

/* files: how many the manager can open. With 1 it can watch the process, but not look when it started. */
static void expect_watched_process(int files)
{
    struct pman *pman;
    struct pman_manager *manager;
    int gate[2];
    begin(&pman, &manager, 0);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pipe(gate), 0);
    const pid_t a = fork();
    if (a == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        char unused;
        _exit(read(gate[0], &unused, 1) != 1 || pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX) || pause());
    }
    const struct rlimit before = leave_files(files);
    ck_assert_int_eq(write(gate[1], "", 1), 1);
    EXPECT_SOON(members_query(pman, "a").status == PMAN_IDLE);
    usleep(200000); /* the manager looks for the process */
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_IDLE);
    kill(a, SIGKILL);
    members_end(a);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_SOON(members_query(pman, "a").status == PMAN_DIED);
    end(&pman, &manager);
}

START_TEST(end_is_noticed_when_there_are_files_again)
{
    expect_watched_process(0);
}
END_TEST

START_TEST(living_process_is_not_buried_for_lack_of_files)
{
    expect_watched_process(1);
}
END_TEST

START_TEST(table_has_one_manager)
{
    struct pman *pman, *other;
    struct pman_manager *manager, *second;
    begin(&pman, &manager, 0);
    ck_assert_int_eq(pman_open(&other, members_table()), 0);
    ck_assert_int_eq(pman_manager_start(&second, other, &external), -EBUSY);
    pman_manager_stop(&manager);
    ck_assert_int_eq(pman_manager_start(&second, other, &external), 0);
    end(&other, &second);
    pman_leave(&pman);
}
END_TEST

START_TEST(next_manager_keeps_the_phase_of_the_ticks)
{
    struct pman *pman;
    struct pman_manager *manager;
    struct pman_log_reader reader = {0};
    begin(&pman, &manager, 7 * MS);
    const int64_t first_ns = next_record(&reader, &pman->shared->log, PMAN_LOG_TICK).time_ns;
    pman_manager_stop(&manager);
    const struct pman_manager_options options = {.tick_ns = 7 * MS};
    ck_assert_int_eq(pman_manager_start(&manager, pman, &options), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq((next_record(&reader, &pman->shared->log, PMAN_LOG_TICK).time_ns - first_ns) % (7 * MS), 0);
    end(&pman, &manager);
}
END_TEST

START_TEST(timing_and_precedences_change_under_way)
{
    struct pman *pman;
    struct pman_manager *manager;
    begin(&pman, &manager, 2 * MS);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", each, NULL);
    const pid_t a = members_start("a", 0), b = members_start("b", 0);
    EXPECT_SOON(members_query(pman, "a").activations > 10 && members_query(pman, "b").activations > 10);
    for (int i = 0; i < 200; i++) {
        const struct pman_timing timing = {.period = 1 + i % 3, .delay_ns = i % 2 * MS};
        ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
        ck_assert_int_eq(pman_tpupd(pman, i % 2 ? "a" : "b", PMAN_PERIOD | PMAN_DELAY, &timing), 0);
        members_pause();
        ck_assert_int_eq(pman_prec_rem(pman, "b", "a"), 0);
    }
    const int64_t runs_a = members_query(pman, "a").activations, runs_b = members_query(pman, "b").activations;
    EXPECT_SOON(members_query(pman, "a").activations > runs_a + 10 && members_query(pman, "b").activations > runs_b + 10);
    end(&pman, &manager);
    ck_assert_int_eq(members_end(a), ESHUTDOWN);
    ck_assert_int_eq(members_end(b), ESHUTDOWN);
}
END_TEST

START_TEST(manager_of_a_closed_table_ends)
{
    struct pman *pman, *other;
    struct pman_manager *manager;
    begin(&pman, &manager, 2 * MS);
    ck_assert_int_eq(pman_open(&other, members_table()), 0);
    pman_close(&other);
    pman_manager_stop(&manager);
    pman_leave(&pman);
}
END_TEST

START_TEST(closed_table_gets_no_manager)
{
    struct pman *pman, *other;
    struct pman_manager *manager;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_open(&other, members_table()), 0);
    pman_close(&pman);
    ck_assert_int_eq(pman_manager_start(&manager, other, &external), -ESHUTDOWN);
    pman_leave(&other);
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    const struct pman_manager_options wrong[] = {{.tick_ns = -1}, {.priority = -1}, {.priority = 100}};
    struct pman *pman;
    struct pman_manager *manager;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pman_manager_start(&manager, pman, &wrong[i]), -EINVAL);
    pman_close(&pman);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        timer_ticks_are_periodic,
        delay_ends_after_its_time,
        missed_deadline_activates_the_recovery_process,
        successors_run_when_a_process_has_died,
        process_that_was_attached_before_the_manager_came_is_watched,
        end_is_noticed_when_there_are_files_again,
        living_process_is_not_buried_for_lack_of_files,
        table_has_one_manager,
        next_manager_keeps_the_phase_of_the_ticks,
        timing_and_precedences_change_under_way,
        manager_of_a_closed_table_ends,
        closed_table_gets_no_manager,
        wrong_options_are_refused,
        NULL,
    };
    return suite_run("pman_manager", 120, tests);
}
