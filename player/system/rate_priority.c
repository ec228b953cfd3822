/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rate_priority.h"

#include "log.h"
#include "ns.h"
#include "own_proc.h"
#include "rm_registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WHY_SIZE = 256 };

/* Only the main thread uses it. */
static struct {
    int level; /* 0: not entered yet */
    int64_t frame_ns;
    bool is_forgone;      /* of this film: no guarantee can be given */
    bool has_said_full;   /* of this film: all such programs need more than a CPU */
    bool has_said_longer; /* of this film: a picture took longer than COST */
    struct rate_cost cost;
} own;

int rate_priority_level(void)
{
    return own.level;
}

bool rate_priority_follow(void)
{
    const int level = own.level ? rm_registry_level() : 0;
    if (level <= 0 || level == own.level)
        return false;
    own.level = level;
    return true;
}

/* Returns text with the reason. */
static const char *why_refused(int error, const struct rm_joined *joined, char text[WHY_SIZE])
{
    if (error == -EBUSY && joined->by == RESPONSE_TOO_LATE)
        snprintf(text, WHY_SIZE, "%s (process %d) could take %.1f ms or more, and has %.1f ms", joined->late.name,
                 (int)joined->late.process, ns_to_ms(joined->late_response_ns), ns_to_ms(joined->late_deadline_ns));
    else if (error == -EBUSY)
        snprintf(text, WHY_SIZE, "all such programs together would need more than a CPU; see `dlex-sched rm list`");
    else if (error == -EALREADY)
        snprintf(text, WHY_SIZE, "`dlex-sched rm run` has given this program a priority; leave out one of both");
    else if (error == -ENOSPC)
        snprintf(text, WHY_SIZE, "there are %d such programs already; end one of `dlex-sched rm list`", RM_MEMBERS_MAX);
    else if (error == -ETIMEDOUT)
        snprintf(text, WHY_SIZE, "another program has locked the list of such programs for 2 s; try again");
    else if (error == -EREMOTE)
        snprintf(text, WHY_SIZE, "%s", own_proc_remedy);
    else
        snprintf(text, WHY_SIZE, "the list of such programs cannot be changed: %s", strerror(-error));
    return text;
}

static int64_t declared_ns(const struct rate_wish *wish)
{
    return (int64_t)(wish->cost_ms * (double)NS_PER_MS);
}

/* mean_ns 0: not known; it does not count then. longest_ns 0: without a guarantee. */
static struct rm_task task_with(int64_t mean_ns, int64_t longest_ns)
{
    const int64_t known_ns = mean_ns > 0 ? mean_ns : 1;
    return (struct rm_task){
        .kind = longest_ns ? RM_GUARANTEED : RM_STATISTICAL,
        .period_ns = own.frame_ns,
        .deadline_ns = own.frame_ns,
        .cost_max_ns = longest_ns,
        .cost_mean_ns = known_ns < own.frame_ns ? known_ns : own.frame_ns,
    };
}

/* A table that somebody has removed is made again. */
static int enter(const struct rm_task *task, struct rm_joined *joined)
{
    const int ret = own.level ? rm_registry_update(task, true, joined) : -ESRCH;
    return ret == -ESRCH ? rm_registry_join(task, "dlex-play", joined) : ret;
}

int rate_priority_join(const struct rate_wish *wish, int64_t frame_ns)
{
    const int64_t cost_ns = declared_ns(wish);
    char why[WHY_SIZE];
    struct rm_joined joined;
    own.frame_ns = frame_ns;
    own.is_forgone = own.has_said_full = own.has_said_longer = false;
    if (cost_ns > frame_ns) {
        log_error("--sched=rm:guaranteed:%g is refused: a picture has only %.1f ms", wish->cost_ms, ns_to_ms(frame_ns));
        return -EBUSY;
    }
    const struct rm_task task = task_with(cost_ns, cost_ns);
    const int ret = enter(&task, &joined);
    if (ret)
        log_error("--sched=rm is refused: %s", why_refused(ret, &joined, why));
    else
        own.level = joined.level;
    return ret;
}

/* Enters the mean, without a guarantee. Returns 0 or a negative errno. */
static int enter_mean(int64_t mean_ns, bool waits)
{
    const struct rm_task task = task_with(mean_ns, 0);
    struct rm_joined joined;
    const int ret = rm_registry_update(&task, waits, &joined);
    if (ret)
        return ret;
    own.level = joined.level;
    if (joined.by == RESPONSE_TOO_MUCH && !own.has_said_full) {
        own.has_said_full = true;
        log_note("--sched=rm: all such programs together need more than a CPU, so that pictures may be late; see `dlex-sched rm list`");
    }
    return 0;
}

/* Enters the film without a guarantee, and says why once that is done. Returns 0 or a negative errno. */
static int forgo(const struct rate_cost *cost, const char *why, bool waits)
{
    own.has_said_full = true; /* this sentence is enough */
    const int ret = enter_mean(cost->mean_ns, waits);
    if (ret)
        return ret;
    own.is_forgone = true;
    log_error("--sched=rm:guaranteed: with the %.1f ms that a picture can take, as was learnt, no deadline is guaranteed: %s; the film "
              "plays on as with --sched=rm", ns_to_ms(cost->longest_ns), why);
    return 0;
}

/* What the user says counts until a picture takes longer. */
static struct rate_cost cost_with_declared(const struct rate_wish *wish, const struct rate_cost *learnt)
{
    const int64_t declared = declared_ns(wish);
    struct rate_cost cost = *learnt;
    if (cost.longest_ns < declared)
        cost.longest_ns = declared;
    return cost;
}

static void say_longer(const struct rate_wish *wish, const struct rate_cost *cost)
{
    if (declared_ns(wish) == 0 || cost->longest_ns <= declared_ns(wish) || own.has_said_longer)
        return;
    own.has_said_longer = true;
    log_note("--sched=rm:guaranteed:%g: a picture can take %.1f ms, which counts from now on", wish->cost_ms, ns_to_ms(cost->longest_ns));
}

/* Enters the costs with a guarantee, or without one where it cannot be given. Returns 0 or a negative errno. */
static int guarantee(const struct rate_wish *wish, const struct rate_cost *cost)
{
    char why[WHY_SIZE];
    struct rm_joined joined;
    if (cost->longest_ns > own.frame_ns) {
        snprintf(why, sizeof why, "a picture has only %.1f ms", ns_to_ms(own.frame_ns));
        return forgo(cost, why, false);
    }
    const struct rm_task task = task_with(cost->mean_ns, cost->longest_ns);
    const int ret = rm_registry_update(&task, false, &joined);
    if (ret == -EBUSY)
        return forgo(cost, why_refused(ret, &joined, why), false);
    if (ret)
        return ret;
    own.level = joined.level;
    say_longer(wish, cost);
    return 0;
}

bool rate_priority_learn(const struct rate_wish *wish, const struct rate_cost *learnt)
{
    own.cost = cost_with_declared(wish, learnt);
    const int ret = wish->is_guaranteed && !own.is_forgone ? guarantee(wish, &own.cost) : enter_mean(learnt->mean_ns, false);
    return ret != -EAGAIN;
}

void rate_priority_forgo(int error)
{
    char why[WHY_SIZE];
    snprintf(why, sizeof why, "the priority %d is refused: %s", own.level, strerror(-error));
    forgo(&own.cost, why, true);
}
