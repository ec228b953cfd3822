/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Triggers: one thread expires a block of another one. Not here: firing at the moment at which a block
 * or a thread ends (test_dlex_trigger_races.c), what a firing makes visible
 * (test_dlex_trigger_handover.c). */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"
#include "thread.h"

static struct dlex_trigger trigger, other;

/* The body sets it. The thread that fires waits for it. */
static _Atomic bool begun;
/* The thread that fires sets it when dlex_trigger_fire has returned. */
static _Atomic bool fired;
static int fire_result;
static int64_t fire_begin_ns, fire_end_ns;

static void *fire_once_begun(void *which)
{
    while (!begun)
        usleep(100);
    fire_begin_ns = dlex_now_ns();
    fire_result = dlex_trigger_fire(which);
    fire_end_ns = dlex_now_ns();
    fired = true;
    return NULL;
}

/* Runs the scenario while another thread fires the trigger as soon as `begun` is set. Returns the log. */
static const char *log_with(struct dlex_trigger *which, void (*scenario)(void))
{
    pthread_t thread;
    log_clear();
    begun = fired = false;
    dlex_trigger_reset(&trigger);
    dlex_trigger_reset(&other);
    if (pthread_create(&thread, NULL, fire_once_begun, which) != 0)
        return "no thread";
    scenario();
    begun = true; /* for a scenario whose body did not begin */
    pthread_join(thread, NULL);
    return fire_result ? "not fired" : log_text();
}

static const char *log_of(void (*scenario)(void))
{
    return log_with(&trigger, scenario);
}

/* For code in which the violation must wait: the signal of the firing has arrived when this returns. */
static void wait_for_the_signal(void)
{
    begun = true;
    while (!dlex_guard_.pending)
        ;
}

static void wait_for_the_firing(void)
{
    begun = true;
    while (!fired)
        ;
}

#define FIRED_IN_THE_BODY(open)                                                                 \
    open {                                                                                      \
        dlex_trigger_bind(&trigger);                                                            \
        log_mark('b');                                                                          \
        begun = true;                                                                           \
        burn(HOUR);                                                                             \
    } dlex_finally {                                                                            \
        log_mark('f');                                                                          \
    } dlex_handle dlex_when(dlex_wcet_violation) {                                              \
        log_mark('w');                                                                          \
    } dlex_when(dlex_deadline_violation) {                                                      \
        log_mark('d');                                                                          \
    } dlex_end                                                                                  \
    log_mark('.')

static void in_a_plain_block(void)        { FIRED_IN_THE_BODY(dlex_try); }
static void in_a_deadline_block(void)     { FIRED_IN_THE_BODY(dlex_try_within_rel(HOUR)); }
static void in_a_block_without_limit(void) { FIRED_IN_THE_BODY(dlex_try_within_abs(INT64_MAX)); }
static void in_a_wcet_block(void)         { FIRED_IN_THE_BODY(dlex_try_within_wcet(HOUR)); }
static void in_an_island(void)            { FIRED_IN_THE_BODY(dlex_try_within_abs_shielded(INT64_MAX)); }

START_TEST(fired_block_is_left_through_its_deadline_handler)
{
    static void (*const kinds[])(void) = {
        in_a_plain_block, in_a_deadline_block, in_a_block_without_limit, in_a_wcet_block, in_an_island,
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        ck_assert_str_eq(log_of(kinds[i]), "bfd.");
        const struct dlex_violation *v = dlex_last_violation();
        ck_assert_ptr_eq(v->type, &dlex_trigger_violation);
        ck_assert_int_ge(v->deadline_ns, fire_begin_ns);
        ck_assert_int_le(v->deadline_ns, fire_end_ns);
        ck_assert_int_ge(v->noticed_ns, v->deadline_ns);
        ck_assert_int_eq(v->released_ns, 0);
        ck_assert_int_ge(v->caught_ns, v->noticed_ns);
        ck_assert_int_lt(dlex_expired_ns(), HOUR);
    }
    ck_assert_int_eq(dlex_guard_.depth, 0);
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
}
END_TEST

static void with_a_handler_for_each(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark(dlex_caught() == &dlex_trigger_violation ? 't' : 'x');
    } dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
}

START_TEST(handler_can_distinguish_a_firing_from_a_deadline)
{
    ck_assert_str_eq(log_of(with_a_handler_for_each), "t");
}
END_TEST

