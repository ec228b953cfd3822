/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rates as people write them: 25, 23.976, or as files have them: 24000/1001. */
#ifndef CLI_RATE_TEXT_H
#define CLI_RATE_TEXT_H

#include <stdbool.h>

/* Parses a rate that is finite and above 0. Returns true with *hz, or false with *hz unchanged. */
bool rate_text_parse(const char *text, double *hz);

#endif
