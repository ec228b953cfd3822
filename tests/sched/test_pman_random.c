/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random graphs, periods, delays and ends of instances, compared at each step with the rule itself: an instance is released
 * exactly when its delay has passed and no predecessor is unfinished that was activated after the instance's predecessor in
 * time and not after itself. Not covered: graphs that change (test_pman_graph.c), deadlines.
 */
#include "pman_testing.h"

enum { TABLES = 300, STEPS = 600, PROCESSES = 8, TIMEOUT_S = 120 };

enum state { IDLE, ACTIVATED, RUNNING };

struct instance {
    struct pman_timing timing;
    bool follows[PROCESSES];
    enum state state;
    int64_t tick, previous_tick;
    int64_t earliest_ns;
    int64_t activations, skips;
};

struct model {
    struct pman_table table;
    struct instance instance[PROCESSES];
    uint64_t random;
    int64_t tick;
    int64_t now_ns;
};

static const char *const names[PROCESSES] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* xorshift64 by George Marsaglia. */
static int below(struct model *model, int limit)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return (int)((model->random >> 16) % (uint64_t)limit);
}

/* Precedences go from a process to one before it in the table or the other way round, by the table; so there is no cycle. */
static void make_table(struct model *model, uint64_t seed)
{
    *model = (struct model){.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    begin_table(&model->table, PMAN_DEADLINES_TIMER);
    const bool is_forward = below(model, 2);
    for (int i = 0; i < PROCESSES; i++) {
        struct instance *const instance = &model->instance[i];
        instance->timing = (struct pman_timing){
            .period = 1 + below(model, 3), .phase = below(model, 3), .delay_ns = below(model, 2) * below(model, 5) * MS,
        };
        instance->tick = instance->previous_tick = -1;
        add_process(&model->table, names[i], instance->timing, NULL);
    }
    for (int i = 0; i < PROCESSES; i++) {
        for (int j = 0; j < i; j++) {
            if (below(model, 3))
                continue;
            const int before = is_forward ? j : i, after = is_forward ? i : j;
            model->instance[after].follows[before] = true;
            precede(&model->table, names[before], names[after]);
        }
    }
}

/* The rule. */
static bool may_run(const struct model *model, int index)
{
    const struct instance *const instance = &model->instance[index];
    if (model->now_ns < instance->earliest_ns)
        return false;
    for (int i = 0; i < PROCESSES; i++) {
        const struct instance *const other = &model->instance[i];
        if (instance->follows[i] && other->state != IDLE && other->tick > instance->previous_tick && other->tick <= instance->tick)
            return false;
    }
    return true;
}

/* Compares the actions of the last call with the rule: all that may run were released, and no others. */
static void compare(struct model *model)
{
    bool may[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        may[i] = model->instance[i].state == ACTIVATED && may_run(model, i);
    for (int i = 0; i < out.count; i++) {
        const int index = out.action[i].process;
        suite_check(out.action[i].kind == PMAN_RELEASE);
        if (!may[index])
            ck_abort_msg("%s was released too early, or twice", names[index]);
        may[index] = false;
        model->instance[index].state = RUNNING;
        model->instance[index].activations++;
    }
    for (int i = 0; i < PROCESSES; i++)
        if (may[i])
            ck_abort_msg("%s was not released", names[i]);
}

static void random_tick(struct model *model)
{
    for (int i = 0; i < PROCESSES; i++) {
        struct instance *const instance = &model->instance[i];
        const int64_t ticks = model->tick - instance->timing.phase;
        if (ticks < 0 || ticks % instance->timing.period)
            continue;
        if (instance->state != IDLE) {
            instance->skips++;
            continue;
        }
        instance->state = ACTIVATED;
        instance->previous_tick = instance->tick;
        instance->tick = model->tick;
        instance->earliest_ns = model->now_ns + instance->timing.delay_ns;
    }
    model->tick++;
    ck_assert_int_eq(pman_table_tick(&model->table, model->now_ns, model->now_ns, &out), 0);
    compare(model);
}

/* Finishes a process if it runs. */
static void try_to_finish(struct model *model, int index)
{
    if (model->instance[index].state != RUNNING)
        return;
    model->instance[index].state = IDLE;
    ck_assert_int_eq(pman_table_finish(&model->table, names[index], model->now_ns, &out), 0);
    compare(model);
}

static void pass_time(struct model *model)
{
    model->now_ns += below(model, 3) * MS;
    ck_assert_int_eq(pman_table_timer(&model->table, model->now_ns, &out), 0);
    compare(model);
}

/* A program dies in the middle of a call: the table is the copy that it had not changed yet. */
static void interrupt(struct model *model)
{
    static struct pman_table changed;
    pman_table_copy(&changed, &model->table);
    pman_table_tick(&changed, model->now_ns, model->now_ns, &out);
    pman_table_copy(&changed, &model->table);
    memset(&model->table, -1, sizeof model->table);
    pman_table_copy(&model->table, &changed);
}

/* Without further ticks everything comes to its end: nobody waits for ever. */
static void finish_all(struct model *model)
{
    model->now_ns += 10 * MS;
    ck_assert_int_eq(pman_table_timer(&model->table, model->now_ns, &out), 0);
    compare(model);
    for (int round = 0; round < PROCESSES; round++)
        for (int i = 0; i < PROCESSES; i++)
            try_to_finish(model, i);
    for (int i = 0; i < PROCESSES; i++) {
        const struct pman_statistics statistics = query(&model->table, names[i]);
        ck_assert_int_eq(model->instance[i].state, IDLE);
        ck_assert_int_eq(statistics.status, PMAN_IDLE);
        ck_assert_int_eq(statistics.activations, model->instance[i].activations);
        ck_assert_int_eq(statistics.skips, model->instance[i].skips);
        ck_assert_int_gt(statistics.activations, 0);
    }
}

START_TEST(instances_are_released_by_the_rule)
{
    static struct model model;
    int64_t skips = 0;
    for (uint64_t seed = 1; seed <= TABLES; seed++) {
        make_table(&model, seed);
        for (int step = 0; step < STEPS; step++) {
            pass_time(&model);
            if (below(&model, 50) == 0)
                interrupt(&model);
            if (below(&model, 4) == 0)
                random_tick(&model);
            else
                try_to_finish(&model, below(&model, PROCESSES));
        }
        finish_all(&model);
        for (int i = 0; i < PROCESSES; i++)
            skips += model.instance[i].skips;
    }
    ck_assert_int_gt(skips, TABLES); /* else nothing was ever late, and little was tested */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {instances_are_released_by_the_rule, NULL};
    return suite_run("pman_random", TIMEOUT_S, tests);
}
