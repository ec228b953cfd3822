/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What happened in a table: fixed records in a ring of shared memory. One thread at a time writes, under the lock of the table;
 * it may be killed at any time. Readers need no lock. Records that a reader is too slow for are lost to it, and counted.
 */
#ifndef SCHED_PMAN_LOG_H
#define SCHED_PMAN_LOG_H

#include <stdint.h>

enum { PMAN_LOG_SIZE = 8192 }; /* records; 12 processes at 60 ticks a second fill it in 3.7 s */

/* The columns of a log file are these fields; see pman_log_kind_name. */
enum pman_log_kind {
    PMAN_LOG_TICK,     /* number: of the tick; time: its own; value: ns that the call took */
    PMAN_LOG_RELEASE,  /* value: when it should be released; tick */
    PMAN_LOG_START,    /* the process began it, in pman_wait; recorded when it has finished */
    PMAN_LOG_MISS,     /* its deadline has passed; time: when that was noticed */
    PMAN_LOG_FINISH,   /* value: the status of the process from now on, enum pman_status */
};

struct pman_log_record {
    int64_t time_ns;
    int64_t number;  /* of the process's instance, from 1 on; or of the tick, from 0 on */
    int64_t value;
    int64_t tick;    /* in which the instance was activated, or after which, if it is a recovery; -1: another record says it */
    int32_t kind;    /* enum pman_log_kind */
    int32_t process; /* its index in the table; -1 in a tick */
};

/* All 0 is an empty log. */
struct pman_log {
    uint64_t written;
    struct pman_log_record record[PMAN_LOG_SIZE];
};

void pman_log_add(struct pman_log *log, const struct pman_log_record *record);

/* All 0 is a reader of what is in the log already. */
struct pman_log_reader {
    uint64_t next;
    int64_t lost;
};

/* The reader begins with the next record. */
void pman_log_follow(struct pman_log_reader *reader, const struct pman_log *log);

/* Reads the next record. Returns 1, or 0 if there is none yet. */
int pman_log_read(struct pman_log_reader *reader, const struct pman_log *log, struct pman_log_record *record);

/* Returns "tick", "release", "start", "miss" or "finish". */
const char *pman_log_kind_name(enum pman_log_kind kind);

#endif
