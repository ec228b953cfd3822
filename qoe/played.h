/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the pictures that a run decoded, where they may differ from the ideal ones: it decodes the media as the run did, without
 * the loop filters that the run left out. Droppable pictures that the run gave up make no difference.
 *
 * A picture of two fields whose packets are two has one row. If the run degraded one of them, both are degraded here.
 */
#ifndef QOE_PLAYED_H
#define QOE_PLAYED_H

#include "frame_record.h"
#include "recorded_run.h"

#include <libavutil/frame.h>
#include <stdbool.h>
#include <stddef.h>

struct played;

/* Returns true for a picture that may differ from the ideal one: enum degraded in frame_record.h. */
bool was_degraded(const struct frame_record *row);

/*
 * path: the file that was played. The run must exist as long as *out. *out stays NULL if no picture of the run was degraded.
 * Returns as ideal_open. played_close accepts an empty pointer and clears it.
 */
int played_open(struct played **out, const char *path, const struct recorded_run *run, char *why, size_t why_size);
void played_close(struct played **played);

/* Finds the picture of a row of the run. Cheap in the order of the rows. The result is as that of ideal_find. */
int played_find(struct played *played, const struct frame_record *row, const AVFrame **out);

#endif
