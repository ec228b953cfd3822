/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "look_ahead.h"

#include "ns.h"
#include "pace.h"

enum { FEW_PACKETS = 8 };

/* B pictures step back by less. More is a small jump of the time stamps, behind which it is not known when pictures are due. */
static const int64_t STEP_BACK_MAX_NS = 2 * NS_PER_S;

void look_ahead_restart(struct look_ahead *look)
{
    look->decoder.held.count = look->kept_in_decoder.count = 0;
    look->decoder.left_ns = INT64_MIN;
}

enum picture_class look_ahead_class(const struct packet_glance *packet, int64_t before_ns)
{
    if (packet->key)
        return CLASS_KEY;
    if (packet->droppable)
        return CLASS_DROPPABLE;
    return packet->pts_ns < before_ns ? CLASS_REFERENCE_B : CLASS_REFERENCE;
}

/* Returns whether the packet's time belongs to those of the first one and the latest one. */
static bool belongs_to(const struct packet_glance *packet, int64_t first_ns, int64_t latest_ns)
{
    return packet->pts_ns != NS_UNKNOWN && packet->pts_ns > latest_ns - STEP_BACK_MAX_NS &&
           packet->pts_ns < first_ns + TIME_STAMP_JUMP_NS;
}

/*
 * Fills in the packets behind the first one, which is filled in already. Returns how many there are. Discarded ones are left out:
 * their pictures are never due.
 */
static int add_packets_behind(struct look_ahead *look, int64_t first_ns)
{
    const int count = queue_peek(look->packets, look->glances, LOOK_AHEAD_PACKETS - 1);
    int64_t before_ns = first_ns;
    int64_t latest_ns = first_ns;
    int known = 1;
    for (int i = 0; i < count; i++) {
        const struct packet_glance *const packet = &look->glances[i];
        if (packet->discarded) {
            before_ns = packet->pts_ns;
            continue;
        }
        if (!belongs_to(packet, first_ns, latest_ns))
            break;
        look->ahead[known++] = (struct upcoming){
            .due_ns = packet->pts_ns,
            .size_bytes = packet->size_bytes,
            .picture_class = look_ahead_class(packet, before_ns),
        };
        before_ns = packet->pts_ns;
        latest_ns = before_ns > latest_ns ? before_ns : latest_ns;
    }
    return known;
}

/* Returns the mean time from one picture to the next. What the file says may be wrong, and rates may vary. */
static struct frame_duration duration_seen(const struct look_ahead *look, int count, struct frame_duration frame_duration)
{
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    for (int i = 0; i < count; i++) {
        first_ns = look->ahead[i].due_ns < first_ns ? look->ahead[i].due_ns : first_ns;
        last_ns = look->ahead[i].due_ns > last_ns ? look->ahead[i].due_ns : last_ns;
    }
    return count < FEW_PACKETS || last_ns == first_ns ? frame_duration : frame_duration_of((last_ns - first_ns) / (count - 1));
}

static void find_waiting(struct look_ahead *look, struct frame_duration frame_duration)
{
    struct waiting_pictures *const waiting = &look->waiting;
    waiting->due_ns.count = waiting->with_markers = 0;
    waiting->room = 0;
    if (look->pictures)
        picture_queue_waiting(look->pictures, waiting, frame_duration);
    for (int i = 0; i < look->kept_in_decoder.count; i++)
        times_insert(&waiting->due_ns, look->kept_in_decoder.at_ns[i]);
}

const struct outlook *look_ahead_from(struct look_ahead *look, const AVPacket *packet, enum picture_class picture_class,
                                      int64_t now_ns, struct frame_duration frame_duration, int delay)
{
    if (!look->packets)
        return NULL;
    const struct packet_glance first = queue_glance(look->packets, packet);
    if (first.pts_ns == NS_UNKNOWN)
        return NULL;
    look->ahead[0] = (struct upcoming){first.pts_ns, first.size_bytes, picture_class};
    /* Far from the clock, the time stamps have jumped, and the clock has not yet. */
    if (first.pts_ns > now_ns + TIME_STAMP_JUMP_NS || first.pts_ns < now_ns - TIME_STAMP_JUMP_NS)
        return NULL;
    const int count = add_packets_behind(look, first.pts_ns);
    frame_duration = duration_seen(look, count, frame_duration);
    find_waiting(look, frame_duration);
    look->decoder.delay = delay;
    look->outlook = (struct outlook){
        .now_ns = now_ns,
        .frame_duration = frame_duration,
        .room = look->waiting.room,
        .to_present = &look->waiting.due_ns,
        .waiting_with_markers = look->waiting.with_markers,
        .decoder = &look->decoder,
        .past = &look->past,
        .ahead = look->ahead,
        .count = count,
    };
    return &look->outlook;
}

void look_ahead_note_packet(struct look_ahead *look, int64_t pts_ns, bool is_kept)
{
    if (pts_ns == NS_UNKNOWN)
        return;
    times_insert(&look->decoder.held, pts_ns);
    if (is_kept)
        times_insert(&look->kept_in_decoder, pts_ns);
}

void look_ahead_note_fate(struct look_ahead *look, int64_t number, int64_t pts_ns, bool is_lost)
{
    if (pts_ns != NS_UNKNOWN)
        loss_history_add(&look->past, &(struct past_picture){number, pts_ns, is_lost});
}

void look_ahead_note_loss(struct look_ahead *look, int64_t number)
{
    loss_history_lose(&look->past, number);
}

void look_ahead_note_late(struct look_ahead *look, const struct late_pictures *late)
{
    const int64_t first_known = late->count > LATE_PICTURES_MAX ? late->count - LATE_PICTURES_MAX : 0;
    for (int64_t i = look->late_seen > first_known ? look->late_seen : first_known; i < late->count; i++)
        loss_history_lose(&look->past, late->numbers[i % LATE_PICTURES_MAX]);
    look->late_seen = late->count;
}

static void remove_until(struct times *times, int64_t at_ns)
{
    while (times->count > 0 && times->at_ns[0] <= at_ns)
        times_take_first(times);
}

void look_ahead_note_picture(struct look_ahead *look, int64_t pts_ns)
{
    remove_until(&look->decoder.held, pts_ns);
    remove_until(&look->kept_in_decoder, pts_ns);
    look->decoder.left_ns = pts_ns;
}
