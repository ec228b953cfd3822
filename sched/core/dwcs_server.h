/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The task server of event scheduling (seed 001, section 3.2, Rule 5): a pseudo process in the run queue that takes the CPU
 * time that the real-time processes leave. Whenever DWCS selects it, a sink of an event runs in its place, or a best-effort
 * process. Its attributes follow from the others': x/y = 0/(greatest y + 1), C is that of the first event's sink, and
 * T = C/U_r, rounded up to the time base, where U_r = 1 - dwcs_utilisation.
 */
#ifndef SCHED_DWCS_SERVER_H
#define SCHED_DWCS_SERVER_H

#include "dwcs.h"

struct dwcs_server_options {
    int64_t base_ns; /* the time base, > 0; 10 ms in the seed */
    int32_t x;       /* with y = 0 the window constraint is as above; else it is x/y. The seed's own experiment */
    int32_t y;       /* (Table 6) uses 1/5 where its rule gives 0/6. 0 <= x <= y <= DWCS_Y_MAX */
};

/* Returns the id of the server, or DWCS_NONE if there is none. */
int dwcs_server_find(const struct dwcs *dwcs);

/*
 * Adds the server or brings its attributes up to date. Call it before each decision, with the C of the first event's sink;
 * service_ns = 0 (no event, or a sink without C) means the time base. Changed attributes hold at once, but for T, which
 * holds from the next period on. If the processes leave less than a millionth of the CPU, the server is removed. Returns 0,
 * -EBUSY (nothing is left, so there is no server now) or -ENOSPC.
 */
int dwcs_server_update(struct dwcs *dwcs, const struct dwcs_server_options *options, int64_t service_ns, int64_t now_ns);

#endif
