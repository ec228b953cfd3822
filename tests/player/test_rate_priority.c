/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The player's entry among rate-monotonic programs, with invented costs, the real registry and real priorities. Each test is a process of
 * its own, which stands for a player. Not covered: what pictures cost (test_placement.py), and the registry itself (test_rm_registry).
 *
 * Skipped without the right to fixed priorities, and while programs of this user are in the registry.
 */
#include "placement.h"

#include <check.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "ns.h"
#include "rm_registry.h"
#include "suite.h"

#define MS NS_PER_MS

enum { EXIT_SKIPPED = 77, SAID_SIZE = 4096 };

static const int64_t frame_ns = 40 * MS;

static struct placement placement;
static struct placement_facts facts;
static FILE *said;

/* Begins to play as with --sched=rm... Messages can be read with expect_said. */
static void play(struct rate_wish wish)
{
    wish.is_asked = true;
    placement = (struct placement){.has_policy = true, .policy = {.kind = THREAD_FIFO}, .rate = wish, .cpu = -1};
    said = tmpfile();
    ck_assert_ptr_nonnull(said);
    ck_assert_int_ge(dup2(fileno(said), STDERR_FILENO), 0);
    log_init(false);
    thread_role_take(ROLE_DECODE | ROLE_PRESENT);
    ck_assert_int_eq(placement_join(&placement, &facts, frame_ns), 0);
    ck_assert_int_eq(placement_apply(&placement, &facts), 0);
}

static void learn(int64_t mean_ns, int64_t longest_ns)
{
    const struct rate_cost cost = {.mean_ns = mean_ns, .longest_ns = longest_ns};
    ck_assert(placement_learn_cost(&placement, &facts, &cost));
}

/* Expects this text in what was said, or nothing for NULL, and forgets what was said. */
static void expect_said(const char *text)
{
    char all[SAID_SIZE];
    rewind(said);
    const size_t length = fread(all, 1, sizeof all - 1, said);
    all[length] = '\0';
    ck_assert_int_eq(ftruncate(fileno(said), 0), 0);
    rewind(said);
    ck_assert_msg(text ? strstr(all, text) != NULL : !length, "said: %s", all);
    ck_assert_msg(!text || strchr(all, '\n') == all + length - 1, "more than a sentence: %s", all);
}

/* Expects this entry, and that the calling thread has its priority. A mean of 0: not known. */
static void expect_entry(enum rm_class kind, int64_t longest_ns, int64_t mean_ns)
{
    struct rm_registry registry;
    struct thread_policy policy;
    const struct rm_band *const band = kind == RM_GUARANTEED ? &rm_band_guaranteed : &rm_band_statistical;
    ck_assert_int_eq(rm_registry_read(&registry), 0);
    const struct rm_task *own = NULL;
    for (int i = 0; i < registry.count; i++)
        own = registry.members[i].process == getpid() ? &registry.tasks[i] : own;
    ck_assert_ptr_nonnull(own);
    ck_assert_int_eq(own->kind, kind);
    ck_assert_int_eq(own->cost_max_ns, longest_ns);
    ck_assert_int_eq(own->cost_mean_ns, mean_ns ? mean_ns : 1);
    ck_assert_int_eq(thread_policy_get(0, &policy), 0);
    ck_assert_int_eq(policy.kind, THREAD_FIFO);
    ck_assert_int_eq(policy.priority, own->level);
    ck_assert(own->level >= band->lowest && own->level <= band->highest);
}

/* Starts a program that is guaranteed 30 of each 50 ms, and uses 5 of them on average. Returns its process id. */
static pid_t start_other(void)
{
    static const struct rm_task task = {
        .kind = RM_GUARANTEED, .period_ns = 50 * MS, .deadline_ns = 50 * MS, .cost_max_ns = 30 * MS, .cost_mean_ns = 5 * MS,
    };
    struct rm_joined joined;
    int ends[2];
    char is_in = 0;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t other = fork();
    if (!other) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        is_in = !rm_registry_join(&task, "other", &joined);
        if (write(ends[1], &is_in, 1) == 1)
            pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ends[0], &is_in, 1), 1);
    ck_assert(is_in);
    return other;
}

static void end(pid_t other)
{
    kill(other, SIGKILL);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
}

START_TEST(mean_is_entered_and_the_priority_stays)
{
    play((struct rate_wish){.cost_ms = 0});
    expect_entry(RM_STATISTICAL, 0, 0);
    const int level = rate_priority_level();
    learn(8 * MS, 12 * MS);
    expect_entry(RM_STATISTICAL, 0, 8 * MS);
    ck_assert_int_eq(rate_priority_level(), level);
    expect_said(NULL);
}
END_TEST

START_TEST(film_is_guaranteed_when_its_cost_is_known)
{
    play((struct rate_wish){.is_guaranteed = true});
    expect_entry(RM_STATISTICAL, 0, 0);
    learn(8 * MS, 12 * MS);
    expect_entry(RM_GUARANTEED, 12 * MS, 8 * MS);
    learn(9 * MS, 20 * MS);
    expect_entry(RM_GUARANTEED, 20 * MS, 9 * MS);
    expect_said(NULL);
}
END_TEST

