/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame_record.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum field_kind { NUMBER, LETTER, VERDICT };

struct field {
    enum field_kind kind;
    const char *name;
    size_t offset;
};

static const struct field fields[] = {
#define DESCRIBE_FIELD(kind, name) {kind, #name, offsetof(struct frame_record, name)},
    FRAME_RECORD_FIELDS(DESCRIBE_FIELD)
#undef DESCRIBE_FIELD
};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0], OLD_FIELD_COUNT = FIELD_COUNT - 1 };

static const char *const verdict_names[] = {
    [VERDICT_NONE] = "none",       [VERDICT_SHOWN] = "shown", [VERDICT_ABORTED] = "aborted",
    [VERDICT_SKIPPED] = "skipped", [VERDICT_LATE] = "late",  [VERDICT_UNSEEN] = "unseen",
};

enum { VERDICT_COUNT = sizeof verdict_names / sizeof verdict_names[0] };

static int64_t *value_of(struct frame_record *record, const struct field *field)
{
    return (int64_t *)((char *)record + field->offset);
}

struct frame_record frame_record_empty(void)
{
    struct frame_record record;
    for (int i = 0; i < FIELD_COUNT; i++)
        *value_of(&record, &fields[i]) = FIELD_EMPTY;
    record.verdict = VERDICT_NONE;
    return record;
}

struct totals totals_of(const struct frame_record *rows, int64_t count)
{
    struct totals totals = {0};
    for (int64_t i = 0; i < count; i++) {
        totals.shown += rows[i].verdict == VERDICT_SHOWN;
        totals.aborted += rows[i].verdict == VERDICT_ABORTED;
        totals.skipped += rows[i].verdict == VERDICT_SKIPPED;
        totals.late += rows[i].verdict == VERDICT_LATE;
    }
    return totals;
}

const char *verdict_name(enum verdict verdict)
{
    return verdict_names[verdict];
}

int frame_record_write_header(FILE *out)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        fprintf(out, "%s%s", i ? "," : "", fields[i].name);
    fputc('\n', out);
    return ferror(out) ? -(errno ? errno : EIO) : 0;
}

static void write_field(FILE *out, enum field_kind kind, int64_t value)
{
    if (value == FIELD_EMPTY)
        return;
    switch (kind) {
    case NUMBER:
        fprintf(out, "%" PRId64, value);
        break;
    case LETTER:
        fputc((int)value, out);
        break;
    case VERDICT:
        fputs(verdict_name((enum verdict)value), out);
        break;
    }
}

int frame_record_write(FILE *out, const struct frame_record *record)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (i)
            fputc(',', out);
        write_field(out, fields[i].kind, *value_of((struct frame_record *)record, &fields[i]));
    }
    fputc('\n', out);
    return ferror(out) ? -(errno ? errno : EIO) : 0;
}

static int parse_verdict(const char *text, size_t length, int64_t *value)
{
    for (int i = 0; i < VERDICT_COUNT; i++) {
        if (strlen(verdict_names[i]) == length && !memcmp(verdict_names[i], text, length)) {
            *value = i;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_number(const char *text, size_t length, int64_t *value)
{
    if (!isdigit((unsigned char)text[0]) && text[0] != '-')
        return -EINVAL;
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno || end != text + length ? -EINVAL : 0;
}

static int parse_field(enum field_kind kind, const char *text, size_t length, int64_t *value)
{
    *value = FIELD_EMPTY;
    if (kind == VERDICT)
        return parse_verdict(text, length, value);
    if (!length)
        return 0;
    if (kind == NUMBER)
        return parse_number(text, length, value);
    *value = text[0];
    return length == 1 ? 0 : -EINVAL;
}

static int parse_fields(const char *line, struct frame_record *record, int count)
{
    *record = frame_record_empty();
    for (int i = 0; i < count; i++) {
        const size_t length = strcspn(line, ",\r\n");
        if (parse_field(fields[i].kind, line, length, value_of(record, &fields[i])))
            return -EINVAL;
        line += length;
        if (i < count - 1 && *line++ != ',')
            return -EINVAL;
    }
    return line[strspn(line, "\r\n")] ? -EINVAL : 0;
}

int frame_record_parse(const char *line, struct frame_record *record)
{
    return parse_fields(line, record, FIELD_COUNT);
}

int frame_record_parse_old(const char *line, struct frame_record *record)
{
    return parse_fields(line, record, OLD_FIELD_COUNT);
}

static int parse_names(const char *line, int count)
{
    for (int i = 0; i < count; i++) {
        const size_t length = strcspn(line, ",\r\n");
        if (strlen(fields[i].name) != length || memcmp(fields[i].name, line, length))
            return -EINVAL;
        line += length;
        if (i < count - 1 && *line++ != ',')
            return -EINVAL;
    }
    return line[strspn(line, "\r\n")] ? -EINVAL : 0;
}

int frame_record_parse_header(const char *line)
{
    return parse_names(line, FIELD_COUNT);
}

int frame_record_parse_old_header(const char *line)
{
    return parse_names(line, OLD_FIELD_COUNT);
}
