/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why the kernel refuses a scheduling policy to this player, and what would help here. */
#ifndef PLAYER_POLICY_REFUSAL_H
#define PLAYER_POLICY_REFUSAL_H

#include "thread_policy.h"

/* Logs one sentence about --sched=ASKED, which was refused with this negative errno. `kind` is the policy's. */
void policy_refusal_log(const char *asked, enum thread_policy_kind kind, int error);

#endif
