/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recorded_run.h"

#include "record_faults.h"
#include "run_record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where reading failed, and the caller's buffer for the error. */
struct reader {
    const char *dir;
    char path[PATH_MAX]; /* of the file being read */
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3)))
static int refuse(const struct reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader->why, reader->why_size, format, args);
    va_end(args);
    return -EINVAL;
}

static bool take_path(struct reader *reader, const char *name)
{
    return snprintf(reader->path, sizeof reader->path, "%s/%s", reader->dir, name) <
           (int)sizeof reader->path;
}

static int refuse_directory(struct reader *reader)
{
    struct stat facts;
    if (stat(reader->dir, &facts))
        return refuse(reader, "%s: %s; name a directory that dlex-play --record=DIR wrote",
                      reader->dir, strerror(errno));
    if (!S_ISDIR(facts.st_mode))
        return refuse(reader, "%s is not a directory; name one that dlex-play --record=DIR wrote",
                      reader->dir);
    int files = 0;
    while (files < INT_MAX) {
        char name[32];
        snprintf(name, sizeof name, "%d/run.json", files + 1);
        if (!take_path(reader, name) || access(reader->path, F_OK))
            break;
        files++;
    }
    if (files > 0)
        return refuse(reader, "%s holds the records of %d files; name one of %s/1 to %s/%d",
                      reader->dir, files, reader->dir, reader->dir, files);
    return refuse(reader, "%s holds no record (no run.json); name a directory that "
                          "dlex-play --record=DIR wrote", reader->dir);
}

/* Older records, and those of an observer, have no window. */
static int read_window(struct recorded_run *run, const struct reader *reader)
{
    const json_t *const asked = json_object_get(json_object_get(run->json, "options"), "window");
    if (json_is_string(asked) && window_parse(&run->window, json_string_value(asked)))
        return refuse(reader, "%s has an impossible window (%s); record the run again", reader->path, json_string_value(asked));
    return 0;
}

static int check_format(const struct recorded_run *run, const struct reader *reader)
{
    const json_t *const format = json_object_get(run->json, "format");
    if (!json_is_integer(format))
        return refuse(reader, "%s is no run record, or is damaged: it does not state its format; record the run again",
                      reader->path);
    if (json_integer_value(format) != RUN_RECORD_FORMAT)
        return refuse(reader, "%s has format %" JSON_INTEGER_FORMAT ", but this dlex-qoe reads only format %d; use the dlex-qoe "
                      "that was built with the dlex-play of the record", reader->path, json_integer_value(format), RUN_RECORD_FORMAT);
    return 0;
}

static int read_media(struct recorded_run *run, const struct reader *reader)
{
    const json_t *const media = json_object_get(run->json, "media");
    const json_t *const sha256 = json_object_get(media, "sha256");
    run->media_path = json_string_value(json_object_get(media, "path"));
    run->media_sha256 = json_string_value(sha256);
    if (run->media_path && json_is_null(sha256))
        return refuse(reader, "%s has no SHA-256 of the film, because it came from %s, a pipe (or a file that was gone when the "
                      "run ended), which cannot be read again; play the film from a file", reader->path, run->media_path);
    if (!run->media_path || !run->media_sha256)
        return refuse(reader, "%s does not contain the media's path and SHA-256; record the run again", reader->path);
    const json_t *const stream = json_object_get(json_object_get(media, "video"), "stream_index");
    if (!json_is_integer(stream))
        return refuse(reader, "%s is the record of a run without pictures; there is nothing to compare", reader->dir);
    if (json_integer_value(stream) < 0 || json_integer_value(stream) > INT_MAX)
        return refuse(reader, "%s is damaged: the stream index of the video is impossible; record the run again", reader->path);
    run->stream_index = (int)json_integer_value(stream);
    return 0;
}

static int read_facts(struct recorded_run *run, struct reader *reader)
{
    if (!take_path(reader, "run.json") || access(reader->path, F_OK))
        return refuse_directory(reader);
    json_error_t error;
    run->json = json_load_file(reader->path, 0, &error);
    if (!run->json)
        return refuse(reader, "%s is damaged: %s in line %d; record the run again", reader->path, error.text,
                      error.line);
    int ret = check_format(run, reader);
    if (!ret)
        ret = read_media(run, reader);
    return ret ? ret : read_window(run, reader);
}

static int append_row(struct recorded_run *run, const struct frame_record *row)
{
    const int64_t count = run->count;
    if (!(count & (count - 1))) { /* a power of two, or the first one: the array is full */
        const size_t room = count ? 2 * (size_t)count : 1;
        struct frame_record *const rows = realloc(run->rows, room * sizeof *rows);
        if (!rows)
            return -ENOMEM;
        run->rows = rows;
    }
    run->rows[run->count++] = *row;
    return 0;
}

/* A record is written whole, so a row that does not fit means that the file was changed or cut. Returns 0 or a negative errno. */
static int read_row(struct recorded_run *run, const char *line, const char **fault)
{
    struct frame_record row;
    const bool fits = !(run->is_old ? frame_record_parse_old(line, &row) : frame_record_parse(line, &row));
    const bool is_row = strchr(line, '\n') && fits;
    *fault = is_row ? record_row_fault(&row, run->count) : "it is not a whole row";
    return *fault ? -EINVAL : append_row(run, &row);
}

static int read_header(struct recorded_run *run, const char *line, const char **fault)
{
    run->is_old = !frame_record_parse_old_header(line);
    const int ret = run->is_old ? 0 : frame_record_parse_header(line);
    *fault = ret ? "it is not the header of a record" : NULL;
    return ret;
}

static int read_rows(struct recorded_run *run, const struct reader *reader, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    int ret = 0;
    int64_t number = 0;
    const char *fault = NULL;
    while (!ret && getline(&line, &room, in) >= 0)
        ret = number++ ? read_row(run, line, &fault) : read_header(run, line, &fault);
    free(line);
    if (ret == -ENOMEM)
        return refuse(reader, "out of memory while reading %s", reader->path);
    if (ret)
        return refuse(reader, "%s is damaged in line %" PRId64 ": %s; record the run again", reader->path, number, fault);
    if (ferror(in))
        return refuse(reader, "%s cannot be read: %s", reader->path, strerror(errno));
    return number ? 0 : refuse(reader, "%s is empty; record the run again", reader->path);
}

static int check_totals(const struct recorded_run *run, const struct reader *reader)
{
    char fault[160];
    if (record_totals_fault(json_object_get(run->json, "totals"), run->rows, run->count, fault, sizeof fault))
        return refuse(reader, "the record %s was changed or cut: %s; record the run again", reader->dir, fault);
    return 0;
}

static int read_frames(struct recorded_run *run, struct reader *reader)
{
    if (!take_path(reader, "frames.csv"))
        return refuse(reader, "the path %s is too long", reader->dir);
    FILE *const in = fopen(reader->path, "r");
    if (!in)
        return refuse(reader, "%s cannot be read: %s; record the run again", reader->path,
                      strerror(errno));
    const int ret = read_rows(run, reader, in);
    fclose(in);
    return ret ? ret : check_totals(run, reader);
}

int recorded_run_read(struct recorded_run *run, const char *dir, char *why, size_t why_size)
{
    *run = (struct recorded_run){0};
    struct reader reader = {.dir = dir, .why = why, .why_size = why_size};
    int ret = read_facts(run, &reader);
    if (!ret)
        ret = read_frames(run, &reader);
    if (ret)
        recorded_run_finish(run);
    return ret;
}

void recorded_run_finish(struct recorded_run *run)
{
    json_decref(run->json);
    free(run->rows);
    *run = (struct recorded_run){0};
}
