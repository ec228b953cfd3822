/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streams on which the gates are tried: the clips of media/gate_clips.toml, and what is made of them. */
#ifndef GATE_CLIPS_H
#define GATE_CLIPS_H

#include "gate_storm.h"

struct gate_clip {
    const char *codec;   /* as the report names it */
    const char *name;    /* of the clip */
    const char *joined;  /* another clip behind it, with another size; or NULL */
    int (*change)(struct coded_stream *made, const struct coded_stream *stream); /* see made_streams.h; or NULL */
    const char *changed; /* what that is called */
    bool damaged;        /* some packets have wrong bytes */
    bool seek;           /* a part of it is left out */
    bool plain;          /* it has no droppable picture */
    enum comparison comparison;
};

extern const struct gate_clip gate_clips[];
extern const int gate_clip_count;

/*
 * Loads the clip, and makes it first if needed. Returns 1; 0 if it cannot be made on this machine; -1 after printing one
 * sentence. After 1, stream_finish() frees the stream.
 */
int gate_clip_load(const struct gate_clip *clip, struct coded_stream *stream);

/* Returns false if no clip can be made on this machine. */
bool gate_clips_can_be_made(void);

/* Where a clip is continued after a gap: behind a sixth of it, at the first key picture after half of it. Zero: nowhere. */
struct pass_seek gate_clip_seek(const struct gate_clip *clip, const struct coded_stream *stream);

/* Writes a name like "h264_cabac + h264_mbaff, damaged". Returns buffer. */
const char *gate_clip_describe(const struct gate_clip *clip, char *buffer, size_t size);

enum { GATE_MODES_MAX = 8 };

/* Writes the modes that the decoder of the stream knows, with this number of threads. Returns how many. */
int gate_modes(const struct coded_stream *stream, int threads, struct decode_mode modes[GATE_MODES_MAX]);

#endif
