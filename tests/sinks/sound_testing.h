/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of sound outputs share: silence to play, and waiting until it is heard. What fails
 * here fails the test that called. */
#ifndef SOUND_TESTING_H
#define SOUND_TESTING_H

#include <stdint.h>

#include "audio_sink.h"

#define MS(n) (INT64_C(1000000) * (n))
#define S(n) (INT64_C(1000000000) * (n))

enum { RATE = 48000 };

extern const struct audio_format stereo;
extern const float silence[RATE * 2]; /* a second of it */

void nap(void); /* a millisecond */

/* A sink of this kind for stereo. The caller destroys it. */
struct audio_sink *open_sink(const char *kind);

/* Returns the PTS heard, as soon as there is one. */
int64_t wait_until_heard(struct audio_sink *sink);

/* Waits for the end of what was written, while time must not run backwards. Returns the last PTS
 * heard. */
int64_t play_to_end(struct audio_sink *sink);

/* Body of a thread: a feeder of the sink. Returns NULL, or the error that ended the writing. */
void *write_ten_seconds(void *sink);

#endif
