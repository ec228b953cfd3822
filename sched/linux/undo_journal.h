/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records which threads have got a reservation, so that it can be taken back even if the program that gave it is killed. Members of
 * dlex-sched-dwcs are in journals of another kind.
 *
 * Each change is recorded before it is made. A journal is a file of its own for each program that gives reservations, in a
 * folder of the user's (root: /run/dlex-sched, others: /run/user/UID/dlex-sched or /dev/shm/dlex-sched-UID), readable for the
 * user alone. The program and its guard (undo_guard.h) share a lock on the file. If a journal can be locked, both have been
 * killed, and undo_journals_repair undoes it. The folder does not survive a restart of the machine, and neither do
 * reservations.
 *
 * Nothing in a journal is trusted: a forged one can only put threads of the same user that have a reservation back under an
 * ordinary policy, with the nice value that they have, and give threads another timer slack. One user per journal; not thread-safe.
 *
 *     struct undo_journal journal;
 *     if (undo_journal_create(&journal) == 0) {
 *         ... undo_journal_note(&journal, &entry, &wanted), then the change, then undo_entry_changed(&entry) ...
 *         ... undo_restore(&entry), then undo_journal_done(&journal, &entry) ...
 *         undo_journal_undo(&journal);
 *         undo_journal_remove(&journal);
 *     }
 */
#ifndef SCHED_UNDO_JOURNAL_H
#define SCHED_UNDO_JOURNAL_H

#include "thread_policy.h"
#include "thread_ref.h"

enum { UNDO_PATH_SIZE = 128 };

/* Reservations of dlex-sched tune, or members of dlex-sched-dwcs, which have lines of their own (dwcs/member_journal.h). */
enum undo_kind { UNDO_RESERVATIONS, UNDO_MEMBERS };

struct undo_journal {
    int fd; /* open and locked; 0: closed */
    char path[UNDO_PATH_SIZE];
};

/* A reservation: budget_ns in each period_ns; zero: none. */
struct undo_given {
    int64_t budget_ns;
    int64_t period_ns;
};

/*
 * A thread, what it had before its reservation, and the reservation. While that is being changed, the thread has one of two: the one
 * in force until then or the new one.
 */
struct undo_entry {
    struct thread_ref thread;
    struct thread_ordinary before;
    int64_t timer_slack_ns; /* 0: not known */
    struct undo_given given[2];
    int in_force;           /* of `given` */
    off_t place;            /* of `given` in the journal; 0: it is not there yet */
};

/*
 * Creates a journal and locks it. Returns 0 or a negative errno with nothing to remove: -EACCES or -EPERM (no folder can be
 * written, or somebody else can write into it), -ENOSPC.
 */
int undo_journal_create(struct undo_journal *journal);

/* The same for another kind. */
int undo_journal_create_of(struct undo_journal *journal, enum undo_kind kind);

/* Appends a line, which begins and ends with a line break. Returns 0 or a negative errno; then the change must not be made. */
int undo_journal_append(const struct undo_journal *journal, const char *line);

/* Returns what was written so far, as text, which the caller frees; NULL with errno. */
char *undo_journal_text(const struct undo_journal *journal);

/*
 * Records that an entry's thread is about to get this reservation, in place of the one in force. Returns 0 or a negative errno;
 * then the change must not be made. After the change the caller must call undo_entry_changed.
 */
int undo_journal_note(struct undo_journal *journal, struct undo_entry *entry, const struct undo_given *wanted);

/* The thread has got what was noted last: this is in force now. */
void undo_entry_changed(struct undo_entry *entry);

/* Records that an entry's thread does not have it any more. It is harmless if this is lost. */
void undo_journal_done(struct undo_journal *journal, const struct undo_entry *entry);

/*
 * Puts an entry's thread back, if it still has what was given: if somebody has set another policy or reservation meanwhile, that
 * stays. A thread that has an ordinary policy again gets its timer slack back. If the thread has ended and its process runs another
 * program, puts that back: it may be this thread that has called exec. The caller has given the reservation itself, so it is taken
 * back also from a program of another user's (setuid). Returns 1 if it was put back, 0 if there was nothing to do or the thread has
 * ended, or a negative errno.
 */
int undo_restore(const struct undo_entry *entry);

/*
 * Puts all threads back that the journal has not recorded as done. Returns their number, or the negative errno of the last
 * failure: -EPERM if a thread runs a program of another user's by now (setuid).
 */
int undo_journal_undo(struct undo_journal *journal);

/* Removes the file and closes it. The journal may be closed already. */
void undo_journal_remove(struct undo_journal *journal);

/*
 * Undoes and removes all journals of this user that killed programs have left. Returns the number of threads that were put
 * back, or the negative errno of the last failure; a journal that could not be undone stays. *journals becomes the number of
 * journals found.
 */
int undo_journals_repair(int *journals);

/* The same for another kind, each of whose journals this function undoes. It returns what undo_journal_undo returns. */
int undo_journals_repair_of(enum undo_kind kind, int (*undo)(struct undo_journal *journal), int *journals);

/* Returns how many journals of this user killed programs have left, of all kinds. */
int undo_journals_left(void);

#endif
