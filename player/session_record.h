/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the record of a session. Main thread. */
#ifndef PLAYER_SESSION_RECORD_H
#define PLAYER_SESSION_RECORD_H

#include "session.h"

/*
 * Call when playing has ended: writes the record if one is wanted. The main thread first leaves the policy and CPU of
 * --sched and --cpu, because the file is read once more for its checksum. Returns 0, or a negative code after logging
 * why.
 */
int session_write_record(struct session *session, const char *ended);

#endif
