/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PTS and MD5 of shown pictures, one line each, in the framemd5 format of the ffmpeg program:
 *
 *   stream, dts, pts, duration, size, hash
 *
 * The PTS is in the stream's own time base. The hash is over the picture's planes without padding.
 */
#ifndef PLAYER_FRAMEMD5_H
#define PLAYER_FRAMEMD5_H

#include <libavformat/avformat.h>
#include <libavutil/frame.h>

struct framemd5;

/* Writes to a temporary file beside path; framemd5_close renames it. Returns 0 or a negative errno. */
int framemd5_create(struct framemd5 **out, const char *path);

/* Call when a new clip begins: its time base and size go into the header. */
void framemd5_begin(struct framemd5 *md5, const AVStream *stream);

/*
 * Adds a picture. Call it on the main thread, outside the decode block, because it allocates and writes. pts_ns is its
 * time in film time. Errors are kept for framemd5_close.
 */
void framemd5_add(struct framemd5 *md5, const AVFrame *picture, int64_t pts_ns);

/*
 * Finishes the file. Accepts an empty pointer and clears it. Returns 0, or a negative errno with no half-written file.
 */
int framemd5_close(struct framemd5 **md5);

#endif
