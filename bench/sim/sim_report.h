/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What dlex-bench-sim prints: JSON. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "sim_run.h"

#include <jansson.h>

/* Return new references, or NULL: out of memory. */
json_t *sim_report_begin(const struct sim_options *options, const struct sim_film *film);
json_t *sim_report_run(const struct sim_figures *figures);

#endif
