/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "played.h"

#include "ideal.h"

#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <stdio.h>

struct played {
    struct ideal *ideal;
    const struct recorded_run *run;
    int64_t begin; /* the ideal follows the rows from this one to the one before `end`: from one seek to the next */
    int64_t end;
};

bool was_degraded(const struct frame_record *row)
{
    return row->degraded == DEGRADED_ITSELF || row->degraded == DEGRADED_BY_OTHERS;
}

static bool has_degraded(const struct recorded_run *run)
{
    for (int64_t i = 0; i < run->count; i++)
        if (was_degraded(&run->rows[i]))
            return true;
    return false;
}

int played_open(struct played **out, const char *path, const struct recorded_run *run, char *why, size_t why_size)
{
    *out = NULL;
    if (!has_degraded(run))
        return 0;
    snprintf(why, why_size, "out of memory");
    struct played *played = av_mallocz(sizeof *played);
    if (!played)
        return AVERROR(ENOMEM);
    played->run = run;
    const int ret = ideal_open(&played->ideal, path, run->stream_index, why, why_size);
    if (ret < 0)
        played_close(&played);
    *out = played;
    return ret;
}

void played_close(struct played **played)
{
    if (!*played)
        return;
    ideal_close(&(*played)->ideal);
    av_freep(played);
}

/* Makes the ideal follow the rows around this one in which time stamps ascend. */
static int follow(struct played *played, int64_t index)
{
    const struct frame_record *const rows = played->run->rows;
    played->begin = index;
    while (played->begin > 0 && rows[played->begin - 1].pts_ns <= rows[played->begin].pts_ns)
        played->begin--;
    played->end = index + 1;
    while (played->end < played->run->count && rows[played->end - 1].pts_ns <= rows[played->end].pts_ns)
        played->end++;
    return ideal_degrade(played->ideal, &rows[played->begin], played->end - played->begin);
}

int played_find(struct played *played, const struct frame_record *row, const AVFrame **out)
{
    const int64_t index = row - played->run->rows;
    const int ret = index < played->begin || index >= played->end ? follow(played, index) : 0;
    return ret < 0 ? ret : ideal_find(played->ideal, row->pts_ns, out);
}
