/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rate_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns a number that begins with a digit or a point, and sets *end behind it; -1 if there is none. */
static double number_at(const char *text, const char **end)
{
    char *rest = NULL;
    const double number = isdigit((unsigned char)*text) || *text == '.' ? strtod(text, &rest) : -1;
    *end = rest;
    return rest && rest != text && isfinite(number) ? number : -1;
}

bool rate_text_parse(const char *text, double *hz)
{
    const char *end;
    double rate = number_at(text, &end);
    if (rate > 0 && *end == '/') {
        const double divisor = number_at(end + 1, &end);
        rate = divisor > 0 ? rate / divisor : -1;
    }
    if (!(rate > 0 && isfinite(rate)) || *end)
        return false;
    *hz = rate;
    return true;
}
