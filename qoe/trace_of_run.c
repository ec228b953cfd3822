/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace_of_run.h"

#include "clip.h"
#include "droppable.h"
#include "ns.h"
#include "rgb_converter.h"

#include <errno.h>
#include <libavutil/mem.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct making {
    struct decode_trace *trace;
    const struct recorded_run *run;
    const char *media_path;
    int64_t count;      /* pictures of the part that was played */
    int64_t *packet_of; /* the packet of each row; < 0: not found yet */
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3)))
static int refuse(const struct making *making, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(making->why, making->why_size, format, args);
    va_end(args);
    return AVERROR(EINVAL);
}

static int check_run(const struct making *making)
{
    const struct recorded_run *const run = making->run;
    const char *const drop = json_string_value(json_object_get(json_object_get(run->json, "options"), "drop"));
    if (!drop || strcmp(drop, "none"))
        return refuse(making, "the run was recorded with --drop=%s; record it with --drop=none, because only then every "
                      "picture has its whole decode time", drop ? drop : "(unknown)");
    for (int64_t i = 0; i < making->count; i++) {
        const struct frame_record *const row = &run->rows[i];
        if (row->verdict == VERDICT_SHOWN && row->decode_cpu_ns == FIELD_EMPTY)
            return refuse(making, "the decode time of picture number %" PRId64 " was not measured; record the run with "
                          "--threads=1", row->index);
        if (row->verdict != VERDICT_SHOWN)
            return refuse(making, "the run did not show its picture number %" PRId64 "; record the clip once from its "
                          "beginning, without seeking and without --start, and use a clip that was not cut", row->index);
        if (i > 0 && row->pts_ns <= run->rows[i - 1].pts_ns)
            return refuse(making, "the time stamps jump back at picture number %" PRId64 "; a trace needs a clip in which "
                          "they do not", row->index);
    }
    return 0;
}

static int compare_to_row(const void *pts_ns, const void *row)
{
    const int64_t a = *(const int64_t *)pts_ns;
    const int64_t b = ((const struct frame_record *)row)->pts_ns;
    return (a > b) - (a < b);
}

static int add_packet(const struct making *making, const struct clip *clip, const AVPacket *packet,
                      struct droppable *droppable)
{
    const struct recorded_run *const run = making->run;
    struct decode_trace *const trace = making->trace;
    const bool is_droppable = droppable_packet(droppable, packet);
    const int64_t pts_ns = clip_pts_ns(clip->video, packet->pts);
    if (making->count > 0 && pts_ns > run->rows[making->count - 1].pts_ns)
        return 0; /* behind the part */
    const struct frame_record *const row =
        bsearch(&pts_ns, run->rows, (size_t)making->count, sizeof *run->rows, compare_to_row);
    if (!row || making->packet_of[row - run->rows] >= 0)
        return refuse(making, "the run has no picture of its own for the packet at %.3f s; record the clip from its "
                      "beginning, and use a clip without fields", ns_to_s(pts_ns));
    making->packet_of[row - run->rows] = trace->count;
    trace->packets[trace->count++] = (struct trace_packet){
        .pts_ns = pts_ns,
        .size_bytes = packet->size,
        .key = (packet->flags & AV_PKT_FLAG_KEY) && !droppable->gradual,
        .droppable = is_droppable,
        .decode_cpu_ns = row->decode_cpu_ns,
    };
    return 0;
}

