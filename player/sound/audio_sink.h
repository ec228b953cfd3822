/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where sound goes, and the clock that comes back from it.
 *
 * Sound is pushed: the feeder thread writes samples with their PTS, the sink holds about a second
 * of them and plays them by itself, so nothing in this process has to run for the sound to go on.
 * The main thread asks which PTS leaves the speaker now; that is the master clock of the player.
 *
 * Kinds:
 *   "pulse"    PulseAudio, or PipeWire's stand-in for it. The buffer is held by the server.
 *   "null"     an ideal sound card on CLOCK_MONOTONIC: starts with the first data, no latency, no
 *              drift, exact position.
 *
 * Threads: one feeder calls audio_sink_write; one main thread calls everything else. They may
 * overlap freely, except for create and destroy: join the feeder (after audio_sink_interrupt)
 * before audio_sink_destroy.
 *
 *   audio_sink_create(&sink, "pulse", &format, why, sizeof why);
 *   audio_sink_pause(sink, true);                  // fill before the first picture is ready
 *   ...start the feeder; it calls audio_sink_write until the end of the file...
 *   audio_sink_pause(sink, false);
 *   while (playing)
 *       if (audio_sink_heard(sink, &pts_ns) == 0) ...
 *   // A seek: the feeder must not put an old packet in behind the flush, so stop it first.
 *   audio_sink_interrupt(sink, true);  ...the feeder comes back and is parked...
 *   audio_sink_flush(sink);
 *   audio_sink_interrupt(sink, false); ...the feeder goes on with packets from the new place...
 */
#ifndef PLAYER_AUDIO_SINK_H
#define PLAYER_AUDIO_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "This block follows on from the last one", for audio_sink_write. */
#define AUDIO_PTS_UNKNOWN INT64_MIN

/* Samples are interleaved float32, native endian. 1 or 2 channels; the caller mixes down. */
struct audio_format {
    int rate;
    int channels;
};

struct audio_sink;

/*
 * Opens a sink of that kind, not paused, empty. Main thread. May block: "pulse" for at most
 * three seconds, when the server accepts but does not answer, else milliseconds; it never starts a
 * server.
 *
 * Returns 0 and *out; the caller destroys it. Otherwise *out is NULL and why holds the cause, as a
 * phrase without full stop ("PulseAudio cannot be reached: Connection refused"):
 *   -EINVAL      no such kind, or a format outside 1..2 channels, 1000..384000 Hz
 *   -ENODEV      the server or device is not there, or refused the format
 *   -ENOMEM
 */
int audio_sink_create(struct audio_sink **out, const char *kind, const struct audio_format *format,
                      char *why, size_t why_size);

/*
 * Drops what is buffered, closes the device. Accepts NULL and an empty *sink; clears *sink. Main
 * thread.
 */
void audio_sink_destroy(struct audio_sink **sink);

/*
 * Feeder. Appends `frames` samples per channel; pts_ns is that of the first, or AUDIO_PTS_UNKNOWN.
 * Blocks while about one second is buffered (for as long as the sink is paused, if need be). The
 * samples are copied.
 *
 * Time stamps within 5 ms of the sound written before are taken as following on from it (containers
 * round them to milliseconds); beyond that, the clock follows the file.
 *
 *   -ECANCELED   audio_sink_interrupt is on; a part of the block may have been taken: flush, or
 *                carry on with the next
 *   -EPIPE       the device is gone, for good; audio_sink_error says why
 */
int audio_sink_write(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns);

/*
 * Main. The PTS of the sample that leaves the speaker now, latency included. Takes no lock that is
 * held for longer than some hundred instructions, and makes no round trip to a server.
 *
 * Between two flushes it does not run backwards (only where the file's own time stamps go back by
 * over a second does the clock follow them). While paused it stands. At the end of the data it
 * stops right after the last sample; after an underrun it goes on with the new data.
 *
 *   -EAGAIN      nothing has been heard since create or flush (*pts_ns is untouched). "pulse" may
 *                stay so for a while after the sound was asked to start: a server's null sink that
 *                was idle took up to 1.8 s
 *   -EPIPE       the device is gone, for good; audio_sink_error says why. A server that hangs is
 *                given up after 4 to 8 s; until then the clock stands at the end of what it holds
 */
int audio_sink_heard(struct audio_sink *sink, int64_t *pts_ns);

/*
 * Main. Stops and restarts the sound; data may be written all the while. Returns at once. Asking
 * twice is harmless.
 */
void audio_sink_pause(struct audio_sink *sink, bool paused);

/* Main. Drops everything that was written and not yet heard. Pause is kept. Returns at once. */
void audio_sink_flush(struct audio_sink *sink);

/* Main. While on, audio_sink_write returns -ECANCELED, also the call that is blocked right now. */
void audio_sink_interrupt(struct audio_sink *sink, bool on);

/*
 * Main. True when all that was written has been heard, or never will be because the device is gone.
 */
bool audio_sink_drained(struct audio_sink *sink);

/*
 * Main. NULL while the device works; after an -EPIPE the cause as a phrase without full stop.
 * Belongs to the sink.
 */
const char *audio_sink_error(struct audio_sink *sink);

/* Any thread. The kind it was created as. */
const char *audio_sink_kind(const struct audio_sink *sink);

#endif
