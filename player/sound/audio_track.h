/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sound of a clip: its decoder, the conversion to what the sink plays, and the sink.
 *
 * The sound thread (sound_thread.h) feeds the track; the main thread calls everything else.
 */
#ifndef PLAYER_AUDIO_TRACK_H
#define PLAYER_AUDIO_TRACK_H

#include "audio_sink.h"
#include "clip.h"

#include <stdbool.h>

struct audio_track;

/*
 * Opens the decoder of clip->audio and a sink of that kind ("auto": pulse, otherwise null with a note in the log). The
 * sink starts paused. Returns 0, or a negative code with the reason in why. audio_track_destroy accepts an empty
 * pointer and clears it; call it only while no sound thread runs.
 */
int audio_track_create(struct audio_track **out, const struct clip *clip, const char *sink_kind, char *why,
                       size_t why_size);
void audio_track_destroy(struct audio_track **track);

struct audio_sink *audio_track_sink(struct audio_track *track);

/*
 * While no sound thread runs: drops what is in flight. Sound before start_ns is cut. If the sound begins later or has a gap,
 * of up to ten minutes, silence is written, so that the clock runs through the gap.
 */
void audio_track_restart(struct audio_track *track, int64_t start_ns);

/*
 * Sound thread: decodes a packet (NULL: the end) and writes it to the sink. Blocks while the sink is full. Skips damaged
 * packets. Returns 0, or a negative code when the sink was interrupted or is gone.
 */
int audio_track_feed(struct audio_track *track, const AVPacket *packet);

/* Sound thread: marks the end of the sound. Call it after the last audio_track_feed or instead of it. */
void audio_track_end(struct audio_track *track);

/* What the main thread knows about the feeder and the clock. */
struct audio_surroundings {
    bool starved;     /* the feeder cannot deliver sound, or finds none in the file, see read_ahead_misses */
    bool has_packets; /* there are packets of sound that were not fed yet */
    int64_t clock_ns;
};

/*
 * Sets *pts_ns to the PTS that is heard now, like audio_sink_heard; before the first sample, to an earlier one, once it is known when that
 * sample will be heard. When no sound is left to be heard, the clock stands and the pictures wait for the sound.
 *
 *   -EINPROGRESS there is sound, but the sink does not play it yet, or not again: the clock stands, and *pts_ns says nothing
 *   -EAGAIN      the clock runs on: there was no sound yet, or the feeder is starved. Sound that comes afterwards begins at the clock's time
 *   -EPIPE       the sink is gone
 */
int audio_track_heard(struct audio_track *track, const struct audio_surroundings *around, int64_t *pts_ns);

/* True when so much sound is in the sink, or all that there is, that the sink does not run dry at once when it starts. */
bool audio_track_has_head_start(struct audio_track *track);

/* True once the last sample has been heard, or when the sink is gone: the sound no longer sets the clock. */
bool audio_track_is_over(struct audio_track *track);

/* True when the sink is gone, so that the rest of the sound cannot be heard. */
bool audio_track_is_lost(struct audio_track *track);

#endif
