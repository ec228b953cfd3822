/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Orders that reach the pictures of their jobs, in whatever thread they are decoded. Packets, pictures and codec threads are
 * made up. Not covered: real decoders (test_decoder_threads.c).
 */
#include "job_ledger.h"
#include "ns.h"
#include "thread_cpu.h"

#include <check.h>
#include <dlex/dlex.h>
#include <semaphore.h>
#include <stdlib.h>

#include "suite.h"

#define MS NS_PER_MS

static struct job_ledger *ledger;

static void setup(void)
{
    ledger = calloc(1, sizeof *ledger);
    ledger_init(ledger);
}

static void teardown(void)
{
    ledger_finish(ledger);
    free(ledger);
}

static void begin(int64_t number, struct decode_order order)
{
    const struct decode_job job = {.number = number, .order = order};
    ledger_begin(ledger, &job, dlex_now_ns());
}

static const struct decode_order none = {.deadline_ns = NO_DEADLINE};
static const struct decode_order refused = {.refuse = true, .deadline_ns = NO_DEADLINE};

static struct decode_order until(int64_t deadline_ns)
{
    return (struct decode_order){.deadline_ns = deadline_ns};
}

START_TEST(each_picture_has_the_order_of_its_own_job)
{
    ledger->overlaps = true;
    const int64_t now_ns = dlex_now_ns();
    begin(7, refused);
    begin(8, none);
    begin(9, until(now_ns - 1));
    begin(10, until(now_ns + 3600 * NS_PER_S));
    ck_assert(!ledger_gives_up(ledger, 10));
    ck_assert(ledger_gives_up(ledger, 9));
    ck_assert(!ledger_gives_up(ledger, 8));
    ck_assert(ledger_gives_up(ledger, 7));
    ck_assert_int_eq(ledger_picture(ledger, 7).verdict, VERDICT_SKIPPED);
    ck_assert_int_eq(ledger_picture(ledger, 8).verdict, VERDICT_NONE);
    ck_assert_int_eq(ledger_picture(ledger, 9).verdict, VERDICT_ABORTED);
    ck_assert_int_eq(ledger_picture(ledger, 10).verdict, VERDICT_NONE);
    ck_assert_int_ge(ledger_picture(ledger, 9).fired_ns, now_ns);
    ck_assert_int_eq(ledger_picture(ledger, 10).fired_ns, NS_UNKNOWN);
    ck_assert_int_eq(ledger_picture(ledger, 7).fired_ns, NS_UNKNOWN);
}
END_TEST

START_TEST(with_one_thread_the_last_order_applies)
{
    begin(7, none);
    begin(8, until(0)); /* the second field of the picture */
    ck_assert(ledger_gives_up(ledger, 7));
    const struct gate_verdict verdict = ledger_verdict(ledger);
    ck_assert_int_eq(verdict.number, 7);
    ck_assert_int_eq(verdict.verdict, VERDICT_ABORTED);
    ck_assert_int_ne(ledger_fired_ns(ledger), NS_UNKNOWN);
    begin(9, refused);
    ck_assert_int_eq(ledger_verdict(ledger).number, JOB_UNKNOWN);
    ck_assert_int_eq(ledger_fired_ns(ledger), NS_UNKNOWN);
    ck_assert(ledger_refuses(ledger, 9));
    ck_assert_int_eq(ledger_verdict(ledger).verdict, VERDICT_SKIPPED);
    begin(10, until(0));
    ck_assert(!ledger_refuses(ledger, 10)); /* the deadline is the gate's matter */
}
END_TEST

START_TEST(stop_gives_up_every_picture_while_it_is_requested)
{
    struct decode_stop stop = {0};
    ledger->overlaps = true;
    ledger->stop = &stop;
    begin(1, none);
    begin(2, until(dlex_now_ns() + 3600 * NS_PER_S));
    ck_assert(!ledger_gives_up(ledger, 1) && !ledger_gives_up(ledger, 2));
    decode_stop_request(&stop);
    ck_assert(ledger_gives_up(ledger, 1) && ledger_gives_up(ledger, 2));
    ck_assert_int_eq(ledger_picture(ledger, 1).verdict, VERDICT_ABORTED);
    ck_assert_int_ne(ledger_picture(ledger, 1).fired_ns, NS_UNKNOWN);
    decode_stop_reset(&stop);
    begin(3, none);
    ck_assert(!ledger_gives_up(ledger, 3));
}
END_TEST

START_TEST(unknown_pictures_are_not_given_up)
{
    ledger->overlaps = true;
    begin(1, refused);
    ck_assert(!ledger_gives_up(ledger, JOB_UNKNOWN));
    ck_assert(!ledger_gives_up(ledger, 2));
    ck_assert(!ledger_gives_up(ledger, 1 + LEDGER_JOBS));
    ck_assert(!ledger_picture(ledger, JOB_UNKNOWN).is_known);
    begin(1 + LEDGER_JOBS, none); /* overwrites the first */
    ck_assert(!ledger_gives_up(ledger, 1));
    ck_assert(!ledger_picture(ledger, 1).is_known);
    ck_assert(ledger_picture(ledger, 1 + LEDGER_JOBS).is_known);
}
END_TEST

