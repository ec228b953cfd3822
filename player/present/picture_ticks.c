/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_ticks.h"

#include "log.h"
#include "pman.h"

#include <errno.h>
#include <string.h>

static const char *explanation(int error)
{
    switch (error) {
    case -ENOENT: return "there is no graph of processes with this name; start it first (dlex sched pman)";
    case -EINVAL: return "no graph can have this name; write 1 to 31 letters, digits, - and _";
    case -EACCES: return "this graph of processes is another user's; start one of your own (dlex sched pman)";
    case -EPROTO: return "this graph of processes is of another version; start it with the dlex sched pman of this one";
    default: return strerror(-error);
    }
}

int picture_ticks_open(struct picture_ticks *ticks, const char *table)
{
    *ticks = (struct picture_ticks){.table = table};
    const int error = pman_open(&ticks->pman, table);
    if (error)
        log_error("--tick=%s: %s", table, explanation(error));
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
