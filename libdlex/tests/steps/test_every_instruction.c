/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An expiry at each instruction of a block, from before the opening to after the end. tracer.h says how this is done,
 * and scenarios.h lists the scenarios. Each clone of each walk checks what runs in which order. It also checks that the signal
 * mask, the control words and the stack pointer are unchanged at every mark and at the end, that everything is closed,
 * and that the next blocks work.
 *
 * Not here: other notification back ends (they only send the signal), several threads, and interruptions inside an
 * instruction, such as a store that is half done.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlex/dlex.h>

#include "scenarios.h"
#include "tracer.h"
#include "world.h"

enum { SKIP = 77 };

static void prepare(void)
{
    dlex_thread_init();
    dlex_try_within_rel(FAR) { } dlex_end
    dlex_idle();
    context_set();
}

/* ---- Checks after a scenario --------------------------------------------------------------- */

static const char *after_next_deadline(void)
{
    const int64_t limit_ns = dlex_now_ns() + MS;
    const char *volatile what = "the next deadline block did not begin";
    dlex_try_within_rel(MS) {
        what = "the next deadline was not delivered";
        world_pass(MS);
        what = "the next deadline was not delivered in its body";
    } dlex_handle dlex_when(dlex_deadline_violation) {
        what = dlex_last_violation()->deadline_ns == limit_ns ? NULL : "another deadline came";
    } dlex_end
    return what;
}

static const char *after_next_wcet(void)
{
    const char *volatile what = "the next WCET block did not begin";
    dlex_try_within_wcet(MS) {
        what = "the next WCET was not delivered";
        world_pass(MS);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        what = NULL;
    } dlex_end
    return what;
}

static const char *after_next_complete(void)
{
    const char *volatile what = "the next block did not end";
    dlex_try_within_rel(MS) {
        world_fire();
        what = NULL;
    } dlex_handle dlex_when_any {
        what = "the next block took a violation that was none";
    } dlex_end
    return what;
}

static const char *what_is_wrong(void)
{
    if (world.spoilt)
        return "a mark found another signal mask or other control words";
    if (!context_is_as_set())
        return "the signal mask or the control words are others afterwards";
    if (dlex_guard_.depth || dlex_guard_.held || dlex_remaining_ns() != INT64_MAX)
        return "a section or a block is still open";
    world.mute = 0;
    world_fire();
    const char *what = after_next_complete();
    if (!what)
        what = after_next_deadline();
    if (!what)
        what = after_next_wcet();
    if (!what && (dlex_guard_.depth || dlex_guard_.pending))
        what = "a section is open, or something pending, after the next blocks";
    return what ? what : context_is_as_set() ? NULL : "the next block spoilt the context";
}

static void check(struct report *report)
{
    memcpy(report->log, world.log, sizeof(report->log));
    const char *const what = what_is_wrong();
    if (what)
        strcpy(report->complaint, what);
    else if (memcmp(report->log, world.log, sizeof(report->log)) != 0)
        strcpy(report->complaint, "something ran after the end");
}

/* ---- One walk ----------------------------------------------------------------------------- */

struct tally {
    const struct scenario *scenario;
    const char *expiry;          /* for messages */
    const char *const *expected; /* ends in NULL */
    int reached;                 /* how many of them have occurred */
    int counts[OUTCOMES_MAX];
    bool failed;
};

static bool is_expected(struct tally *tally, const char *log)
{
    if (tally->reached && strcmp(log, tally->expected[tally->reached - 1]) == 0)
        return true;
    const char *const next = tally->expected[tally->reached];
    if (!next || strcmp(log, next) != 0)
        return false;
    tally->reached++;
    return true;
}

/* addr2line accepts the place, unless it is in another library. */
static bool count(void *arg, const struct report *report, uintptr_t where)
{
    struct tally *tally = arg;
    const char *what = report->complaint;
    if (!*what && !is_expected(tally, report->log))
        what = "this may not happen here";
    if (*what) {
        printf("FAIL %s, %s: at 0x%lx, after %d outcomes: ran \"%s\": %s\n", tally->scenario->name,
               tally->expiry, (unsigned long)where, tally->reached, report->log, what);
        tally->failed = true;
        return false;
    }
    tally->counts[tally->reached - 1]++;
    return true;
}

static void print_tally(const struct tally *tally, int instructions)
{
    printf("%-36s %-8s %5d:", tally->scenario->name, tally->expiry, instructions);
    for (int i = 0; i < tally->reached; i++)
        printf(" %s %d", tally->expected[i], tally->counts[i]);
    putchar('\n');
    fflush(stdout);
}

static int walk(const struct scenario *scenario, const char *expiry, const char *const *expected,
                struct upset upset)
{
    struct tally tally = { scenario, expiry, expected, 0, { 0 }, false };
    const struct walk walk = { scenario->run, scenario->first ? context_set : prepare, check, upset, count, &tally };
    const int instructions = tracer_walk(&walk);
    if (tally.failed)
        return -ECANCELED;
    if (instructions < 0) {
        printf("%s, %s: %s\n", scenario->name, expiry, strerror(-instructions));
        return instructions;
    }
    print_tally(&tally, instructions);
    if (!expected[tally.reached])
        return 0;
    printf("FAIL %s, %s: \"%s\" never happened\n", scenario->name, expiry, expected[tally.reached]);
    return -ECANCELED;
}

static const char *last_of(const char *const *list)
{
    while (list[1])
        list++;
    return *list;
}

static int walk_all(const struct scenario *scenario)
{
    const struct upset timely = { LATER, LATER, UPSET_DUE }, lost = { LATER, LATER, UPSET_MUTE };
    const struct upset stray = { 0, 0, UPSET_ALWAYS }, waiting = { LATER, 0, UPSET_DUE };
    const outcome_list undisturbed = { last_of(scenario->timely), NULL };
    const struct upset fired = { 0, 0, UPSET_FIRE };
    int err = scenario->trigger ? walk(scenario, "fired", scenario->timely, fired)
                                : walk(scenario, "timely", scenario->timely, timely);
    if (!err && !scenario->first)
        err = walk(scenario, "stray", undisturbed, stray);
    if (!err && scenario->wcet)
        err = walk(scenario, "waiting", undisturbed, waiting);
    if (!err && scenario->lost[0])
        err = walk(scenario, "lost", scenario->lost, lost);
    return err;
}

static bool runs_in_valgrind(void)
{
    const char *const preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload");
}

/* With an argument, only the scenarios run whose names contain it. */
int main(int argc, char **argv)
{
    int failures = 0;
    if (runs_in_valgrind()) {
        puts("skipped: the instructions would be those of valgrind");
        return SKIP;
    }
    for (int i = 0; i < scenario_count; i++) {
        if (argc > 1 && !strstr(scenarios[i].name, argv[1]))
            continue;
        const int err = walk_all(&scenarios[i]);
        if (err == -EPERM || err == -EACCES || err == -ENOSYS) {
            puts("skipped: this process may not trace its children");
            return SKIP;
        }
        failures += err != 0;
    }
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
