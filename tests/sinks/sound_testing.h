/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of sound outputs share: silence to play, and functions that wait until it is heard. A failed check here
 * fails the calling test. */
#ifndef SOUND_TESTING_H
#define SOUND_TESTING_H

#include <stdint.h>

#include "audio_sink.h"

#define MS(n) (INT64_C(1000000) * (n))
#define S(n) (INT64_C(1000000000) * (n))

enum { RATE = 48000 };

extern const struct audio_format stereo;
extern const float silence[RATE * 2]; /* a second of silence */

void nap(void); /* sleeps for a millisecond */

/* Returns a stereo sink of this kind. The caller destroys it. */
struct audio_sink *open_sink(const char *kind);

/* Waits until a PTS is heard, and returns it. */
int64_t wait_until_heard(struct audio_sink *sink);

/* Waits until everything written was heard. Checks that time does not run backwards. Returns the last PTS heard. */
int64_t play_to_end(struct audio_sink *sink);

/* The function of a thread that writes to the sink. Returns NULL, or the error that ended the writing. */
void *write_ten_seconds(void *sink);

#endif
