/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_server.h"

#include <errno.h>

/* Less than this is rounding, and would make periods of hours. */
static const double least_part = 1e-6;

int dwcs_server_find(const struct dwcs *dwcs)
{
    for (int id = 0; id < DWCS_CAPACITY; id++)
        if (dwcs->process[id].kind == DWCS_SERVER)
            return id;
    return DWCS_NONE;
}

static int32_t greatest_y(const struct dwcs *dwcs)
{
    int32_t greatest = 0;
    for (int id = 0; id < DWCS_CAPACITY; id++) {
        const struct dwcs_process *const process = &dwcs->process[id];
        if (process->kind == DWCS_REAL_TIME && process->params.y > greatest)
            greatest = process->params.y;
    }
    return greatest;
}

/* Returns C/part in whole units of the time base. A multiple of the base stays one in spite of the rounding of doubles. */
static int64_t period_for(int64_t service_ns, double part, int64_t base_ns)
{
    const double units = (double)service_ns / part / (double)base_ns;
    int64_t whole = (int64_t)units;
    if (units - (double)whole > 1e-9)
        whole++;
    return whole * base_ns;
}

static void change(struct dwcs_process *server, const struct dwcs_params *params)
{
    if (server->params.x != params->x || server->params.y != params->y) {
        server->x_now = params->x;
        server->y_now = params->y;
    }
    server->params = *params;
}

int dwcs_server_update(struct dwcs *dwcs, const struct dwcs_server_options *options, int64_t service_ns, int64_t now_ns)
{
    const double left = 1 - dwcs_utilisation(dwcs);
    const int id = dwcs_server_find(dwcs);
    if (left < least_part) {
        if (id != DWCS_NONE)
            dwcs_remove(dwcs, id);
        return -EBUSY;
    }
    struct dwcs_params params = {.service_ns = service_ns > 0 ? service_ns : options->base_ns, .x = options->x, .y = options->y};
    if (params.y == 0)
        params.y = greatest_y(dwcs) + 1;
    params.period_ns = period_for(params.service_ns, left, options->base_ns);
    if (id != DWCS_NONE) {
        change(&dwcs->process[id], &params);
        return 0;
    }
    const int added = dwcs_add_kind(dwcs, DWCS_SERVER, &params, now_ns);
    return added < 0 ? added : 0;
}
