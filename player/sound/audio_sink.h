/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where sound goes, and the clock that comes back from it.
 *
 * Sound is pushed: the sound thread writes samples with their PTS. The sink holds about a second
 * of samples and plays them by itself, so no thread of this process has to run for the sound to go
 * on. The main thread asks which PTS leaves the speaker now: the master clock of the player.
 *
 * Kinds:
 *   "pulse"    PulseAudio, or PipeWire's stand-in for it. The buffer is held by the server.
 *   "null"     an ideal sound card on CLOCK_MONOTONIC: starts with the first data, no latency, no
 *              drift, exact position.
 *
 * Threads: one sound thread calls audio_sink_write; one main thread calls everything else. They may
 * overlap freely, except for create and destroy: join the sound thread (after audio_sink_interrupt)
 * before audio_sink_destroy.
 *
 *   audio_sink_create(&sink, "pulse", &format, why, sizeof why);
 *   audio_sink_pause(sink, true);                  // fill before the first picture is ready
 *   ...start the sound thread; it calls audio_sink_write until the end of the file...
 *   audio_sink_pause(sink, false);
 *   while (playing)
 *       if (audio_sink_heard(sink, &pts_ns) == 0) ...
 *   // A seek: the sound thread must not put an old packet in behind the flush, so stop it first.
 *   audio_sink_interrupt(sink, true);  ...the sound thread comes back and is parked...
 *   audio_sink_flush(sink);
 *   audio_sink_interrupt(sink, false); ...the sound thread goes on with packets from the new place...
 */
#ifndef PLAYER_AUDIO_SINK_H
#define PLAYER_AUDIO_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For audio_sink_write: this block follows on from the last one. */
#define AUDIO_PTS_UNKNOWN INT64_MIN

/* Samples are interleaved float32, native endian. 1 or 2 channels; the caller mixes down. */
struct audio_format {
    int rate;
    int channels;
};

struct audio_sink;

/*
 * Opens a sink of that kind. It is empty and not paused. Main thread. May block: "pulse" for at
 * most three seconds if the server accepts but does not answer, otherwise for milliseconds. It
 * never starts a server.
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
 * Drops what is buffered and closes the device. Accepts NULL and an empty *sink; clears *sink. Main
 * thread.
 */
void audio_sink_destroy(struct audio_sink **sink);

/*
 * Sound thread. Appends `frames` samples per channel. pts_ns is the PTS of the first sample, or
 * AUDIO_PTS_UNKNOWN. Blocks while about one second is buffered, and if the sink is paused then, as
 * long as the pause lasts. The samples are copied.
 *
 * A block whose time stamp is within 5 ms of the end of the sound before it counts as following on
 * from it (containers round time stamps to milliseconds). Beyond 5 ms, the clock follows the file.
 *
 *   -ECANCELED   audio_sink_interrupt is on; a part of the block may have been taken. The caller
 *                flushes, or carries on with the next block
 *   -EPIPE       the device is gone, for good; audio_sink_error says why
 */
int audio_sink_write(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns);

/*
 * Main. Sets *pts_ns to the PTS of the sample that leaves the speaker now, latency included. Takes
 * no lock that is held for longer than some hundred instructions, and makes no round trip to a
 * server.
 *
 * Between two flushes the PTS does not go backwards, with one exception: the clock follows time
 * stamps of the file that go back by over a second. While the sink is paused the PTS stands. At the
 * end of the data it stops right after the last sample; after an underrun it goes on with the new
 * data.
 *
 *   -EAGAIN      nothing has been heard since create or flush (*pts_ns is untouched). "pulse" may
 *                return this for a while after the sound was started: a server's null sink that was
 *                idle has mixed up to 2 s of silence, and plays that first
 *   -EPIPE       the device is gone for good; audio_sink_error says why. A server that hangs is
 *                given up after 4 to 8 s; until then the clock stands at the end of what it holds
 */
int audio_sink_heard(struct audio_sink *sink, int64_t *pts_ns);

/*
 * Main. While nothing has been heard, and the device has reported when the first sample will be: sets *pts_ns to the PTS that
 * would be heard now if the sound had begun earlier, and returns 0. Otherwise returns -EAGAIN.
 */
int audio_sink_begins(struct audio_sink *sink, int64_t *pts_ns);

/*
 * Main. True while there is something to be heard and the device has not reported that it plays it: after the start, a flush or a pause,
 * and when sound comes after an underrun. The PTS stands meanwhile.
 */
bool audio_sink_answers_late(struct audio_sink *sink);

/*
 * Main. Stops and restarts the sound; data may be written meanwhile. Returns at once. Repeating it
 * is harmless.
 */
void audio_sink_pause(struct audio_sink *sink, bool paused);

/* Main. Drops everything that was written and not yet heard. Pause is kept. Returns at once. */
void audio_sink_flush(struct audio_sink *sink);

/* Main. While on, audio_sink_write returns -ECANCELED; so does a call that is already blocked. */
void audio_sink_interrupt(struct audio_sink *sink, bool on);

/*
 * Main. Treats the device as gone for good, for this cause (a phrase without full stop). A blocked audio_sink_write returns. Later calls
 * behave as after an -EPIPE; a device that was gone already keeps its cause.
 */
void audio_sink_give_up(struct audio_sink *sink, const char *cause);

/*
 * Main. True when everything that was written has been heard, or when the device is gone and it
 * never will be.
 */
bool audio_sink_drained(struct audio_sink *sink);

/* Main. Returns how much sound was written and not heard yet; 0 when the device is gone. */
int64_t audio_sink_buffered_ns(struct audio_sink *sink);

/*
 * Main. Returns NULL while the device works; after an -EPIPE, the cause as a phrase without full
 * stop. The sink owns the text.
 */
const char *audio_sink_error(struct audio_sink *sink);

/* Any thread. Returns the kind that the sink was created as. */
const char *audio_sink_kind(const struct audio_sink *sink);

#endif
