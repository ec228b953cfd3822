/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "playout.h"

#include <errno.h>

#include "audio_sink.h"
#include "ns.h"

/*
 * Matroska rounds time stamps to 1 ms; some AVI and FLV muxers round them more coarsely. 5 ms of
 * A-V is far below what anyone notices.
 */
static const int64_t jump_ns = 5 * NS_PER_MS;

/* If time stamps go back by more than this, the file starts anew; by less, its packets overlap. */
static const int64_t restart_ns = NS_PER_S;

void playout_init(struct playout *playout, int rate)
{
    *playout = (struct playout){.rate = rate};
}

/* Converts whole seconds separately: ns * rate would overflow after 7 hours at 384 kHz. */
int64_t playout_frames(const struct playout *playout, int64_t ns)
{
    return ns / NS_PER_S * playout->rate + ns % NS_PER_S * playout->rate / NS_PER_S;
}

int64_t playout_ns(const struct playout *playout, int64_t frames)
{
    return frames / playout->rate * NS_PER_S + frames % playout->rate * NS_PER_S / playout->rate;
}

static struct playout_segment *segment_at(struct playout *playout, int index)
{
    return &playout->segment[(playout->first_segment + index) % PLAYOUT_SEGMENTS];
}

static int64_t pts_at(struct playout *playout, int64_t frame, int index)
{
    const struct playout_segment *const segment = segment_at(playout, index);
    return segment->pts_ns + playout_ns(playout, frame - segment->start_frame);
}

static bool follows_on(struct playout *playout, int64_t pts_ns)
{
    if (playout->segment_count == 0)
        return false;
    const int64_t expected_ns = pts_at(playout, playout->written, playout->segment_count - 1);
    return pts_ns == AUDIO_PTS_UNKNOWN || playout->segment_count == PLAYOUT_SEGMENTS ||
           (pts_ns >= expected_ns - jump_ns && pts_ns <= expected_ns + jump_ns);
}

void playout_append(struct playout *playout, int64_t frames, int64_t pts_ns)
{
    if (frames <= 0)
        return;
    if (!follows_on(playout, pts_ns))
        *segment_at(playout, playout->segment_count++) = (struct playout_segment){
            .start_frame = playout->written,
            .pts_ns = pts_ns == AUDIO_PTS_UNKNOWN ? 0 : pts_ns,
        };
    playout->written += frames;
}

void playout_run(struct playout *playout, int64_t frame, int64_t now_ns)
{
    playout->anchor_frame = frame;
    playout->anchor_ns = now_ns;
    playout->running = true;
}

void playout_run_between(struct playout *playout, int64_t first, int64_t last, int64_t now_ns)
{
    const int64_t frame = playout_position(playout, now_ns);
    playout_run(playout, frame < first ? first : frame > last ? last : frame, now_ns);
}

void playout_hold(struct playout *playout, int64_t now_ns)
{
    playout->anchor_frame = playout_position(playout, now_ns);
    playout->anchor_ns = now_ns;
    playout->running = false;
}

int64_t playout_position(const struct playout *playout, int64_t now_ns)
{
    const int64_t elapsed_ns = playout->running ? now_ns - playout->anchor_ns : 0;
    const int64_t frame = playout->anchor_frame + playout_frames(playout, elapsed_ns);
    return frame < playout->written ? frame : playout->written;
}

int64_t playout_buffered(const struct playout *playout, int64_t now_ns)
{
    return playout->written - playout_position(playout, now_ns);
}

static void forget_passed_segments(struct playout *playout, int64_t frame)
{
    while (playout->segment_count > 1 && segment_at(playout, 1)->start_frame <= frame) {
        playout->first_segment = (playout->first_segment + 1) % PLAYOUT_SEGMENTS;
        playout->segment_count--;
    }
}

int playout_heard(struct playout *playout, int64_t now_ns, int64_t *pts_ns)
{
    const int64_t frame = playout_position(playout, now_ns);
    if (frame > 0) {
        forget_passed_segments(playout, frame);
        const int64_t now_pts_ns = pts_at(playout, frame, 0);
        const int64_t back_ns = playout->heard ? playout->last_pts_ns - now_pts_ns : 0;
        if (back_ns <= 0 || back_ns > restart_ns)
            playout->last_pts_ns = now_pts_ns;
        playout->heard = true;
    }
    if (!playout->heard)
        return -EAGAIN;
    *pts_ns = playout->last_pts_ns;
    return 0;
}

int playout_begins(struct playout *playout, int64_t now_ns, int64_t *pts_ns)
{
    if (playout->heard || !playout->running || playout->segment_count == 0)
        return -EAGAIN;
    *pts_ns = pts_at(playout, playout_position(playout, now_ns), 0);
    return 0;
}