static int add_packets(const struct making *making, struct clip *clip)
{
    struct droppable droppable;
    droppable_init(&droppable, clip->video->codecpar);
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? 0 : AVERROR(ENOMEM);
    while (!ret && clip_read(clip, packet) >= 0) { /* a read error ends the file, as in the player */
        if (packet->stream_index == clip->video->index)
            ret = add_packet(making, clip, packet, &droppable);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return ret;
}

static int read_packets(const struct making *making)
{
    char why[PATH_MAX];
    struct clip clip = {0};
    int ret = clip_open(&clip, making->media_path, NULL, why, sizeof why);
    if (ret < 0)
        refuse(making, "%s: %s", making->media_path, why);
    else
        ret = add_packets(making, &clip);
    clip_close(&clip);
    const int64_t missing = making->count - making->trace->count;
    if (!ret && missing)
        ret = refuse(making, "the clip has no packet for %" PRId64 " pictures of the run; use a clip in which each packet "
                     "holds one picture", missing);
    if (!ret && (making->trace->count < 2 || !making->trace->packets[0].key))
        ret = refuse(making, "the run has fewer than two pictures, or its clip does not begin with a key picture");
    return ret;
}

/* The last pictures, so that each is converted once. */
struct recent {
    struct rgb_converter converter;
    struct rgb_picture pictures[TRACE_REPEATS + 1]; /* picture i is at i modulo the length */
};

static struct rgb_picture *picture_at(struct recent *recent, int64_t number)
{
    return &recent->pictures[number % (TRACE_REPEATS + 1)];
}

static int compare_picture(const struct making *making, struct recent *recent, struct ideal *ideal, int64_t number)
{
    struct trace_packet *const packet = &making->trace->packets[making->packet_of[number]];
    const AVFrame *picture;
    int ret = ideal_find(ideal, packet->pts_ns, &picture);
    if (!ret)
        ret = rgb_convert(&recent->converter, picture, picture_at(recent, number));
    if (ret == AVERROR(ENOTSUP) && *recent->converter.refusal)
        return refuse(making, "%s", recent->converter.refusal);
    if (ret)
        return refuse(making, "the picture at %.3f s cannot be decoded: %s", ns_to_s(packet->pts_ns), av_err2str(ret));
    for (int back = 1; back <= TRACE_REPEATS; back++)
        packet->repeat_rmse_q16[back - 1] = back > number
            ? NAN
            : rmse_q16(rgb_rmse(picture_at(recent, number), picture_at(recent, number - back)));
    return 0;
}

static int compare_pictures(const struct making *making, struct ideal *ideal)
{
    struct recent recent = {0};
    rgb_converter_init(&recent.converter);
    int ret = 0;
    for (int64_t number = 0; !ret && number < making->count; number++)
        ret = compare_picture(making, &recent, ideal, number);
    for (int i = 0; i <= TRACE_REPEATS; i++)
        av_freep(&recent.pictures[i].pixels);
    rgb_converter_finish(&recent.converter);
    return ret;
}

static int make(const struct making *making, struct ideal *ideal)
{
    for (int64_t i = 0; i < making->count; i++)
        making->packet_of[i] = -1;
    int ret = check_run(making);
    if (!ret)
        ret = read_packets(making);
    return ret ? ret : compare_pictures(making, ideal);
}

/* Returns how many pictures the part has that was played: without those that were decoded behind its end. */
static int64_t pictures_of(const struct recorded_run *run)
{
    int64_t count = run->count;
    while (count > 0 && run->rows[count - 1].verdict == VERDICT_NONE)
        count--;
    return count;
}

int trace_of_run(struct decode_trace *trace, const struct recorded_run *run, const char *media_path, struct ideal *ideal,
                 char *why, size_t why_size)
{
    const size_t room = (size_t)run->count + 1;
    *trace = (struct decode_trace){.packets = malloc(room * sizeof *trace->packets)};
    const struct making making = {
        .trace = trace,
        .run = run,
        .media_path = media_path,
        .count = pictures_of(run),
        .packet_of = malloc(room * sizeof(int64_t)),
        .why = why,
        .why_size = why_size,
    };
    snprintf(why, why_size, "out of memory");
    const int ret = trace->packets && making.packet_of ? make(&making, ideal) : AVERROR(ENOMEM);
    free(making.packet_of);
    if (ret)
        decode_trace_finish(trace);
    return ret;
}
