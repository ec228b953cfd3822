/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event_unix.h"

/* Ordinary processes are below all real-time ones. */
static int level_of(const struct unix_process *process)
{
    return process->policy == UNIX_OTHER ? 0 : process->priority;
}

bool event_unix_precedes(const struct unix_process *sink, const struct unix_process *selected)
{
    return level_of(sink) >= level_of(selected);
}
