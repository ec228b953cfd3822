/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What members had before, as lines of a journal (undo_journal.h, of the kind UNDO_MEMBERS), so that it can be given back even if the
 * dispatcher and its guard are both killed (dwcs_guard_repair).
 */
#ifndef SCHED_MEMBER_JOURNAL_H
#define SCHED_MEMBER_JOURNAL_H

#include "member_before.h"
#include "undo_journal.h"

/*
 * Records what a member had, before anything of it is changed, and where one of its threads might run, before that is changed. The
 * threads are recorded before the next member. Returns 0 or a negative errno; then the change must not be made.
 */
int member_journal_note(const struct undo_journal *journal, const struct member_before *before);
int member_journal_note_thread(const struct undo_journal *journal, const struct thread_before *one);

/*
 * Reads the next member at or after *at, with its threads, and moves *at past it. Returns false at the end. Lines that are not as
 * member_journal_note writes them, or that were written in part, are left out.
 */
bool member_journal_next(const char **at, struct member_before *before);

#endif
