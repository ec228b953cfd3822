/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `dlex-sched doctor` finds out about the kernel's facilities. Each check leaves the machine as it was. */
#ifndef SCHED_DOCTOR_CHECKS_H
#define SCHED_DOCTOR_CHECKS_H

#include "thread_policy.h"

#include <stdbool.h>

enum { FINDING_SIZE = 768 };

/* What a check has found: one sentence about this machine, with a remedy if something is missing. */
struct finding {
    bool is_good;
    char text[FINDING_SIZE];
};

/* Returns a finding with this text. */
struct finding doctor_finding(bool is_good, const char *text);

/* Runs `act`, which returns 0 or a negative errno, in a child. Returns the same, or a negative errno if there is no child. */
int doctor_in_child(int (*act)(const void *context), const void *context);

/* Tries a policy in a child, whose end gives everything back. Returns 0 or a negative errno, also if there is no child. */
int doctor_try_policy(const struct thread_policy *policy);

/* Returns the finding for what cannot be tried because a reservation was refused with this negative errno. */
struct finding doctor_no_reservation(int error);

/* Whether a thread may use unreserved time beyond its budget, as `tune` lets it. */
struct finding doctor_check_reclaiming(void);

/* Whether the kernel itself reports that a budget has run out. */
struct finding doctor_check_throttling(void);

/* Whether programs of BPF can see context switches. */
struct finding doctor_check_switch_point(void);

/* Whether system calls can be watched, for `period --events=syscalls`. */
struct finding doctor_check_trace_points(void);

/* Whether programs of BPF can be loaded. */
struct finding doctor_check_bpf(void);

/* Whether a single thread can be held by a descriptor, so that its id cannot come to mean another one. */
struct finding doctor_check_descriptors(void);

/* Which control groups there are, for quotas and CPUs of one's own. */
struct finding doctor_check_groups(void);

#endif
