/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "withheld.h"

void withheld_clear(struct withheld *withheld)
{
    withheld->first = withheld->count = 0;
}

static struct withheld_picture drop_first(struct withheld *withheld)
{
    const struct withheld_picture first = withheld->pictures[withheld->first];
    withheld->first = (withheld->first + 1) % WITHHELD_MAX;
    withheld->count--;
    return first;
}

void withheld_add(struct withheld *withheld, const AVPacket *packet, int64_t number)
{
    if (withheld->count == WITHHELD_MAX)
        drop_first(withheld);
    withheld->pictures[(withheld->first + withheld->count++) % WITHHELD_MAX] =
        (struct withheld_picture){number, packet->pts, packet->duration};
}

bool withheld_comes_before(const struct withheld *withheld, int64_t number)
{
    return withheld->count > 0 && withheld->pictures[withheld->first].number < number;
}

bool withheld_is_full(const struct withheld *withheld)
{
    return withheld->count == WITHHELD_MAX;
}

int64_t withheld_take(struct withheld *withheld, AVFrame *frame)
{
    const struct withheld_picture picture = drop_first(withheld);
    frame->pts = frame->best_effort_timestamp = picture.pts;
    frame->duration = picture.duration;
    frame->flags |= AV_FRAME_FLAG_DROPPABLE | AV_FRAME_FLAG_ABANDONED;
    return picture.number;
}