/* Its decode may have ended long before it came out. */
START_TEST(deadline_of_a_whole_picture_is_not_noticed_among_others)
{
    ledger->overlaps = true;
    begin(1, until(0));
    const struct picture_decode decode = ledger_picture(ledger, 1);
    ck_assert(decode.is_known);
    ck_assert_int_eq(decode.verdict, VERDICT_NONE);
    ck_assert_int_eq(decode.fired_ns, NS_UNKNOWN);
    ck_assert_int_ge(decode.end_ns, decode.start_ns);
}
END_TEST

START_TEST(droppable_picture_is_known_from_its_packet)
{
    begin(1, none);
    ledger_mark_droppable(ledger);
    begin(2, none);
    ck_assert(ledger_is_droppable(ledger, 1));
    ck_assert(!ledger_is_droppable(ledger, 2));
    ck_assert(!ledger_is_droppable(ledger, JOB_UNKNOWN));
    begin(1 + LEDGER_JOBS, none);
    ck_assert(!ledger_is_droppable(ledger, 1 + LEDGER_JOBS));
}
END_TEST

/* A codec thread that decodes picture after picture: each takes this long. */
struct worker {
    pthread_t thread;
    int64_t first; /* number of the first picture */
    int pictures;
    int each_ms;
    sem_t done, may_end;
};

static void compute_ms(int ms)
{
    const int64_t end_ns = thread_cpu_ns() + ms * MS;
    while (thread_cpu_ns() < end_ns)
        ;
}

static void *work(void *arg)
{
    struct worker *const worker = arg;
    for (int i = 0; i < worker->pictures; i++) {
        ledger_begin_picture(ledger, worker->first + i);
        compute_ms(worker->each_ms);
    }
    sem_post(&worker->done);
    sem_wait(&worker->may_end);
    return NULL;
}

static void start(struct worker *worker)
{
    sem_init(&worker->done, 0, 0);
    sem_init(&worker->may_end, 0, 0);
    ck_assert_int_eq(pthread_create(&worker->thread, NULL, work, worker), 0);
}

static void end(struct worker *worker)
{
    sem_post(&worker->may_end);
    pthread_join(worker->thread, NULL);
}

static void expect_ms(int64_t cpu_ns, int ms)
{
    ck_assert_int_ge(cpu_ns, ms * MS);
    ck_assert_int_lt(cpu_ns, (ms + 5) * MS);
}

START_TEST(each_picture_costs_what_its_thread_used_for_it)
{
    struct worker first = {.first = 1, .pictures = 3, .each_ms = 10};
    struct worker second = {.first = 11, .pictures = 1, .each_ms = 30};
    ledger->overlaps = true;
    for (int i = 1; i <= 12; i++)
        begin(i, none);
    start(&first);
    start(&second);
    sem_wait(&first.done);
    sem_wait(&second.done);
    expect_ms(ledger_picture(ledger, 1).cpu_ns, 10); /* its thread has begun another one since */
    expect_ms(ledger_picture(ledger, 2).cpu_ns, 10);
    expect_ms(ledger_picture(ledger, 3).cpu_ns, 10); /* its thread waits */
    expect_ms(ledger_picture(ledger, 11).cpu_ns, 30);
    ck_assert_int_eq(ledger_picture(ledger, 12).cpu_ns, NS_UNKNOWN); /* nobody has begun with it */
    end(&first);
    end(&second);
}
END_TEST

START_TEST(picture_in_two_parts_costs_both)
{
    struct worker hidden = {.first = 5, .pictures = 1, .each_ms = 10};
    struct worker shown = {.first = 5, .pictures = 1, .each_ms = 20};
    ledger->overlaps = true;
    begin(5, none);
    start(&hidden);
    start(&shown);
    sem_wait(&hidden.done);
    sem_wait(&shown.done);
    expect_ms(ledger_picture(ledger, 5).cpu_ns, 30);
    end(&hidden);
    end(&shown);
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &each_picture_has_the_order_of_its_own_job,
        &with_one_thread_the_last_order_applies,
        &stop_gives_up_every_picture_while_it_is_requested,
        &unknown_pictures_are_not_given_up,
        &deadline_of_a_whole_picture_is_not_noticed_among_others,
        &droppable_picture_is_known_from_its_packet,
        &each_picture_costs_what_its_thread_used_for_it,
        &picture_in_two_parts_costs_both,
    };
    TCase *const tcase = tcase_create("job_ledger");
    tcase_set_timeout(tcase, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("job_ledger", tcase, CK_FORK_GETENV);
}
