/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the sound starts although no picture was shown. It starts with the first picture otherwise: on a busy machine that picture may
 * take seconds, and sound that began before it would be ahead of all pictures from the beginning. But in a file whose sound is far
 * ahead, no packet of a picture can be read before the sound has played. The functions are pure; times are in ns of one clock, > 0.
 */
#ifndef PLAYER_SOUND_START_H
#define PLAYER_SOUND_START_H

#include <stdbool.h>
#include <stdint.h>

/* A decoder that waits for packets gives out no picture that it has not given out after so long. */
#define SOUND_START_IDLE_NS INT64_C(500000000)

/* A decoder that has packets and gives out no picture is waited for this long: the file may be damaged. */
#define SOUND_START_UNDECODED_NS INT64_C(10000000000)

/* Zeroed at the beginning and at each seek. */
struct sound_start {
    int64_t nothing_since_ns; /* nothing was there to show; 0: the last call noted a picture */
    int64_t idle_since_ns;    /* the decoder waits for packets, and decodes none; 0: otherwise */
};

/* A packet was decoded. */
void sound_start_note_job(struct sound_start *start);

/* A picture came out of the decoder. Returns for how long nothing had been there to show. */
int64_t sound_start_note_picture(struct sound_start *start, int64_t now_ns);

/*
 * Nothing was there to show for a while. decoder_waits: it has no packets, and the file has not ended. Returns whether the sound is to
 * start, or to play on, without a picture.
 */
bool sound_start_without_picture(struct sound_start *start, bool decoder_waits, int64_t now_ns);

#endif
