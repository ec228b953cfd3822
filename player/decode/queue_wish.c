/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "queue_wish.h"

#include "ns.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t mib = INT64_C(1) << 20;
static const int64_t auto_span_ns = 2 * NS_PER_S;
static const int64_t pictures_max = 10000;

static const struct unit {
    const char *name;
    enum queue_kind kind;
    int64_t value;
} units[] = {
    {"", QUEUE_PICTURES, 1},
    {"ms", QUEUE_SPAN, NS_PER_MS},
    {"s", QUEUE_SPAN, NS_PER_S},
    {"KiB", QUEUE_BYTES, INT64_C(1) << 10},
    {"MiB", QUEUE_BYTES, INT64_C(1) << 20},
    {"GiB", QUEUE_BYTES, INT64_C(1) << 30},
};

static int parse_amount(struct queue_wish *wish, double number, const char *unit)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name))
            continue;
        const double value = number * (double)units[i].value;
        const double most = units[i].kind == QUEUE_PICTURES ? (double)pictures_max : (double)(INT64_MAX / 4);
        if (!(value >= 1 && value <= most) || (units[i].kind == QUEUE_PICTURES && value != floor(value)))
            return -EINVAL;
        *wish = (struct queue_wish){units[i].kind, (int64_t)value};
        return 0;
    }
    return -EINVAL;
}

int queue_wish_parse(struct queue_wish *wish, const char *text)
{
    if (!strcmp(text, "0") || !strcmp(text, "auto")) {
        *wish = (struct queue_wish){.kind = text[0] == '0' ? QUEUE_NONE : QUEUE_AUTO};
        return 0;
    }
    char *unit;
    const double number = strtod(text, &unit);
    if (!isdigit((unsigned char)*text) || unit != text + strspn(text, "0123456789.")) /* strtod takes 0x10 and 1e3 too */
        return -EINVAL;
    return parse_amount(wish, number, unit);
}

const char *queue_wish_text(const struct queue_wish *wish, char text[QUEUE_WISH_TEXT_SIZE])
{
    switch (wish->kind) {
    case QUEUE_NONE: return strcpy(text, "0");
    case QUEUE_AUTO: return strcpy(text, "auto");
    case QUEUE_PICTURES: snprintf(text, QUEUE_WISH_TEXT_SIZE, "%" PRId64, wish->value); break;
    case QUEUE_SPAN: snprintf(text, QUEUE_WISH_TEXT_SIZE, "%.9gms", ns_to_ms(wish->value)); break;
    case QUEUE_BYTES: snprintf(text, QUEUE_WISH_TEXT_SIZE, "%.9gKiB", (double)wish->value / 1024); break;
    }
    return text;
}

static struct queue_limit auto_limit(int64_t available_bytes)
{
    const int64_t share = available_bytes / 8;
    return (struct queue_limit){
        .pictures = INT64_MAX,
        .bytes = share < 256 * mib ? share : 256 * mib,
        .span_ns = auto_span_ns,
    };
}

struct queue_limit queue_limit_of(const struct queue_wish *wish, int64_t available_bytes)
{
    struct queue_limit limit = {INT64_MAX, INT64_MAX, INT64_MAX};
    switch (wish->kind) {
    case QUEUE_NONE: break;
    case QUEUE_PICTURES: limit.pictures = wish->value; break;
    case QUEUE_SPAN: limit.span_ns = wish->value; break;
    case QUEUE_BYTES: limit.bytes = wish->value; break;
    case QUEUE_AUTO: return auto_limit(available_bytes);
    }
    return limit;
}

static int64_t less(int64_t limit, int64_t part)
{
    if (limit == INT64_MAX)
        return limit;
    return limit > part ? limit - part : 0;
}

struct queue_limit queue_limit_less(const struct queue_limit *limit, int pictures, const struct picture_size *of_each)
{
    return (struct queue_limit){
        .pictures = less(limit->pictures, pictures),
        .bytes = less(limit->bytes, pictures * of_each->bytes),
        .span_ns = less(limit->span_ns, pictures * of_each->duration_ns),
    };
}

static int64_t fitting(int64_t limit, int64_t each, int64_t most)
{
    return each > 0 && limit / each < most ? limit / each : most;
}

int64_t queue_limit_pictures(const struct queue_limit *limit, const struct picture_size *of_each)
{
    return fitting(limit->span_ns, of_each->duration_ns, fitting(limit->bytes, of_each->bytes, limit->pictures));
}
