/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the video and the sound of a file that has several. Pure; it reads what the container and FFmpeg's first look
 * into the file say about the streams.
 *
 * Authors put the main track first and flag it as the default one. Bit rates do not decide: a director's comment or a second
 * language may have the higher one. The first of these properties in which two streams differ decides between them:
 *
 *   1. It belongs to the program of the stream `beside` which it is played (broadcasts carry several programs). A stream
 *      that is in no program comes before one of another program.
 *   2. This build can decode it.
 *   3. The container flags it as a default track.
 *   4. It is meant for everybody: no comment, no descriptions for people who cannot see or hear well, no stream that only completes
 *      another one, no still pictures.
 *   5. FFmpeg has found its format and a time stamp. Broadcasts announce streams that are never sent.
 *   6. The container names it first.
 */
#ifndef PLAYER_STREAM_CHOICE_H
#define PLAYER_STREAM_CHOICE_H

#include <libavformat/avformat.h>

/*
 * Returns a stream of this type (video or audio) of the file, or NULL if it has none. The cover of an album is not a video.
 * beside: the stream with which it is played, or NULL. A stream that this build cannot decode is returned if there
 * is no better one, so that the caller can report its codec.
 */
AVStream *stream_choose(const AVFormatContext *format, enum AVMediaType type, const AVStream *beside);

#endif
