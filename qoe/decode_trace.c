/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decode_trace.h"

#include "ns.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 256 };

/* Greater numbers are no measurement, and sums of them would overflow. */
static const int64_t cost_max_ns = 3600 * NS_PER_S;
static const int64_t duration_max_ns = 10 * NS_PER_S; /* of a picture, on average */
static const int64_t pts_max_ns = 100000000 * NS_PER_S;
static const double error_max_q16 = 65535;

static const char *header(char text[HEADER_SIZE])
{
    int length = snprintf(text, HEADER_SIZE, "pts_ns,size_bytes,key,droppable,decode_cpu_ns");
    for (int i = 1; i <= TRACE_REPEATS; i++)
        length += snprintf(text + length, (size_t)(HEADER_SIZE - length), ",rmse_q16_%d", i);
    return text;
}

void decode_trace_write_header(FILE *out)
{
    char text[HEADER_SIZE];
    fprintf(out, "%s\n", header(text));
}

void decode_trace_write_packet(FILE *out, const struct trace_packet *packet)
{
    fprintf(out, "%" PRId64 ",%" PRId64 ",%d,%d,%" PRId64, packet->pts_ns, packet->size_bytes, packet->key,
            packet->droppable, packet->decode_cpu_ns);
    for (int i = 0; i < TRACE_REPEATS; i++) {
        fputc(',', out);
        if (!isnan(packet->repeat_rmse_q16[i]))
            fprintf(out, "%.4f", packet->repeat_rmse_q16[i]);
    }
    fputc('\n', out);
}

/* Reads a whole number up to the next comma, and moves behind that. */
static bool parse_whole(const char **at, int64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)**at) && **at != '-')
        return false;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    *at = end + 1;
    return !errno && *end == ',';
}

static bool parse_flag(const char **at, bool *value)
{
    int64_t number;
    if (!parse_whole(at, &number) || number < 0 || number > 1)
        return false;
    *value = number;
    return true;
}

static bool parse_error(const char **at, bool is_last, double *value)
{
    char *end = (char *)*at;
    *value = NAN;
    if (isdigit((unsigned char)**at))
        *value = strtod(*at, &end);
    *at = end + 1;
    return *end == (is_last ? '\n' : ',') && !(*value > error_max_q16);
}

static bool parse_packet(const char *line, struct trace_packet *packet)
{
    const char *at = line;
    if (!parse_whole(&at, &packet->pts_ns) || !parse_whole(&at, &packet->size_bytes) || !parse_flag(&at, &packet->key) ||
        !parse_flag(&at, &packet->droppable) || !parse_whole(&at, &packet->decode_cpu_ns))
        return false;
    for (int i = 0; i < TRACE_REPEATS; i++)
        if (!parse_error(&at, i == TRACE_REPEATS - 1, &packet->repeat_rmse_q16[i]))
            return false;
    return !*at && packet->size_bytes >= 0 && packet->decode_cpu_ns >= 0 && packet->decode_cpu_ns <= cost_max_ns &&
           packet->pts_ns >= -pts_max_ns && packet->pts_ns <= pts_max_ns;
}

static int append(struct decode_trace *trace, const char *line)
{
    const int64_t count = trace->count;
    if (!(count & (count - 1))) { /* a power of two, or the first one: the array is full */
        struct trace_packet *const packets =
            realloc(trace->packets, (count ? 2 * (size_t)count : 1) * sizeof *trace->packets);
        if (!packets)
            return -ENOMEM;
        trace->packets = packets;
    }
    struct trace_packet *const packet = &trace->packets[count];
    if (!parse_packet(line, packet) || (count == 0 && !packet->key))
        return -EINVAL;
    trace->count++;
    return 0;
}

static int check_header(const char *line)
{
    char text[HEADER_SIZE];
    const size_t length = strlen(header(text));
    return !strncmp(line, text, length) && !strcmp(line + length, "\n") ? 0 : -EINVAL;
}

static int read_lines(struct decode_trace *trace, FILE *in, int64_t *line_number)
{
    char *line = NULL;
    size_t room = 0;
    int ret = 0;
    *line_number = 0;
    while (!ret && getline(&line, &room, in) >= 0)
        ret = (*line_number)++ ? append(trace, line) : check_header(line);
    free(line);
    return ret ? ret : ferror(in) ? -EIO : 0;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int check_times(const struct decode_trace *trace)
{
    int64_t *const times = malloc((size_t)trace->count * sizeof *times);
    if (!times)
        return -ENOMEM;
    for (int64_t i = 0; i < trace->count; i++)
        times[i] = trace->packets[i].pts_ns;
    qsort(times, (size_t)trace->count, sizeof *times, compare_times);
    int ret = 0;
    for (int64_t i = 1; i < trace->count; i++)
        if (times[i] == times[i - 1])
            ret = -EEXIST;
    if (times[trace->count - 1] - times[0] > trace->count * duration_max_ns)
        ret = -ERANGE;
    free(times);
    return ret;
}

static void explain(int ret, const char *path, int64_t line_number, char *why, size_t why_size)
{
    if (ret == -EINVAL)
        snprintf(why, why_size, "%s is no decode trace, or is damaged in line %" PRId64 "; make it with dlex-qoe --trace",
                 path, line_number);
    else if (ret == -EEXIST)
        snprintf(why, why_size, "%s has two packets with the same pts_ns; make it with dlex-qoe --trace", path);
    else if (ret == -ERANGE)
        snprintf(why, why_size, "%s has pictures that last more than %" PRId64 " s on average; make it with dlex-qoe --trace", path,
                 duration_max_ns / NS_PER_S);
    else if (ret == -ENODATA)
        snprintf(why, why_size, "%s has fewer than two packets; record a longer run", path);
    else
        snprintf(why, why_size, "%s cannot be read: %s", path, strerror(-ret));
}

int decode_trace_read(struct decode_trace *trace, const char *path, char *why, size_t why_size)
{
    *trace = (struct decode_trace){0};
    int64_t line_number = 0;
    FILE *const in = fopen(path, "r");
    int ret = in ? read_lines(trace, in, &line_number) : -errno;
    if (in)
        fclose(in);
    if (!ret)
        ret = trace->count < 2 ? -ENODATA : check_times(trace);
    if (ret) {
        explain(ret, path, line_number, why, why_size);
        decode_trace_finish(trace);
    }
    return ret;
}

void decode_trace_finish(struct decode_trace *trace)
{
    free(trace->packets);
    *trace = (struct decode_trace){0};
}
