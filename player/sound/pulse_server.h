/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to a PulseAudio server, with libpulse's own thread: the part of audio_pulse.c that
 * is not about sound.
 *
 * `loop` is also the lock: it guards the pa_ objects, and is held whenever libpulse calls back.
 */
#ifndef PLAYER_PULSE_SERVER_H
#define PLAYER_PULSE_SERVER_H

#include <pulse/pulseaudio.h>
#include <stdbool.h>

struct pulse_server {
    const char *name; /* of this program, as the server's users see it; constant */
    pa_threaded_mainloop *loop;
    pa_context *context;
    pa_time_event *limit;
    bool limit_passed;
    void (*lost)(void *opaque); /* called under the lock, perhaps more than once */
    void *opaque;
};

/*
 * Starts the thread, with all signals blocked in it, and connects; never starts a server. After
 * success and after failure alike pulse_server_close must follow. When 0 is returned the lock is
 * held and the limit of time goes on, for the caller to open a stream; end that with
 * pulse_server_settle. When a negative number is returned the lock is not held.
 */
int pulse_server_open(struct pulse_server *server, const char *name, void (*lost)(void *opaque), void *opaque);

/* Under the lock: waits for a change. False when there is no sense in waiting any longer. */
bool pulse_server_wait(struct pulse_server *server);

/* Ends the limit of time and the lock. */
void pulse_server_settle(struct pulse_server *server);

/* Why the connection failed or ended. */
const char *pulse_server_cause(const struct pulse_server *server);

/* Accepts a zeroed one. The caller has released its streams. */
void pulse_server_close(struct pulse_server *server);

/* Under the lock. Ends every wait on it, to look again. */
void pulse_server_wake(struct pulse_server *server);

#endif
