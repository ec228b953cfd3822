/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `dlex-sched doctor` finds out about means to watch programs. Each check leaves the machine as it was. */
#ifndef SCHED_DOCTOR_TRACING_H
#define SCHED_DOCTOR_TRACING_H

#include "doctor_checks.h"

/* Whether perf counts the time and the context switches of a thread. */
struct finding doctor_check_time_counters(void);

/* Whether perf counts what the CPU does, such as its cycles. */
struct finding doctor_check_cpu_counters(void);

/* Whether probes can be put into the kernel. */
struct finding doctor_check_probes(void);

/* Whether a program can be traced as strace does it. */
struct finding doctor_check_tracers(void);

/* Whether a program can answer another one's system calls (seccomp). */
struct finding doctor_check_call_filters(void);

/* Whether system calls can be made through rings in memory. */
struct finding doctor_check_io_uring(void);

/* Whether /proc has the scheduler's numbers of a thread. */
struct finding doctor_check_scheduler_files(void);

#endif
