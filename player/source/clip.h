/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A media file that is open for reading, and decoders for its streams.
 *
 * Used by the player's feeder and by dlex-qoe. Not thread-safe except for clip_break_off: one thread reads a clip.
 * Other threads may read its facts (streams, durations) after clip_open, because they do not change.
 */
#ifndef PLAYER_CLIP_H
#define PLAYER_CLIP_H

#include "clip_shape.h"
#include "frame_duration.h"
#include "time_stamps.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/fifo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clip {
    AVFormatContext *format;
    AVStream *video; /* NULL: the file has none (a cover picture does not count) */
    AVStream *audio; /* NULL: the file has none */
    struct clip_shape shape; /* of the video's pictures */
    int x264_build;  /* of the encoder, from the beginning of the video; 0: unknown, or another encoder */

    const volatile sig_atomic_t *stop; /* see clip_open */
    _Atomic bool broken_off;           /* set by clip_break_off; relaxed: it publishes no other data */

    /* Of clip_read. The elements of the queues are AVPacket *. */
    AVFifo *read;      /* packets that were read already */
    AVFifo *waiting;   /* packets whose stamps wait for a judgement, in the order of `stamps` */
    int64_t origin_us; /* FFmpeg's time of film time 0: far from 0 if the stamps count from 1970, or another year */
    struct time_stamps stamps;
    int ended;         /* the error with which reading ended, 0 before */
};

/*
 * Opens the file and chooses its video and its sound (stream_choice.h). A path that exists as a file is opened as a file,
 * even if it looks like a URL ("Alien:Film.ts"). FFmpeg interprets any other path (a URL). Returns 0, or a negative
 * AVERROR with the middle of a sentence in why ("cannot open it: No such file or directory"). clip_close accepts a clip
 * of zeros.
 *
 * Blocks for the disk, or for a pipe's writer, here and in each read. If stop is given, reading breaks off with
 * AVERROR_EXIT once *stop is set, e.g. by a signal handler without SA_RESTART in the thread that reads. The clip must
 * not move in memory while it is open.
 */
int clip_open(struct clip *clip, const char *path, const volatile sig_atomic_t *stop, char *why, size_t why_size);
void clip_close(struct clip *clip);

/*
 * Reads the next packet of the video or the sound, with time stamps in film time: see time_stamps.h. Everything reads the file
 * with this function, so that all agree about the time of a picture. *packet is blank before, and belongs to the caller
 * afterwards. Skips damaged packets. Returns 0; AVERROR_EOF at the end of the file, also if the file is shorter than it should be;
 * AVERROR_EXIT if reading was broken off; or another negative AVERROR: the rest of the file is lost. Packets before a read error come
 * first.
 */
int clip_read(struct clip *clip, AVPacket *packet);

/*
 * Any thread: while on, reads fail with AVERROR_EXIT instead of blocking. A read that is blocked in the kernel must be
 * woken by a signal. Turn it off when no thread reads; the clip may then be read again.
 */
void clip_break_off(struct clip *clip, bool on);

/*
 * Opens a decoder of the stream. It copies opaque values from packets to pictures (AV_CODEC_FLAG_COPY_OPAQUE), and has one
 * thread unless prepare asks for more. prepare, if given, is called with `opaque` before the decoder is opened, e.g. to set
 * its gate. The caller frees *out with avcodec_free_context. Errors are as for clip_open.
 */
int clip_open_decoder(AVCodecContext **out, const AVStream *stream, void (*prepare)(AVCodecContext *, void *),
                      void *opaque, char *why, size_t why_size);

/*
 * For `prepare`: says which build of x264 encoded the video (struct clip), because builds before 151 made mistakes in 4:4:4 that
 * decoders repeat. The stream names the build at its beginning only, and decoding may begin elsewhere.
 */
void clip_assume_x264(AVCodecContext *avctx, int build);

/*
 * Returns a time stamp of a packet of clip_read in ns of film time, or AV_NOPTS_VALUE, also if it is further than 36 years from 0.
 * The whole tree uses this one conversion, so that equal time stamps give equal pts_ns.
 */
int64_t clip_pts_ns(const AVStream *stream, int64_t pts);

/*
 * Returns the time from one picture to the next, from the stream's frame rate; 40 ms if the file does not give
 * it.
 */
struct frame_duration clip_frame_duration(const struct clip *clip);

/* Return the earliest film time in ns, and the file's length in ns (0: unknown). */
int64_t clip_start_ns(const struct clip *clip);
int64_t clip_duration_ns(const struct clip *clip);

/*
 * Returns whether the input can seek (a pipe and a bare stream without time stamps cannot). May be called at any time.
 */
bool clip_can_seek(const struct clip *clip);

/*
 * Writes the file's SHA-256 in lower-case hex with a terminator. Returns 0 or a negative errno. Reads the whole file.
 */
int clip_sha256(const char *path, char hex[65]);

#endif