static void without_a_handler(void)
{
    dlex_try {
        dlex_try_within_rel(HOUR) {
            dlex_trigger_bind(&trigger);
            begun = true;
            burn(HOUR);
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(violation_without_a_handler_goes_outwards)
{
    ck_assert_str_eq(log_of(without_a_handler), "o");
}
END_TEST

static void asleep(void)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        begun = true;
        sleep(100);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(sleeping_body_is_left)
{
    ck_assert_str_eq(log_of(asleep), "t");
}
END_TEST

START_TEST(block_bound_to_a_fired_trigger_is_left_at_once)
{
    log_clear();
    ck_assert_int_eq(dlex_trigger_fire(&trigger), 0);
    for (volatile int i = 0; i < 2; i = i + 1) {
        dlex_try_within_rel(HOUR) {
            log_mark('b');
            dlex_trigger_bind(&trigger);
            log_mark('x');
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(dlex_trigger_violation) {
            log_mark('t');
        } dlex_end
    }
    ck_assert_str_eq(log_text(), "bftbft");
    ck_assert_int_eq(dlex_last_violation()->released_ns, 0);
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        log_mark('e');
    } dlex_end
    ck_assert_str_eq(log_text(), "bftbfte");
}
END_TEST

START_TEST(cooperative_block_bound_to_a_fired_trigger_is_left_at_once)
{
    log_clear();
    dlex_trigger_fire(&trigger);
    dlex_try_within_rel_cooperative(HOUR) {
        log_mark('b');
        dlex_trigger_bind(&trigger);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "bt");
}
END_TEST

static void fired_after_the_end(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        log_mark('b');
    } dlex_finally {
        wait_for_the_firing();
        log_mark('f');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    log_mark('.');
}

static void fired_in_the_handler(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_throw(dlex_exception);
    } dlex_handle dlex_when_any {
        wait_for_the_firing();
        log_mark('h');
    } dlex_end
}

static void fired_in_a_later_block(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
    } dlex_end
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&other);
        wait_for_the_firing();
        burn(MS);
        log_mark('l');
    } dlex_end
}

START_TEST(firing_after_the_end_of_the_body_touches_nothing)
{
    ck_assert_str_eq(log_of(fired_after_the_end), "bf.");
    ck_assert_str_eq(log_of(fired_in_the_handler), "h");
    ck_assert_str_eq(log_of(fired_in_a_later_block), "l");
    ck_assert_int_eq(trigger.thread_, 0);
}
END_TEST

