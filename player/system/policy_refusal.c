/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy_refusal.h"

#include "log.h"
#include "reservation.h"
#include "scheduling_right.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Such a user can get the right for this program alone. */
static void log_for_user(const char *asked, bool is_reservation)
{
    if (is_reservation)
        log_error("--sched=%s is not permitted; grant it by `setcap cap_sys_nice+ep` on this program, or by "
                  "AmbientCapabilities=CAP_SYS_NICE in a systemd unit", asked);
    else
        log_error("--sched=%s is not permitted; grant it by `setcap cap_sys_nice+ep` on this program, by `@audio - rtprio 95` "
                  "in /etc/security/limits.conf, or by LimitRTPRIO=95 in a systemd unit", asked);
}

/* Returns why a process may not reserve that cannot get the right by itself, as in a container. */
static const char *why_no_reservation(char text[RESERVATION_REASON_SIZE])
{
    const struct reservation tried = {.entry = {.thread = {.process = getpid(), .thread = gettid()}}};
    return reservation_reason(RESERVATION_NO_RIGHT, &tried, text);
}

static void log_missing_right(const char *asked, bool is_reservation)
{
    char fixed[SCHEDULING_REMEDY_SIZE], reserved[RESERVATION_REASON_SIZE];
    const enum scheduling_lack lack = scheduling_lack();
    if (lack == SCHEDULING_NOT_ROOT)
        log_for_user(asked, is_reservation);
    else if (!is_reservation)
        log_error("--sched=%s is refused: %s", asked, fixed_priority_remedy(-EPERM, fixed));
    else if (lack == SCHEDULING_ALLOWED)
        log_error("--sched=%s is refused: the CPU is not a scheduling domain of its own; name such a CPU with --cpu, "
                  "and see --sched in the manual", asked);
    else
        log_error("--sched=%s is refused: %s", asked, why_no_reservation(reserved));
}

void policy_refusal_log(const char *asked, enum thread_policy_kind kind, int error)
{
    if (error == -EBUSY)
        log_error("--sched=%s is not admitted: with the reservations of others the CPU would be full; ask for less", asked);
    else if (error != -EPERM)
        log_error("--sched=%s is refused: %s; choose another policy", asked, strerror(-error));
    else
        log_missing_right(asked, kind == THREAD_DEADLINE);
}
