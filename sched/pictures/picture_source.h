/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A camera: the ffmpeg program plays a clip, or a test picture, again and again at its rate, and gives raw pictures. */
#ifndef PICTURE_SOURCE_H
#define PICTURE_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Begins as zero. */
struct picture_source {
    pid_t pid;
    int pipe;
};

/* clip: a file, or NULL. Returns 0 or a negative errno. */
int picture_source_open(struct picture_source *source, const char *clip, int width, int height, double rate);

/* Waits for the next picture: luma, Cb, Cr. Returns 0, or -EPIPE if there is none any more. */
int picture_source_read(struct picture_source *source, uint8_t *picture, size_t size);

/* Ends ffmpeg. Returns its exit code, or -1 if it was ended by a signal, as by this call. */
int picture_source_close(struct picture_source *source);

#endif