static void fired_in_a_section(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        dlex_try_within_disable();
        wait_for_the_signal();
        log_mark(dlex_remaining_ns() <= 0 ? 'p' : 'x');
        log_mark(dlex_deadline_ns() <= dlex_now_ns() ? 'q' : 'x');
        dlex_try_within_enable();
        log_mark('s');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(firing_in_a_section_waits_for_its_end)
{
    ck_assert_str_eq(log_of(fired_in_a_section), "pqst");
    const struct dlex_violation *v = dlex_last_violation();
    ck_assert_int_ge(v->released_ns, v->noticed_ns);
    ck_assert_int_ge(v->noticed_ns, v->deadline_ns);
}
END_TEST

static void bound_in_a_section(void)
{
    dlex_try_within_rel(HOUR) {
        wait_for_the_firing();
        dlex_try_within_disable();
        dlex_trigger_bind(&trigger);
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(fired_trigger_that_is_bound_in_a_section_waits_for_its_end)
{
    ck_assert_str_eq(log_of(bound_in_a_section), "pt");
}
END_TEST

static void reset_in_a_section(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        wait_for_the_signal();
        dlex_trigger_reset(&trigger);
        dlex_try_within_enable();
        log_mark('e');
    } dlex_end
    log_mark('.');
}

START_TEST(reset_forgets_a_delayed_violation)
{
    ck_assert_str_eq(log_of(reset_in_a_section), "e.");
}
END_TEST

static void fire_again(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        wait_for_the_signal();
        dlex_trigger_reset(&trigger);
        dlex_try_within_enable();
        log_mark('e');
        dlex_trigger_fire(&trigger);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(trigger_can_be_fired_again_after_a_reset)
{
    ck_assert_str_eq(log_of(fire_again), "et");
}
END_TEST

/* Two blocks inside each other; each is bound to a trigger or to none. */
static void nested(struct dlex_trigger *outer, struct dlex_trigger *inner)
{
    dlex_try_within_rel(HOUR) {
        if (outer)
            dlex_trigger_bind(outer);
        dlex_try_within_rel(HOUR) {
            if (inner)
                dlex_trigger_bind(inner);
            begun = true;
            burn(HOUR);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when_any {
            log_mark('i');
        } dlex_end
        log_mark('c');
    } dlex_finally {
        log_mark('F');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('O');
    } dlex_end
    log_mark('.');
}

static void outer_is_bound(void) { nested(&trigger, NULL); }
static void inner_is_bound(void) { nested(NULL, &trigger); }
static void both_are_bound(void) { nested(&trigger, &trigger); }
static void each_is_bound(void)  { nested(&other, &trigger); }

START_TEST(outermost_fired_block_takes_the_violation)
{
    ck_assert_str_eq(log_of(outer_is_bound), "fFO.");
    ck_assert_str_eq(log_of(inner_is_bound), "ficF.");
    ck_assert_str_eq(log_of(both_are_bound), "fFO.");
    ck_assert_str_eq(log_of(each_is_bound), "ficF.");
    ck_assert_str_eq(log_with(&other, each_is_bound), "fFO.");
}
END_TEST

static void inner_ended_before(void)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_try {
            dlex_trigger_bind(&trigger);
        } dlex_end
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('O');
    } dlex_end
}

START_TEST(outer_block_stays_bound_when_an_inner_one_of_the_same_trigger_has_ended)
{
    ck_assert_str_eq(log_of(inner_ended_before), "O");
}
END_TEST

/* As the decoder has it: a section in which only the island may be interrupted. */
static void decoder(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        for (volatile int slice = 0; slice < 3; slice = slice + 1) {
            dlex_try_within_rel_shielded(HOUR) {
                dlex_trigger_bind(&trigger);
                log_mark('b');
                begun = true;
                burn(HOUR);
            } dlex_handle dlex_when(dlex_deadline_violation) {
                log_mark('i');
            } dlex_end
        }
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(island_and_the_block_around_its_section_are_left_one_after_the_other)
{
    ck_assert_str_eq(log_of(decoder), "biiipo");
}
END_TEST

static void island_of_another_trigger(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        dlex_try_within_rel_shielded(HOUR) {
            dlex_trigger_bind(&other);
            wait_for_the_signal();
            burn(MS);
            log_mark('b');
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(firing_of_an_outer_block_does_not_reach_into_an_island)
{
    ck_assert_str_eq(log_of(island_of_another_trigger), "bpo");
}
END_TEST

#define COOPERATIVE(open)                                                                       \
    open {                                                                                      \
        dlex_trigger_bind(&trigger);                                                            \
        dlex_checkpoint();                                                                      \
        wait_for_the_firing();                                                                  \
        log_mark('b');                                                                          \
        dlex_try_within_disable();                                                              \
        dlex_checkpoint();                                                                      \
        dlex_try_within_enable();                                                               \
        log_mark(dlex_remaining_ns() <= 0 ? 'p' : 'x');                                         \
        dlex_checkpoint();                                                                      \
        log_mark('x');                                                                          \
    } dlex_handle dlex_when(dlex_trigger_violation) {                                           \
        log_mark('t');                                                                          \
    } dlex_end

static void cooperative_rel(void)  { COOPERATIVE(dlex_try_within_rel_cooperative(HOUR)) }
static void cooperative_none(void) { COOPERATIVE(dlex_try_within_abs_cooperative(INT64_MAX)) }
static void cooperative_wcet(void) { COOPERATIVE(dlex_try_within_wcet_cooperative(HOUR)) }

START_TEST(checkpoint_throws_when_the_trigger_is_fired)
{
    ck_assert_str_eq(log_of(cooperative_rel), "bpt");
    ck_assert_str_eq(log_of(cooperative_none), "bpt");
    ck_assert_str_eq(log_of(cooperative_wcet), "bpt");
}
END_TEST

static void cooperative_in_a_bound_block(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_rel_cooperative(HOUR) {
            wait_for_the_signal();
            burn(MS);
            log_mark('b');
            dlex_checkpoint();
            log_mark('x');
        } dlex_finally {
            log_mark('f');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

static void end_of_a_cooperative_block(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_rel_cooperative(HOUR) {
            dlex_trigger_bind(&trigger);
            wait_for_the_signal();
            log_mark('b');
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(outer_block_waits_for_a_checkpoint_or_the_end_of_the_cooperative_block)
{
    ck_assert_str_eq(log_of(cooperative_in_a_bound_block), "bfo");
    ck_assert_str_eq(log_of(end_of_a_cooperative_block), "bo");
}
END_TEST

static void island_in_a_cooperative_block(void)
{
    dlex_try_within_rel_cooperative(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_rel_shielded(HOUR) {
            dlex_trigger_bind(&trigger);
            begun = true;
            burn(HOUR);
        } dlex_handle dlex_when(dlex_trigger_violation) {
            log_mark('i');
        } dlex_end
        log_mark(trigger.thread_ ? 'x' : 'b');
        dlex_checkpoint();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(island_in_a_cooperative_block_of_the_same_trigger_is_left_first)
{
    ck_assert_str_eq(log_of(island_in_a_cooperative_block), "ibt");
    ck_assert_int_eq(trigger.thread_, 0);
}
END_TEST

static void *check_with_all_signals_blocked(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    volatile intptr_t left = 0;
    dlex_try_within_rel_cooperative(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        for (;;)
            dlex_checkpoint();
    } dlex_handle dlex_when(dlex_trigger_violation) {
        left = 1;
    } dlex_end
    (void)unused;
    return (void *)(left && !dlex_thread_state.has_timer && !dlex_thread_state.target.number ? left : 0);
}

static void *result_of(void *(*run)(void *))
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, &result);
    return result;
}

static void cooperative_thread(void)
{
    log_mark(result_of(check_with_all_signals_blocked) ? 'c' : 'x');
}

START_TEST(cooperative_block_needs_no_signal)
{
    ck_assert_str_eq(log_of(cooperative_thread), "c");
}
END_TEST

START_TEST(thread_fires_at_its_own_block)
{
    log_clear();
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_trigger_fire(&trigger);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        log_mark(dlex_trigger_fire(&trigger) == 0 ? 'p' : 'x');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "tpt");
}
END_TEST

static void fire_in_a_handler(int signo)
{
    (void)signo;
    log_mark(dlex_trigger_fire(&trigger) == 0 ? 'h' : 'x');
    log_mark('r');
}

static void handle_sigusr1(void (*install)(const struct sigaction *))
{
    struct sigaction action = { .sa_handler = fire_in_a_handler };
    sigemptyset(&action.sa_mask);
    install(&action);
}

static void by_dlex_sigaction(const struct sigaction *action)
{
    dlex_sigaction(SIGUSR1, action, NULL);
}

START_TEST(signal_handler_fires_at_the_block_that_it_interrupts)
{
    log_clear();
    dlex_trigger_reset(&trigger);
    handle_sigusr1(by_dlex_sigaction);
    dlex_try {
        dlex_trigger_bind(&trigger);
        raise(SIGUSR1);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "hrt");
}
END_TEST

static void *be_signalled(void *thread)
{
    while (!begun)
        usleep(100);
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

static _Atomic bool stop;

static void *sleep_until_stopped(void *unused)
{
    while (!stop)
        usleep(1000);
    return unused;
}

START_TEST(signal_handler_of_another_thread_fires)
{
    pthread_t handling, signalling;
    handle_sigusr1(by_dlex_sigaction);
    dlex_trigger_reset(&trigger);
    stop = begun = false;
    volatile bool left = false;
    ck_assert_int_eq(pthread_create(&handling, NULL, sleep_until_stopped, NULL), 0);
    ck_assert_int_eq(pthread_create(&signalling, NULL, be_signalled, &handling), 0);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        left = true;
    } dlex_end
    stop = true;
    pthread_join(handling, NULL);
    pthread_join(signalling, NULL);
    ck_assert(left);
}
END_TEST

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void waiting_for_a_lock(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        dlex_scoped_mutex_lock(&mutex);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(wait_for_a_scoped_lock_is_left_soon)
{
    pthread_mutex_lock(&mutex);
    ck_assert_str_eq(log_of(waiting_for_a_lock), "t");
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(pthread_mutex_trylock(&mutex), 0);
    pthread_mutex_unlock(&mutex);
}
END_TEST

START_TEST(latencies_of_triggers_are_separate_from_those_of_deadlines)
{
    struct dlex_latency triggers, deadlines, all;
    dlex_latency_reset();
    log_of(in_a_deadline_block);
    log_of(fired_in_a_section);
    dlex_latency_read(&dlex_trigger_violation, &triggers);
    dlex_latency_read(&dlex_deadline_violation, &deadlines);
    dlex_latency_read(&dlex_timing_violation, &all);
    ck_assert_int_eq(triggers.count, 2);
    ck_assert_int_eq(triggers.delayed, 1);
    ck_assert_int_eq(deadlines.count, 0);
    ck_assert_int_eq(all.count, 2);
}
END_TEST

static void with_errno_set(void)
{
    errno = 0;
    dlex_try {
        dlex_trigger_bind(&trigger);
        errno = ENOTTY;
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when_any {
        log_mark(errno == ENOTTY ? 'e' : 'x');
    } dlex_end
}

START_TEST(errno_is_that_of_the_interruption)
{
    ck_assert_str_eq(log_of(with_errno_set), "e");
}
END_TEST

START_TEST(deadline_of_a_bound_block_is_a_deadline_violation)
{
    log_clear();
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(MS) {
        dlex_trigger_bind(&trigger);
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('x');
    } dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    dlex_try_within_wcet(MS) {
        dlex_trigger_bind(&trigger);
        burn(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    ck_assert_str_eq(log_text(), "dw");
    ck_assert_ptr_eq(dlex_last_violation()->type, &dlex_wcet_violation);
}
END_TEST

/* ---- Processes and threads that end ------------------------------------------------------- */

static int status_of(void (*run)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        run();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return status;
}

static void fire_in_the_child(void)
{
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
        begun = true;
        for (;;)
            sleep(100);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

static void child_with_a_block_of_its_own(void)
{
    _exit(strcmp(log_of(fire_in_the_child), "t"));
}

START_TEST(child_fires_at_blocks_that_it_opens)
{
    log_of(in_a_plain_block); /* this thread has a number, and the child inherits it */
    ck_assert_int_eq(status_of(child_with_a_block_of_its_own), 0);
}
END_TEST

static volatile pid_t child;

static void fork_in_a_bound_block(void)
{
    dlex_try_within_abs(INT64_MAX) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        child = fork();
        dlex_try_within_enable();
        if (child == 0) {
            pthread_t thread;
            alarm(60);
            dlex_try_within_disable();
            begun = true;
            pthread_create(&thread, NULL, fire_once_begun, &trigger);
            dlex_try_within_enable();
            burn(HOUR);
        }
        log_mark('e');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
        if (child == 0)
            _exit(strcmp(log_text(), "t"));
    } dlex_end
}

START_TEST(block_that_was_open_at_the_fork_is_bound_in_the_child)
{
    ck_assert_str_eq(log_of(fork_in_a_bound_block), "e");
    int status = -1;
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void *bind_until_stopped(void *unused)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        begun = true;
        while (!stop)
            usleep(1000);
    } dlex_end
    return unused;
}

/* The block is that of a thread that does not exist in the child. */
static void fire_at_a_missing_thread(void)
{
    if (dlex_trigger_fire(&trigger) != 0)
        _exit(1);
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
}

START_TEST(child_does_not_fire_at_threads_of_its_parent)
{
    pthread_t thread;
    dlex_trigger_reset(&trigger);
    stop = begun = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, bind_until_stopped, NULL), 0);
    while (!begun)
        usleep(100);
    const int status = status_of(fire_at_a_missing_thread);
    stop = true;
    pthread_join(thread, NULL);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void *end_with_a_block_open(void *unused)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        pthread_exit(unused);
    } dlex_end
    return unused;
}

/* A sleep of a new thread, which may have the memory and the id of one that has ended. */
static void *sleep_shortly(void *arg)
{
    struct timespec left = { .tv_nsec = 2 * MS };
    (void)arg;
    return nanosleep(&left, NULL) == 0 ? &trigger : NULL;
}

START_TEST(firing_at_a_thread_that_has_ended_with_its_block_open_reaches_no_thread)
{
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        void *slept = NULL;
        dlex_trigger_reset(&trigger);
        result_of(end_with_a_block_open);
        ck_assert_int_eq(pthread_create(&thread, NULL, sleep_shortly, NULL), 0);
        ck_assert_int_eq(dlex_trigger_fire(&trigger), 0);
        pthread_join(thread, &slept);
        ck_assert_ptr_nonnull(slept);
    }
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
    ck_assert_int_eq(trigger.thread_, 0);
}
END_TEST

static pthread_key_t key;
static _Atomic int rounds, misses;

static void fire_in_a_destructor(void *arg)
{
    struct dlex_trigger own = { 0 };
    volatile bool left = false;
    const int round = ++rounds;
    dlex_try {
        dlex_trigger_bind(&own);
        dlex_trigger_fire(&own);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        left = true;
    } dlex_end
    misses += !left;
    if (round % PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, arg);
}

static void *end_with_destructors(void *arg)
{
    pthread_setspecific(key, &key);
    if (rounds % 2)
        result_of(sleep_shortly);
    dlex_try_within_rel(HOUR) { } dlex_end
    return arg;
}

START_TEST(blocks_in_destructors_are_fired_and_leave_no_thread_in_the_list)
{
    ck_assert_int_eq(pthread_key_create(&key, fire_in_a_destructor), 0);
    for (int i = 0; i < 100; i++)
        result_of(end_with_destructors);
    pthread_key_delete(key);
    ck_assert_int_eq(rounds, 100 * PTHREAD_DESTRUCTOR_ITERATIONS);
    ck_assert_int_eq(misses, 0);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
    ck_assert_ptr_null(dlex_thread_state.target.next);
}
END_TEST

/* The first firing marks the trigger, but cannot send the signal; the second one sends it. */
static void fire_without_signals(void)
{
    struct rlimit usual, none;
    volatile int result = 0;
    getrlimit(RLIMIT_SIGPENDING, &usual);
    none = usual;
    none.rlim_cur = 0;
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        setrlimit(RLIMIT_SIGPENDING, &none);
        result = dlex_trigger_fire(&trigger);
        setrlimit(RLIMIT_SIGPENDING, &usual);
        if (result != -EAGAIN || dlex_guard_.pending)
            _exit(1);
        result = dlex_trigger_fire(&trigger);
        if (result != 0 || !dlex_guard_.pending)
            _exit(2);
        dlex_try_within_enable();
        _exit(3);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        _exit(0);
    } dlex_end
}

START_TEST(firing_reports_that_no_signal_can_be_sent_and_can_be_repeated)
{
    dlex_trigger_reset(&trigger);
    ck_assert_int_eq(status_of(fire_without_signals), 0);
}
END_TEST

static void bind_without_a_block(void)
{
    dlex_trigger_bind(&trigger);
}

static void bind_two_triggers(void)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_trigger_bind(&trigger);
        dlex_trigger_bind(&other);
    } dlex_end
}

static void bind_in_two_threads(void)
{
    pthread_t thread;
    stop = begun = false;
    pthread_create(&thread, NULL, bind_until_stopped, NULL);
    while (!begun)
        usleep(100);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
}

START_TEST(mistakes_abort)
{
    static void (*const mistakes[])(void) = { bind_without_a_block, bind_two_triggers, bind_in_two_threads };
    dlex_trigger_reset(&trigger);
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const int status = status_of(mistakes[i]);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        fired_block_is_left_through_its_deadline_handler,
        handler_can_distinguish_a_firing_from_a_deadline,
        violation_without_a_handler_goes_outwards,
        sleeping_body_is_left,
        block_bound_to_a_fired_trigger_is_left_at_once,
        cooperative_block_bound_to_a_fired_trigger_is_left_at_once,
        firing_after_the_end_of_the_body_touches_nothing,
        firing_in_a_section_waits_for_its_end,
        fired_trigger_that_is_bound_in_a_section_waits_for_its_end,
        reset_forgets_a_delayed_violation,
        trigger_can_be_fired_again_after_a_reset,
        outermost_fired_block_takes_the_violation,
        outer_block_stays_bound_when_an_inner_one_of_the_same_trigger_has_ended,
        island_and_the_block_around_its_section_are_left_one_after_the_other,
        firing_of_an_outer_block_does_not_reach_into_an_island,
        checkpoint_throws_when_the_trigger_is_fired,
        outer_block_waits_for_a_checkpoint_or_the_end_of_the_cooperative_block,
        island_in_a_cooperative_block_of_the_same_trigger_is_left_first,
        cooperative_block_needs_no_signal,
        thread_fires_at_its_own_block,
        signal_handler_fires_at_the_block_that_it_interrupts,
        signal_handler_of_another_thread_fires,
        wait_for_a_scoped_lock_is_left_soon,
        latencies_of_triggers_are_separate_from_those_of_deadlines,
        errno_is_that_of_the_interruption,
        deadline_of_a_bound_block_is_a_deadline_violation,
        child_fires_at_blocks_that_it_opens,
        block_that_was_open_at_the_fork_is_bound_in_the_child,
        child_does_not_fire_at_threads_of_its_parent,
        firing_at_a_thread_that_has_ended_with_its_block_open_reaches_no_thread,
        blocks_in_destructors_are_fired_and_leave_no_thread_in_the_list,
        firing_reports_that_no_signal_can_be_sent_and_can_be_repeated,
        mistakes_abort,
        NULL,
    };
    return suite_run("libdlex triggers", 120, tests);
}
