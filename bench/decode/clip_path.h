/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a made clip lies. */
#ifndef CLIP_PATH_H
#define CLIP_PATH_H

#include <stddef.h>

/*
 * Writes the path of the clip to path, having it made when it is not there yet, by media/make of
 * the source tree that this was built from. Returns 0; 1 when this machine lacks what the clip is
 * made from; -1 when making failed.
 */
int clip_path(char *path, size_t size, const char *name);

#endif
