/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session_limits.h"

#include "log.h"

#include <dlex/dlex.h>
#include <string.h>

void session_limits_watch(struct session *session)
{
    const int ret = limits_watch_create(&session->limits_watch, &control_groups_of_system);
    if (ret < 0)
        log_note("CPU quotas and CPUs are not known: there is no thread that could look: %s", strerror(-ret));
}

void session_limits_begin(struct session *session)
{
    if (!session->limits_watch)
        return;
    limits_watch_look(session->limits_watch);
    session_limits_follow(session);
}

void session_limits_follow(struct session *session)
{
    if (!session->limits_watch)
        return;
    const struct cpu_limits limits = limits_watch_seen(session->limits_watch);
    if (cpu_limits_are_equal(&limits, &session->clock.limits))
        return;
    media_clock_set_limits(&session->clock, &limits);
    limits_history_add(&session->limits, &limits, dlex_now_ns());
}
