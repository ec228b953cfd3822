/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds what cannot be true in a run record. dlex-play and dlex-bench-observe count the totals of run.json from the very rows
 * that they write, also when a run is interrupted, so a difference means that one of the two files was changed or cut.
 *
 * Rows with the verdict none are in no total: where such rows are missing at the end, nothing is found.
 */
#ifndef QOE_RECORD_FAULTS_H
#define QOE_RECORD_FAULTS_H

#include "frame_record.h"

#include <jansson.h>
#include <stddef.h>

/* Returns NULL if the row may stand at this place (0: the first one), otherwise what is wrong ("degraded is not 0, 1 or 2"). */
const char *record_row_fault(const struct frame_record *row, int64_t place);

/*
 * Compares the rows with "totals" of run.json. Returns 0, or -EINVAL with what is wrong in why ("the number of pictures
 * that were shown is 60 in run.json, but 19 in frames.csv").
 */
int record_totals_fault(const json_t *totals, const struct frame_record *rows, int64_t count, char *why, size_t why_size);

#endif
