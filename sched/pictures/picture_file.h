/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A film of PNG pictures that grows, as ordinary players read it: Matroska (RFC 9559). Each picture is a cluster of its own, so
 * that a film whose writer was killed is good up to there, and another writer continues it. A picture has the time at which it
 * was added. There is no index, so a player finds a later time by reading up to it.
 */
#ifndef PICTURE_FILE_H
#define PICTURE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Begins as zero. */
struct picture_file {
    FILE *stream;     /* NULL: not open */
    int64_t begun_ms; /* when the film began, since 1970 */
    int64_t last_ms;  /* the time in the film of the last picture; -1: none was added */
};

/*
 * Makes a film, or continues one of pictures of this size that picture_file_open has made. path may be a device or a pipe.
 * Returns 0 or a negative errno; -EEXIST: the file is something else, and stays as it is.
 */
int picture_file_open(struct picture_file *file, const char *path, int width, int height);

/* Adds a picture and hands it to the system, so that a writer that is killed loses at most one. Returns 0 or a negative errno. */
int picture_file_add(struct picture_file *file, const uint8_t *packet, size_t size);

/* Does nothing if it is not open. Returns 0 or a negative errno. */
int picture_file_close(struct picture_file *file);

#endif
