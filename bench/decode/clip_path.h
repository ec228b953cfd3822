/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the path of a made clip. */
#ifndef CLIP_PATH_H
#define CLIP_PATH_H

#include <stddef.h>

/*
 * Writes the path of the clip to path. A clip that does not exist yet is made first, by media/make
 * of the source tree from which this program was built. Returns 0; 1 when this machine lacks what
 * the clip is made from; -1 when making it failed.
 */
int clip_path(char *path, size_t size, const char *name);

#endif
