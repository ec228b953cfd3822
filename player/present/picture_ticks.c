/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_ticks.h"

#include "log.h"
#include "pman.h"

#include <errno.h>
#include <string.h>

int picture_ticks_open(struct picture_ticks *ticks, const char *table)
{
    *ticks = (struct picture_ticks){.table = table};
    const int error = pman_open(&ticks->pman, table);
    if (error == -ENOENT)
        log_error("--tick=%s: there is no graph of processes with this name; start it first (dlex sched pman)", table);
    else if (error)
        log_error("--tick=%s: %s", table, strerror(-error));
    return error;
}

void picture_ticks_give(struct picture_ticks *ticks, int64_t shown_ns)
{
    if (!ticks->pman)
        return;
    int error = pman_tick(ticks->pman, shown_ns);
    if (error == -EINVAL)
        error = pman_tick(ticks->pman, 0); /* another program gave a tick after this picture was shown */
    if (!error)
        return;
    log_note("the graph %s gets no more ticks: %s", ticks->table, error == -ESHUTDOWN ? "it has ended" : strerror(-error));
    pman_leave(&ticks->pman);
}

void picture_ticks_close(struct picture_ticks *ticks)
{
    pman_leave(&ticks->pman);
}
