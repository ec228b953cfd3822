/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drops.h"

#include "ns.h"

#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <stdlib.h>

struct comparison {
    struct ideal *ideal;
    struct played *played; /* NULL: all shown pictures are ideal */
    struct rgb_converter *converter;
    struct rgb_picture shown;
    struct rgb_picture wanted;
    const struct frame_record *converted; /* the row whose picture is in shown */
    int64_t missing_ns;                   /* time stamp of the picture that an error is about */
};

bool was_dropped(const struct frame_record *row)
{
    return row->verdict == VERDICT_ABORTED || row->verdict == VERDICT_SKIPPED ||
           row->verdict == VERDICT_LATE || row->verdict == VERDICT_UNSEEN;
}

/* is_shown: as it was shown, not as it should have been. */
static int fetch(struct comparison *comparison, const struct frame_record *row, bool is_shown, struct rgb_picture *out)
{
    const AVFrame *picture;
    comparison->missing_ns = row->pts_ns;
    const int ret = is_shown && comparison->played && was_degraded(row)
                        ? played_find(comparison->played, row, &picture)
                        : ideal_find(comparison->ideal, row->pts_ns, &picture);
    return ret ? ret : rgb_convert(comparison->converter, picture, out);
}

static int compare(struct comparison *comparison, struct drop *drop)
{
    int ret = 0;
    if (comparison->converted != drop->shown)
        ret = fetch(comparison, drop->shown, true, &comparison->shown);
    if (ret)
        return ret;
    comparison->converted = drop->shown;
    ret = fetch(comparison, drop->row, false, &comparison->wanted);
    if (!ret && !drop->shown) /* not earlier: the converter has no size before */
        ret = rgb_black(comparison->converter, &comparison->shown);
    if (!ret)
        drop->rmse_8bit = rgb_rmse(&comparison->shown, &comparison->wanted);
    return ret;
}

static bool is_to_be_compared(const struct comparison *comparison, const struct frame_record *row)
{
    const bool was_shown_degraded = row->verdict == VERDICT_SHOWN && was_degraded(row);
    return was_dropped(row) || (comparison->played && was_shown_degraded);
}

static int64_t compare_all(struct comparison *comparison, struct drop *drops,
                           const struct frame_record *rows, int64_t count)
{
    int64_t found = 0;
    const struct frame_record *shown = NULL;
    for (int64_t i = 0; i < count; i++) {
        if (rows[i].verdict == VERDICT_SHOWN)
            shown = &rows[i];
        if (!is_to_be_compared(comparison, &rows[i]))
            continue;
        struct drop *const drop = &drops[found++];
        *drop = (struct drop){.row = &rows[i], .shown = shown};
        const int ret = compare(comparison, drop);
        if (ret)
            return ret;
    }
    return found;
}

int64_t drops_compare(struct drop **drops, const struct frame_record *rows, int64_t count,
                      struct ideal *ideal, struct played *played, struct rgb_converter *converter, char *why,
                      size_t why_size)
{
    struct comparison comparison = {.ideal = ideal, .played = played, .converter = converter};
    *drops = malloc((size_t)(count + 1) * sizeof **drops);
    const int64_t found = *drops ? compare_all(&comparison, *drops, rows, count) : AVERROR(ENOMEM);
    if (found == AVERROR(ENOENT))
        snprintf(why, why_size, "it has no picture at %.3f s, but the record has one", ns_to_s(comparison.missing_ns));
    else if (found == AVERROR(ENOTSUP) && *converter->refusal)
        snprintf(why, why_size, "%s", converter->refusal);
    else if (found < 0)
        snprintf(why, why_size, "its picture at %.3f s cannot be decoded: %s", ns_to_s(comparison.missing_ns),
                 av_err2str((int)found));
    if (found < 0) {
        free(*drops);
        *drops = NULL;
    }
    av_freep(&comparison.shown.pixels);
    av_freep(&comparison.wanted.pixels);
    return found;
}
