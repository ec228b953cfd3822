/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "slot_sim.h"

#include <errno.h>
#include <stddef.h>

/* The mixing step of splitmix64 by Sebastiano Vigna (public domain). */
static uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t slot_random(uint64_t seed, uint64_t task, uint64_t number)
{
    return mix(mix(mix(seed) + task) + number);
}

/* Returns the cost of the next frame. */
static int64_t draw_cost(const struct slot_sim *sim, int index)
{
    const struct slot_task *const task = &sim->task[index];
    const int64_t low = task->player.cost_min_ns;
    const uint64_t random = slot_random(sim->seed, (uint64_t)index, (uint64_t)task->frames);
    return low + (int64_t)(random % (uint64_t)(task->player.cost_max_ns - low + 1));
}

static int64_t slot_from(const struct slot_sim *sim, int64_t at_ns)
{
    return (at_ns + sim->slot_ns - 1) / sim->slot_ns * sim->slot_ns;
}

void slot_sim_init(struct slot_sim *sim, int64_t slot_ns, uint64_t seed)
{
    *sim = (struct slot_sim){.slot_ns = slot_ns, .seed = seed};
    dwcs_init(&sim->dwcs);
    event_queue_init(&sim->events);
}

static bool is_valid(const struct slot_player *player)
{
    return player->cost_min_ns > 0 && player->cost_min_ns <= player->cost_max_ns && player->sleep_ns > 0 && player->first_ns >= 0;
}

int slot_sim_add(struct slot_sim *sim, const struct dwcs_params *params, const struct slot_player *player)
{
    if (player && !is_valid(player))
        return -EINVAL;
    if (sim->tasks == SLOT_TASKS)
        return -ENOSPC;
    const int process = params ? dwcs_add(&sim->dwcs, params, 0) : dwcs_add_best_effort(&sim->dwcs);
    if (process < 0)
        return process;
    const int index = sim->tasks++;
    struct slot_task *const task = &sim->task[index];
    *task = (struct slot_task){.process = process, .is_player = player != NULL, .began_ns = -1};
    sim->task_of[process] = index;
    if (player) {
        task->player = *player;
        task->ready_ns = slot_from(sim, player->first_ns);
        dwcs_block(&sim->dwcs, process);
        if (!sim->dwcs.process[process].params.keeps_periods)
            sim->dwcs.process[process].deadline_ns = DWCS_NO_DEADLINE; /* its first period begins with its first frame */
    }
    return index;
}

int slot_sim_raise(struct slot_sim *sim, int task, int64_t due_ns)
{
    return event_raise(&sim->events, sim->task[task].process, due_ns, 0);
}

/* The next frame of a player can begin, from ready_ns on. */
static void offer_frame(struct slot_sim *sim, int index)
{
    struct slot_task *const task = &sim->task[index];
    task->left_ns = draw_cost(sim, index);
    task->began_ns = -1;
    if (sim->rules && slot_sim_raise(sim, index, task->ready_ns))
        sim->lost++;
}

static void wake_players(struct slot_sim *sim)
{
    for (int i = 0; i < sim->tasks; i++) {
        struct slot_task *const task = &sim->task[i];
        if (!task->is_player || task->left_ns > 0 || task->ready_ns > sim->now_ns)
            continue;
        dwcs_wake(&sim->dwcs, task->process, sim->now_ns);
        offer_frame(sim, i);
    }
}

static void begin_frame(struct slot_sim *sim, int index)
{
    struct slot_task *const task = &sim->task[index];
    const int64_t delay_ns = sim->now_ns - task->ready_ns;
    task->began_ns = sim->now_ns;
    if (sim->trace_ns && index == sim->traced_task && task->frames < sim->trace_capacity)
        sim->trace_ns[task->frames] = delay_ns;
    task->frames++;
    task->delay_sum_ns += delay_ns;
    if (delay_ns > task->delay_max_ns)
        task->delay_max_ns = delay_ns;
}

/* The frame is finished at now_ns, and the player sleeps. */
static void end_frame(struct slot_sim *sim, int index)
{
    struct slot_task *const task = &sim->task[index];
    task->finished++;
    task->response_sum_ns += sim->now_ns - task->ready_ns;
    task->ready_ns = slot_from(sim, sim->now_ns + task->player.sleep_ns);
    dwcs_block(&sim->dwcs, task->process);
}

static void update_server(struct slot_sim *sim)
{
    if (!sim->server)
        return;
    const int64_t service_ns = sim->events.count ? sim->dwcs.process[sim->events.event[0].sink].params.service_ns : 0;
    dwcs_server_update(&sim->dwcs, sim->server, service_ns, sim->now_ns); /* without one it is not selected */
}

/* Runs the chosen task until the end of the slot or of its frame. */
static void run_task(struct slot_sim *sim, int index, const struct event_choice *choice, int64_t until_ns)
{
    struct slot_task *const task = &sim->task[index];
    int64_t ran_ns = until_ns - sim->now_ns;
    if (task->is_player && task->began_ns < 0)
        begin_frame(sim, index);
    if (task->is_player && task->left_ns < ran_ns)
        ran_ns = task->left_ns;
    event_account(&sim->dwcs, choice, ran_ns);
    sim->now_ns += ran_ns;
    if (!task->is_player)
        return;
    task->left_ns -= ran_ns;
    if (task->left_ns == 0)
        end_frame(sim, index);
}

int slot_sim_step(struct slot_sim *sim)
{
    const int64_t until_ns = slot_from(sim, sim->now_ns + 1);
    dwcs_advance(&sim->dwcs, sim->now_ns);
    wake_players(sim);
    update_server(sim);
    const struct event_choice choice = event_choose(&sim->dwcs, &sim->events, sim->rules, sim->now_ns);
    sim->delivered += choice.rule > 0;
    sim->swaps += event_is_swap(&choice);
    if (choice.runs == DWCS_NONE) {
        sim->now_ns = until_ns;
        return SLOT_IDLE;
    }
    const int index = sim->task_of[choice.runs];
    run_task(sim, index, &choice, until_ns);
    return index;
}

void slot_sim_run(struct slot_sim *sim, int64_t end_ns)
{
    while (sim->now_ns < end_ns)
        slot_sim_step(sim);
}
