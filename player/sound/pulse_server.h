/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to a PulseAudio server, with libpulse's own thread. Only audio_pulse.c uses it; this
 * file has the part that is not about sound.
 *
 * `loop` is also the lock: it guards the pa_ objects, and is held whenever libpulse calls back.
 */
#ifndef PLAYER_PULSE_SERVER_H
#define PLAYER_PULSE_SERVER_H

#include <pulse/pulseaudio.h>
#include <stdbool.h>
#include <stdint.h>

struct pulse_server {
    const char *name; /* this program's name, as users of the server see it; constant */
    pa_threaded_mainloop *loop;
    pa_context *context;
    pa_time_event *limit;
    bool limit_passed;
    void (*lost)(void *opaque); /* called under the lock, perhaps more than once */
    void *opaque;
};

/*
 * Starts the thread, with all signals blocked in it, and connects. Never starts a server. The
 * caller must call pulse_server_close after success and after failure. On success (0) the lock is
 * held and the time limit still runs, so that the caller can open a stream; end both with
 * pulse_server_settle. On failure (a negative number) the lock is not held.
 */
int pulse_server_open(struct pulse_server *server, const char *name, void (*lost)(void *opaque), void *opaque);

/* Under the lock: waits for a change. Returns false when further waiting is useless. */
bool pulse_server_wait(struct pulse_server *server);

/* Ends the time limit and releases the lock. */
void pulse_server_settle(struct pulse_server *server);

/* Returns why the connection failed or ended. */
const char *pulse_server_cause(const struct pulse_server *server);

/* Closes the connection. Accepts a zeroed struct. The caller has released its streams. */
void pulse_server_close(struct pulse_server *server);

/* Under the lock. Wakes every thread that waits on it, so that the thread checks again. */
void pulse_server_wake(struct pulse_server *server);

/*
 * Returns when the report was taken, on CLOCK_MONOTONIC. The report has wall clock time, so only its age is used. A report that seems to be
 * older than 2 s was not delayed by scheduling alone (there was a suspend, or a step of the wall clock), and counts as new.
 */
int64_t pulse_server_report_ns(const pa_timing_info *timing);

/* Under the lock. Lets an operation (NULL: it could not be started) finish by itself. */
void pulse_server_forget(pa_operation *operation);

#endif