/* Released together, the other one needs 30 ms, and the film twice 11 of its 50 ms. */
START_TEST(guarantee_that_would_make_another_program_late_is_not_given)
{
    const pid_t other = start_other();
    play((struct rate_wish){.is_guaranteed = true});
    learn(3 * MS, 11 * MS);
    expect_entry(RM_STATISTICAL, 0, 3 * MS);
    expect_said("no deadline is guaranteed: other (process ");
    learn(3 * MS, 5 * MS); /* not in this film any more */
    expect_entry(RM_STATISTICAL, 0, 3 * MS);
    expect_said(NULL);
    end(other);
}
END_TEST

START_TEST(guarantee_is_lost_when_a_picture_takes_too_long)
{
    const pid_t other = start_other();
    play((struct rate_wish){.is_guaranteed = true});
    learn(3 * MS, 9 * MS);
    expect_entry(RM_GUARANTEED, 9 * MS, 3 * MS);
    learn(4 * MS, 11 * MS);
    expect_entry(RM_STATISTICAL, 0, 4 * MS);
    expect_said("the film plays on as with --sched=rm");
    end(other);
}
END_TEST

START_TEST(picture_that_takes_longer_than_its_time_is_not_guaranteed)
{
    play((struct rate_wish){.is_guaranteed = true});
    learn(10 * MS, 41 * MS);
    expect_entry(RM_STATISTICAL, 0, 10 * MS);
    expect_said("a picture has only 40.0 ms");
}
END_TEST

START_TEST(declared_cost_counts_until_a_picture_takes_longer)
{
    play((struct rate_wish){.is_guaranteed = true, .cost_ms = 10});
    expect_entry(RM_GUARANTEED, 10 * MS, 10 * MS);
    learn(4 * MS, 6 * MS);
    expect_entry(RM_GUARANTEED, 10 * MS, 4 * MS);
    expect_said(NULL);
    learn(4 * MS, 15 * MS);
    expect_entry(RM_GUARANTEED, 15 * MS, 4 * MS);
    expect_said("--sched=rm:guaranteed:10: a picture can take 15.0 ms, which counts from now on");
    learn(4 * MS, 16 * MS);
    expect_entry(RM_GUARANTEED, 16 * MS, 4 * MS);
    expect_said(NULL);
}
END_TEST

START_TEST(too_costly_film_is_named_and_plays_on)
{
    const pid_t other = start_other();
    play((struct rate_wish){.cost_ms = 0});
    learn(50 * MS, 60 * MS); /* a mean of more than a picture's time counts as that */
    expect_entry(RM_STATISTICAL, 0, 40 * MS);
    expect_said("need more than a CPU");
    learn(39 * MS, 60 * MS);
    expect_said(NULL);
    end(other);
}
END_TEST

START_TEST(next_film_begins_with_an_unknown_cost_of_its_own_rate)
{
    play((struct rate_wish){.is_guaranteed = true});
    learn(8 * MS, 12 * MS);
    expect_entry(RM_GUARANTEED, 12 * MS, 8 * MS);
    facts = (struct placement_facts){.thread_count = 0};
    ck_assert_int_eq(placement_join(&placement, &facts, 16 * MS), 0);
    ck_assert_int_eq(placement_apply(&placement, &facts), 0);
    expect_entry(RM_STATISTICAL, 0, 0);
    ck_assert_int_eq(placement_join(&placement, &facts, 16 * MS), 0); /* after a seek */
    learn(2 * MS, 3 * MS);
    expect_entry(RM_GUARANTEED, 3 * MS, 2 * MS);
}
END_TEST

/* Without CAP_SYS_NICE a thread keeps its priority, and gets no higher one. */
START_TEST(guarantee_whose_priority_the_kernel_refuses_is_given_back)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    const struct rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
    play((struct rate_wish){.is_guaranteed = true});
    ck_assert_int_eq(setrlimit(RLIMIT_RTPRIO, &limit), 0);
    ck_assert_int_eq(syscall(SYS_capset, &header, none), 0);
    learn(8 * MS, 12 * MS);
    expect_entry(RM_STATISTICAL, 0, 8 * MS);
    expect_said("is refused: Operation not permitted");
}
END_TEST

/* Returns why these tests cannot run here; NULL: they can. */
static const char *why_skipped(void)
{
    static const struct thread_policy highest = {.kind = THREAD_FIFO, .priority = 49}, other = {.kind = THREAD_OTHER};
    struct rm_registry registry;
    const int error = thread_policy_set(0, &highest);
    thread_policy_set(0, &other);
    if (error)
        return "fixed priorities are not allowed";
    return rm_registry_read(&registry) || registry.count ? "the registry cannot be read, or programs of this user are in it" : NULL;
}

int main(void)
{
    const TTest *const tests[] = {
        mean_is_entered_and_the_priority_stays,
        film_is_guaranteed_when_its_cost_is_known,
        guarantee_that_would_make_another_program_late_is_not_given,
        guarantee_is_lost_when_a_picture_takes_too_long,
        picture_that_takes_longer_than_its_time_is_not_guaranteed,
        declared_cost_counts_until_a_picture_takes_longer,
        too_costly_film_is_named_and_plays_on,
        next_film_begins_with_an_unknown_cost_of_its_own_rate,
        guarantee_whose_priority_the_kernel_refuses_is_given_back,
        NULL,
    };
    const char *const why = why_skipped();
    if (why) {
        printf("skipped: %s\n", why);
        return EXIT_SKIPPED;
    }
    return suite_run("rate_priority", SUITE_TIMEOUT_DEFAULT, tests);
}
