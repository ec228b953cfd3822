/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event_rules.h"

/* Returns the index of the first event that is due and whose sink can run, or EVENT_NONE. */
static int first_event(const struct dwcs *dwcs, const struct event_queue *queue, int64_t now_ns)
{
    for (int i = 0; i < queue->count && queue->event[i].due_ns <= now_ns; i++)
        if (dwcs->process[queue->event[i].sink].is_runnable)
            return i;
    return EVENT_NONE;
}

static bool is_server(const struct dwcs *dwcs, int id)
{
    return id != DWCS_NONE && dwcs->process[id].kind == DWCS_SERVER;
}

/* Rule 4: i gets its C before its deadline, although j gets its own before. */
static bool can_wait_for(const struct dwcs_process *i, const struct dwcs_process *j, bool is_strict, int64_t now_ns)
{
    if (j->kind != DWCS_REAL_TIME || i->is_served || j->is_served || i->deadline_ns != j->deadline_ns)
        return false;
    const int64_t slack_ns = i->deadline_ns - now_ns - i->params.service_ns - j->params.service_ns;
    return is_strict ? slack_ns > 0 : slack_ns >= 0;
}

/* The time that all need until j has had its C if j came in its turn, j included. */
static int64_t needed_ns(const struct dwcs *dwcs, int j)
{
    int64_t sum_ns = dwcs->process[j].params.service_ns;
    for (int id = 0; id < DWCS_CAPACITY; id++) {
        const struct dwcs_process *const process = &dwcs->process[id];
        if (process->kind != DWCS_FREE && process->is_runnable && !process->is_served && id != j && dwcs_precedes(dwcs, id, j))
            sum_ns += process->params.service_ns;
    }
    return sum_ns;
}

/* Rule 4 with EVENT_RULE_4_SAFE: everyone before j gets its C before the deadline that i and j share. */
static bool can_all_wait_for(const struct dwcs *dwcs, int j, int64_t now_ns)
{
    return now_ns + needed_ns(dwcs, j) <= dwcs->process[j].deadline_ns;
}

/* Returns the rule by which the sink runs, or 0. Each pair of processes falls under one rule at most. */
static int rule_for(const struct dwcs *dwcs, int selected, int sink, unsigned rules, int64_t now_ns)
{
    int rule = 0;
    if (sink == selected)
        rule = 1;
    else if (selected == DWCS_NONE || dwcs->process[selected].kind == DWCS_BEST_EFFORT)
        rule = 2;
    else if (is_server(dwcs, selected))
        rule = 5;
    else if (dwcs->process[selected].is_served)
        rule = 3; /* DWCS selects a process that has had its C only if it is work-conserving */
    else if (can_wait_for(&dwcs->process[selected], &dwcs->process[sink], rules & EVENT_RULE_4_STRICT, now_ns) &&
             (!(rules & EVENT_RULE_4_SAFE) || can_all_wait_for(dwcs, sink, now_ns)))
        rule = 4;
    return rule && (rules & (1u << rule)) ? rule : 0;
}

/* Returns who runs if the server was selected and no event takes its place. */
static int stand_in(const struct dwcs *dwcs, int server)
{
    const int id = dwcs_select_best_effort(dwcs);
    return id != DWCS_NONE ? id : dwcs_select_without(dwcs, server);
}

struct event_choice event_choose(const struct dwcs *dwcs, struct event_queue *queue, unsigned rules, int64_t now_ns)
{
    const int selected = dwcs_select(dwcs);
    struct event_choice choice = {.selected = selected, .runs = selected};
    int event = first_event(dwcs, queue, now_ns);
    if (event != EVENT_NONE) {
        choice.rule = rule_for(dwcs, selected, queue->event[event].sink, rules, now_ns);
        if (choice.rule)
            choice.runs = queue->event[event].sink;
    }
    if (is_server(dwcs, choice.runs)) {
        choice.runs = stand_in(dwcs, choice.runs);
        if (choice.runs != DWCS_NONE && dwcs->process[choice.runs].kind != DWCS_BEST_EFFORT)
            choice.selected = choice.runs;
    }
    if (!choice.rule && (rules & (EVENT_RULE_1 | EVENT_FIRST_ONLY)) == EVENT_RULE_1) {
        event = event_due_for(queue, choice.runs, now_ns);
        choice.rule = event != EVENT_NONE;
    }
    if (choice.rule) {
        choice.data = queue->event[event].data;
        event_remove(queue, event);
    }
    return choice;
}

bool event_is_swap(const struct event_choice *choice)
{
    return choice->rule > 1;
}

void event_account(struct dwcs *dwcs, const struct event_choice *choice, int64_t ran_ns)
{
    if (choice->runs == DWCS_NONE)
        return;
    dwcs_run(dwcs, choice->runs, ran_ns);
    if (choice->selected != choice->runs && is_server(dwcs, choice->selected))
        dwcs_run(dwcs, choice->selected, ran_ns);
}
