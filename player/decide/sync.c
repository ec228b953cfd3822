/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync.h"

void sync_init(struct sync *sync, int64_t pts_ns, bool untimed)
{
    *sync = (struct sync){.base_pts_ns = pts_ns, .untimed = untimed};
}

void sync_start(struct sync *sync, int64_t now_ns)
{
    if (sync->running)
        return;
    sync->base_ns = now_ns;
    sync->running = true;
}

void sync_stop(struct sync *sync, int64_t now_ns)
{
    sync->base_pts_ns = sync_media_ns(sync, now_ns);
    sync->base_ns = now_ns;
    sync->running = false;
}

void sync_observe(struct sync *sync, int64_t heard_pts_ns, int64_t now_ns)
{
    sync->base_pts_ns = heard_pts_ns;
    sync->base_ns = now_ns;
}

int64_t sync_media_ns(const struct sync *sync, int64_t now_ns)
{
    return sync->running ? sync->base_pts_ns + (now_ns - sync->base_ns) : sync->base_pts_ns;
}

int64_t sync_skew_ns(const struct sync *sync, int64_t pts_ns, int64_t now_ns)
{
    return sync->untimed ? 0 : sync_media_ns(sync, now_ns) - pts_ns;
}

int64_t sync_wait_ns(const struct sync *sync, int64_t pts_ns, int64_t now_ns)
{
    return sync->untimed ? 0 : -sync_skew_ns(sync, pts_ns, now_ns);
}
