/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sound of a clip: its decoder, the conversion to what the sink plays, and the sink.
 *
 * The feeder thread feeds; everything else is the main thread's.
 */
#ifndef PLAYER_AUDIO_TRACK_H
#define PLAYER_AUDIO_TRACK_H

#include "audio_sink.h"
#include "clip.h"

#include <stdbool.h>

struct audio_track;

/*
 * Opens the decoder of clip->audio and a sink of that kind ("auto": pulse, else null with a note). The sink starts
 * paused. Returns 0, or a negative code with the reason in why. destroy accepts an empty pointer and clears it; no feeder
 * may run then.
 */
int audio_track_create(struct audio_track **out, const struct clip *clip, const char *sink_kind, char *why,
                       size_t why_size);
void audio_track_destroy(struct audio_track **track);

struct audio_sink *audio_track_sink(struct audio_track *track);

/*
 * While no feeder runs: forget what is in flight. Sound before start_ns is cut; where it begins later or has a hole, of up
 * to ten minutes, there is silence, so that the clock runs through it.
 */
void audio_track_restart(struct audio_track *track, int64_t start_ns);

/*
 * Feeder: decodes a packet (NULL: the end) and writes it to the sink; blocks while the sink is full. Damaged packets are
 * passed over. Returns 0, or a negative code when the sink was interrupted or is gone.
 */
int audio_track_feed(struct audio_track *track, const AVPacket *packet);

/* Feeder: nothing follows, after the last feed or instead of it. */
void audio_track_end(struct audio_track *track);

/*
 * Which PTS is heard now; as audio_sink_heard. Where nothing is left to be heard the clock stands, and the pictures wait
 * for the sound; except that -EAGAIN lets it run on while there was no sound yet, or while `starved`: the feeder cannot
 * bring any, as it waits for pictures to be taken. Sound that comes afterwards begins where the clock is then: clock_ns.
 */
int audio_track_heard(struct audio_track *track, bool starved, int64_t clock_ns, int64_t *pts_ns);

/* True once the last sample has been heard, or when the sink is gone: the sound is no clock any more. */
bool audio_track_is_over(struct audio_track *track);

/* True when the sink is gone, so that the rest of the sound cannot be heard. */
bool audio_track_is_lost(struct audio_track *track);

#endif
