/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A media file that is open for reading, and decoders for its streams.
 *
 * Used by the player's feeder and by dlex-qoe. Not thread-safe but for clip_break_off: one thread reads a clip; the facts
 * (streams, durations) may be read by others after clip_open, as they do not change.
 */
#ifndef PLAYER_CLIP_H
#define PLAYER_CLIP_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clip {
    AVFormatContext *format;
    AVStream *video; /* NULL: the file has none (a cover picture does not count) */
    AVStream *audio; /* NULL: the file has none */

    const volatile sig_atomic_t *stop; /* see clip_open */
    _Atomic bool broken_off;           /* by clip_break_off; relaxed: nothing travels with it */
};

/*
 * Opens the file and picks the best video and the best audio stream. What exists as a file is one, whatever its name looks
 * like ("Alien:Film.ts"); any other path is FFmpeg's to understand (a URL). Returns 0, or a negative AVERROR with a
 * sentence's middle in why ("cannot open it: No such file or directory"). clip_close accepts a clip of zeros.
 *
 * Blocks for the disk, or for a pipe's writer, here and in each read. Where stop is given, reading breaks off with
 * AVERROR_EXIT once *stop is set, e.g. by a signal's handler without SA_RESTART in the thread that reads. The clip must
 * not move while it is open.
 */
int clip_open(struct clip *clip, const char *path, const volatile sig_atomic_t *stop, char *why, size_t why_size);
void clip_close(struct clip *clip);

/*
 * Any thread: while on, reads fail with AVERROR_EXIT instead of blocking. One that is blocked in the kernel must be woken
 * by a signal. Off, once no thread reads: the clip may be read again.
 */
void clip_break_off(struct clip *clip, bool on);

/*
 * A decoder of the stream, with one thread and opaque values copied from packets to pictures (AV_CODEC_FLAG_COPY_OPAQUE).
 * prepare, if given, is called with `opaque` before the decoder is opened, e.g. to set its gate. The caller frees *out
 * with avcodec_free_context. Errors as clip_open.
 */
int clip_open_decoder(AVCodecContext **out, const AVStream *stream, void (*prepare)(AVCodecContext *, void *),
                      void *opaque, char *why, size_t why_size);

/* A time stamp of the stream in ns, or AV_NOPTS_VALUE. The one conversion of the whole tree, so that pts_ns compare equal. */
int64_t clip_pts_ns(const AVStream *stream, int64_t pts);

/* The time from one picture to the next in ns, by the stream's frame rate; 40 ms where the file does not tell. */
int64_t clip_frame_duration_ns(const struct clip *clip);

/* The earliest time in the file in ns, and its length in ns (0: unknown). */
int64_t clip_start_ns(const struct clip *clip);
int64_t clip_duration_ns(const struct clip *clip);

/* Whether the input can go to another place (a pipe and a bare stream without time stamps cannot). Any time. */
bool clip_can_seek(const struct clip *clip);

/* SHA-256 of the file in lower-case hex with its terminator. Returns 0 or a negative errno. Reads the whole file. */
int clip_sha256(const char *path, char hex[65]);

#endif
