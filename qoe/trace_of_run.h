/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes a decode trace from the record of a run that dropped nothing, and from the clip that it played. */
#ifndef QOE_TRACE_OF_RUN_H
#define QOE_TRACE_OF_RUN_H

#include "decode_trace.h"
#include "ideal.h"
#include "recorded_run.h"

#include <stddef.h>

/*
 * media_path: the clip that was played, from which the packets are read. ideal: where the pictures come from. Decodes every
 * picture once and compares it with ten others: about 40 s for 812 pictures of 1080 lines. Returns 0, or a negative AVERROR
 * with a whole sentence in why; *trace is then empty. The caller frees the trace with decode_trace_finish.
 */
int trace_of_run(struct decode_trace *trace, const struct recorded_run *run, const char *media_path, struct ideal *ideal,
                 char *why, size_t why_size);

#endif
