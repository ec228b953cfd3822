/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "status.h"

#include "ns.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { S_PER_HOUR = 3600, S_PER_MINUTE = 60 };

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text->at, text->left, format, args);
    va_end(args);
    if (length < 0)
        return;
    const size_t step = (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += step;
    text->left -= step;
}

static void append_time(struct text *text, int64_t ns)
{
    const int64_t s = ns > 0 ? ns / NS_PER_S : 0;
    append(text, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, s / S_PER_HOUR, s / S_PER_MINUTE % S_PER_MINUTE,
           s % S_PER_MINUTE);
}

const char *status_format(const struct status *status, char *string, size_t size)
{
    struct text text = {string, size};
    append(&text, "%s%s%s: ", status->paused ? "(Paused) " : "", status->has_audio ? "A" : "",
           status->has_video ? "V" : "");
    append_time(&text, status->position_ns);
    if (status->duration_ns > 0) {
        append(&text, " / ");
        append_time(&text, status->duration_ns);
        append(&text, " (%" PRId64 "%%)", status->position_ns * 100 / status->duration_ns);
    }
    if (!status->has_video)
        return string;
    if (status->skew_ns != FIELD_EMPTY)
        append(&text, " A-V: %.3f", ns_to_s(status->skew_ns));
    append(&text, " Dropped: %" PRId64 " aborted / %" PRId64 " late / %" PRId64 " skipped", status->totals.aborted,
           status->totals.late, status->totals.skipped);
    return string;
}
