/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PTS and MD5 of shown pictures, one line each, as the ffmpeg program's framemd5 format has them:
 *
 *   stream, dts, pts, duration, size, hash
 *
 * The PTS counts the stream's own time base, and the hash is over the picture's planes without padding.
 */
#ifndef PLAYER_FRAMEMD5_H
#define PLAYER_FRAMEMD5_H

#include <libavformat/avformat.h>
#include <libavutil/frame.h>

struct framemd5;

/* Writes to a temporary beside path; framemd5_close renames it. Returns 0 or a negative errno. */
int framemd5_create(struct framemd5 **out, const char *path);

/* A new clip begins: its time base and size go into the header. */
void framemd5_begin(struct framemd5 *md5, const AVStream *stream);

/*
 * Main thread, outside the decode block: allocates and writes. pts_ns stands in where the picture has no PTS of its own.
 * Errors are kept for framemd5_close.
 */
void framemd5_add(struct framemd5 *md5, const AVFrame *picture, int64_t pts_ns);

/* Finishes the file. Accepts an empty pointer, clears it. Returns 0 or a negative errno; nothing stays half-written. */
int framemd5_close(struct framemd5 **md5);

#endif
