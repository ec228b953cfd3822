/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "status.h"

#include "ns.h"

#include <inttypes.h>
#include <libavutil/mathematics.h>
#include <stdarg.h>
#include <stdio.h>

enum { S_PER_HOUR = 3600, S_PER_MINUTE = 60, MS_PER_S = 1000 };

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

/* What a line says besides the position. A pause is always said. */
struct form {
    bool streams; /* "AV: " */
    bool duration;
    bool percent;
    bool skew;
    bool reasons; /* how many pictures were dropped for each reason; otherwise their sum, if `dropped` is set */
    bool dropped;
};

/* From the widest to the narrowest. status.h gives the order in which parts are left out. */
static const struct form forms[] = {
    {.streams = true, .duration = true, .percent = true, .skew = true, .reasons = true},
    {.streams = true, .duration = true, .skew = true, .reasons = true},
    {.streams = true, .duration = true, .percent = true, .skew = true, .dropped = true},
    {.streams = true, .duration = true, .skew = true, .dropped = true},
    {.streams = true, .skew = true, .dropped = true},
    {.streams = true, .dropped = true},
    {.streams = true},
    {0},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Rounded before the sign is chosen: printf would make -0.000 of a skew of -0.4 ms. */
static void append_skew(struct text *text, int64_t ns)
{
    const int64_t rest_ns = ns % NS_PER_MS, half_ns = NS_PER_MS / 2;
    const int64_t ms = ns / NS_PER_MS + (rest_ns >= half_ns) - (rest_ns <= -half_ns);
    append(text, " A-V: %s%" PRId64 ".%03" PRId64, ms < 0 ? "-" : "", imaxabs(ms) / MS_PER_S, imaxabs(ms) % MS_PER_S);
}

static void append_times(struct text *text, const struct status *status, const struct form *form)
{
    append_time(text, status->position_ns);
    if (status->duration_ns <= 0)
        return;
    if (form->duration) {
        append(text, " / ");
        append_time(text, status->duration_ns);
    }
    if (form->percent)
        append(text, " (%d%%)", (int)av_rescale_rnd(status->position_ns, 100, status->duration_ns, AV_ROUND_DOWN));
}

static void append_pictures(struct text *text, const struct status *status, const struct form *form)
{
    const struct totals *const totals = &status->totals;
    if (form->skew && status->skew_ns != FIELD_EMPTY)
        append_skew(text, status->skew_ns);
    if (form->reasons)
        append(text, " Dropped: %" PRId64 " aborted / %" PRId64 " late / %" PRId64 " skipped", totals->aborted,
               totals->late, totals->skipped);
    else if (form->dropped)
        append(text, " Dropped: %" PRId64, totals->aborted + totals->late + totals->skipped);
}

/* Writes the line in this form, and returns its length. */
static size_t write_form(const struct status *status, const struct form *form, char *string, size_t size)
{
    struct text text = {string, size};
    *string = '\0';
    if (status->paused)
        append(&text, "(Paused) ");
    if (form->streams)
        append(&text, "%s%s: ", status->has_audio ? "A" : "", status->has_video ? "V" : "");
    append_times(&text, status, form);
    if (status->has_video)
        append_pictures(&text, status, form);
    return (size_t)(text.at - string);
}

const char *status_format(const struct status *status, int columns, char *string, size_t size)
{
    const size_t room = columns > 1 ? (size_t)columns : 1;
    const size_t limit = size < room ? size : room; /* with the terminator, which takes the place of the last column */
    char line[STATUS_SIZE];
    for (size_t i = 0; i < FORMS; i++)
        if (write_form(status, &forms[i], line, sizeof line) < limit)
            break;
    snprintf(string, limit, "%s", line);
    return string;
}
