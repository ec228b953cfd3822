/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives a thread of any program a reservation of CPU time (SCHED_DEADLINE), changes it, and takes it back. Seed 003 reserves
 * the same way, with a scheduler of its own (section III).
 *
 * Only threads under an ordinary policy get one. Each is recorded in a journal first, and checked before every change: it must
 * be the same thread, the same user's (unless root asks), and have the reservation that was given; otherwise it is not changed.
 * A thread that has become another user's (setuid) is put back.
 * Threads and processes that it starts meanwhile (SCHED_RESET_ON_FORK) begin under SCHED_OTHER, with the nice value 0, the kernel's
 * own slice and the timer slack of the reservation (0 in Linux 6.18), and keep these: a positive nice value, SCHED_BATCH or SCHED_IDLE,
 * which the thread had before, are lost to them, too. A thread with a reservation could not start any otherwise.
 * SCHED_FLAG_DL_OVERRUN is never set: the kernel would send the program a signal that ends it. Not thread-safe.
 *
 *     struct reservation reservation;
 *     enum reservation_answer answer = reservation_give(&reservation, &journal, process, thread, &wanted);
 *     if (answer == RESERVATION_DONE) {
 *         answer = reservation_adapt(&reservation, &journal, &other);
 *         ...
 *         reservation_take_back(&reservation, &journal);
 *     } else {
 *         puts(reservation_reason(answer, &reservation, text));
 *     }
 */
#ifndef SCHED_RESERVATION_H
#define SCHED_RESERVATION_H

#include "undo_journal.h"

#include <stdbool.h>
#include <stdint.h>

/* What a thread is to have: budget_ns in each period_ns, and with `reclaims` what nobody has reserved besides (thread_policy.h). */
struct reserve {
    int64_t budget_ns;
    int64_t period_ns;
    bool reclaims;
};

struct reservation {
    struct undo_entry entry;
    struct reserve given;  /* in force; budget_ns 0: nothing */
    struct reserve wanted; /* what was asked for last */
    int error; /* of RESERVATION_FAILED, a negative errno */
};

enum reservation_answer {
    RESERVATION_DONE,
    RESERVATION_GONE,      /* the thread has ended */
    RESERVATION_FULL,      /* too much is reserved; less may be admitted, or the same later */
    RESERVATION_NO_RIGHT,  /* CAP_SYS_NICE is missing */
    RESERVATION_FOREIGN,   /* another user's program */
    RESERVATION_TAKEN,     /* the thread has a real-time policy of its own, or somebody else's reservation */
    RESERVATION_CHANGED,   /* somebody has changed it since it was given; it is theirs now */
    RESERVATION_PINNED,    /* the thread may not run on all CPUs of its root domain */
    RESERVATION_NO_DOMAIN, /* the kernel refuses it for the place where the thread runs */
    RESERVATION_PERIOD,    /* the kernel does not allow such a period or budget */
    RESERVATION_FAILED,    /* anything else: reservation->error */
};

/*
 * Gives a reservation. After success the caller must take it back; after any other answer there
 * is nothing to take back, and *reservation only serves reservation_reason.
 */
enum reservation_answer reservation_give(struct reservation *reservation, struct undo_journal *journal, pid_t process,
                                         pid_t thread, const struct reserve *wanted);

/*
 * Changes it. After RESERVATION_GONE, RESERVATION_CHANGED and RESERVATION_FOREIGN (the thread has executed a setuid program) it
 * is no longer held, after RESERVATION_FOREIGN because it was taken back; after other answers than RESERVATION_DONE the old one
 * stays in force.
 */
enum reservation_answer reservation_adapt(struct reservation *reservation, struct undo_journal *journal,
                                          const struct reserve *wanted);

/* Puts the thread back as it was, if it still has the reservation. The reservation may be none. */
void reservation_take_back(struct reservation *reservation, struct undo_journal *journal);

/* True if a reservation was given and is not taken back. */
bool reservation_is_held(const struct reservation *reservation);

/*
 * Returns what 0 or the negative errno of sched_setattr(2) means for the thread in reservation->entry.thread, and keeps it for
 * reservation_reason.
 */
enum reservation_answer reservation_answer_to(int error, struct reservation *reservation);

enum { RESERVATION_REASON_SIZE = 480 };

/*
 * Writes one sentence about an answer and returns it. The sentence has a command that would help, or says that it cannot be
 * changed here.
 */
const char *reservation_reason(enum reservation_answer answer, const struct reservation *reservation,
                               char text[RESERVATION_REASON_SIZE]);

#endif
