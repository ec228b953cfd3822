/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `dlex-sched doctor` finds out about reservations and priorities. Each check tries it in a child, whose end gives all back. */
#ifndef SCHED_DOCTOR_POLICIES_H
#define SCHED_DOCTOR_POLICIES_H

#include "doctor_checks.h"

/* Whether the kernel says what is left of a budget. */
struct finding doctor_check_budget_left(void);

/* Whether the kernel can send a signal when a budget runs out. */
struct finding doctor_check_overruns(void);

/* Whether a thread with a reservation can start threads and programs. */
struct finding doctor_check_starting(void);

/* This user's limit of fixed priorities (RLIMIT_RTPRIO), and whether it can be raised. */
struct finding doctor_check_priority_limit(void);

/* Whether a thread can ask for a fast or a slow CPU (utilisation clamping). */
struct finding doctor_check_clamping(void);

#endif
