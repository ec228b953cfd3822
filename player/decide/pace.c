/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pace.h"

#include "ns.h"

/* A picture that began before the start is shown only if at least this much of it is left. */
enum { REST_MIN_NS = 100 * NS_PER_MS };

bool part_is_after(const struct part *part, int64_t pts_ns, int64_t duration_ns)
{
    if (part->from_ns == INT64_MIN || pts_ns >= part->from_ns)
        return false;
    /*
     * A picture of ordinary length that began before the start counts as over: only a long one is worth showing late.
     */
    const int64_t frame_ns = frame_duration_ns(part->frame_duration);
    const int64_t rest_ns = pts_ns + (duration_ns > 0 ? duration_ns : frame_ns) - part->from_ns;
    return rest_ns < (frame_ns < REST_MIN_NS ? frame_ns : REST_MIN_NS);
}

void feed_pace_restart(struct feed_pace *pace, const struct part *part)
{
    pace->part = *part;
    pace->segment++;
    pace->back_segment = 0;
    pace->expected_ns = NS_UNKNOWN;
    pace->jumped = pace->key_seen = false;
}

/* Detects jumps in decode order, where it is clear which packets lie behind the jump. */
static void watch_time_stamps(struct feed_pace *pace, const struct packet_times *packet)
{
    const int64_t ts_ns = packet->dts_ns != NS_UNKNOWN ? packet->dts_ns : packet->pts_ns;
    if (ts_ns == NS_UNKNOWN)
        return;
    const int64_t step_ns = pace->expected_ns != NS_UNKNOWN ? ts_ns - pace->expected_ns : 0;
    /* Without a DTS, pictures that last long may go back far. */
    const int64_t back_ns = packet->dts_ns != NS_UNKNOWN ? TIME_STAMP_BACK_NS : TIME_STAMP_JUMP_NS;
    if (step_ns < -back_ns || (pace->may_jump && step_ns > TIME_STAMP_JUMP_NS)) {
        pace->segment++;
        pace->jumped = true;
        if (step_ns < 0)
            pace->back_segment = pace->segment;
    }
    pace->expected_ns = ts_ns + (packet->duration_ns > 0 ? packet->duration_ns : frame_duration_ns(pace->part.frame_duration));
}

struct packet_place feed_pace_packet(struct feed_pace *pace, const struct packet_times *packet)
{
    if (!packet->discarded)
        watch_time_stamps(pace, packet);
    const bool known = packet->pts_ns != NS_UNKNOWN && !pace->jumped;
    const bool pre_roll = known && part_is_after(&pace->part, packet->pts_ns, packet->duration_ns);
    pace->key_seen = pace->key_seen || packet->key;
    return (struct packet_place){
        .segment = pace->segment,
        .unwanted = pre_roll || packet->discarded,
        .undecodable = pre_roll && !pace->key_seen,
    };
}

void show_pace_restart(struct show_pace *pace, const struct part *part, int segment, int64_t first_ns)
{
    *pace = (struct show_pace){.part = *part, .segment = segment, .first_ns = first_ns, .next_ns = NS_UNKNOWN};
}

struct picture_place show_pace_picture(struct show_pace *pace, int segment, int64_t pts_ns, int64_t duration_ns)
{
    if (pts_ns == NS_UNKNOWN)
        pts_ns = pace->next_ns != NS_UNKNOWN ? pace->next_ns : pace->first_ns;
    struct picture_place place = {.pts_ns = pts_ns, .jump_ns = NS_UNKNOWN};
    if (pts_ns == NS_UNKNOWN)
        return (struct picture_place){.pts_ns = pace->part.from_ns, .jump_ns = NS_UNKNOWN, .unwanted = true};
    place.jumped = segment != pace->segment;
    if (place.jumped) {
        pace->part.from_ns = INT64_MIN;
        if (pace->next_ns != NS_UNKNOWN)
            place.jump_ns = place.pts_ns - pace->next_ns;
    }
    pace->segment = segment;
    pace->next_ns = place.pts_ns + (duration_ns > 0 ? duration_ns : frame_duration_ns(pace->part.frame_duration));
    place.unwanted = part_is_after(&pace->part, place.pts_ns, duration_ns) || place.pts_ns >= pace->part.end_ns;
    return place;
}

int64_t show_pace_due_ns(const struct show_pace *pace, int64_t pts_ns)
{
    return pts_ns > pace->part.from_ns ? pts_ns : pace->part.from_ns;
}

int64_t show_pace_next_ns(const struct show_pace *pace, int segment, int64_t pts_ns)
{
    if (pts_ns == NS_UNKNOWN || segment != pace->segment)
        return pace->next_ns;
    return pace->next_ns != NS_UNKNOWN && pace->next_ns < pts_ns ? pace->next_ns : pts_ns;
}

int64_t show_pace_first_waiting_ns(const struct show_pace *pace, int segment, int64_t pts_ns, int beside)
{
    const int64_t next_ns = show_pace_next_ns(pace, segment, pts_ns);
    if (next_ns == NS_UNKNOWN || segment != pace->segment)
        return next_ns;
    const int64_t behind_ns = next_ns + beside * frame_duration_ns(pace->part.frame_duration);
    return pts_ns != NS_UNKNOWN && pts_ns < behind_ns ? pts_ns : behind_ns;
}
