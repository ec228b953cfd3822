/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "time_stamps.h"

#include "ns.h"

#include <stdlib.h>

/* The stream has a constant rate, where nothing else speaks for a jump. */
enum { LONG_REGULAR = 25 };

/* A gap counts as filled if less than this of it is not, or less than half. Packets of both streams come in chunks of up to 1 s. */
static const int64_t UNFILLED_NS = 1250 * NS_PER_MS;
/* Behind a jump, a stream is in line with the other one if it is so near. Parts of a recording do not end at the same time. */
static const int64_t IN_LINE_NS = 2 * NS_PER_S;
/* The other stream has ended if it is so far behind. */
static const int64_t ENDED_NS = 3 * NS_PER_S;
/* The first packets of both streams may be so far apart. */
static const int64_t FIRST_APART_NS = 2 * NS_PER_S;

enum judgement { GOOD, DAMAGED, UNDECIDED };

static struct stamped_stream *other_of(struct time_stamps *stamps, const struct stamped_stream *stream)
{
    return &stamps->streams[stream == &stamps->streams[READ_VIDEO] ? READ_SOUND : READ_VIDEO];
}

static bool is_sound(const struct time_stamps *stamps, const struct stamped_stream *stream)
{
    return stream == &stamps->streams[READ_SOUND];
}

static struct next_stamps next_of(const struct time_stamps *stamps, enum read_stream stream)
{
    struct next_stamps next = {.count = 0};
    for (int i = 1; i < stamps->count && next.count < STAMPS_AHEAD; i++) {
        const struct stamp *const stamp = &stamps->window[(stamps->first + i) % TIME_STAMPS_WINDOW];
        if (stamp->stream == stream && stamp_key_ns(stamp) != NS_UNKNOWN && !stamp->is_cut)
            next.key_ns[next.count++] = stamp_key_ns(stamp);
    }
    return next;
}

/* Returns whether the other stream is read up to about the same film time, so that it says what happens there. */
static bool is_alive(const struct stamped_stream *other, const struct stamped_stream *stream)
{
    return other->expected_ns != NS_UNKNOWN && other->expected_ns > stream->expected_ns - ENDED_NS;
}

/* Returns whether the other stream went on while this one made a step forward to this film time. */
static bool is_filled(const struct stamped_stream *stream, const struct stamped_stream *other, int64_t key_ns)
{
    const int64_t step_ns = key_ns - stream->last_ns;
    if (step_ns <= 0 || stream->beside_ns == NS_UNKNOWN || other->expected_ns == NS_UNKNOWN || other->offset_ns != stream->offset_ns)
        return false;
    const int64_t unfilled_ns = step_ns - (other->expected_ns - stream->beside_ns);
    return unfilled_ns < (step_ns / 2 > UNFILLED_NS ? step_ns / 2 : UNFILLED_NS);
}

/* Returns whether the stream, which is apart from the other one now, would be beside it again with the other one's offset. */
static bool is_in_line(const struct stamped_stream *stream, const struct stamped_stream *other, int64_t file_key_ns)
{
    if (other->expected_ns == NS_UNKNOWN || stream->beside_ns == NS_UNKNOWN)
        return false;
    const int64_t distance_ns = file_key_ns - other->offset_ns - other->expected_ns;
    const int64_t before_ns = stream->last_ns - stream->beside_ns;
    if (other->offset_ns == stream->offset_ns)
        return llabs(distance_ns) < STAMPS_SHORT_NS / 2 && llabs(before_ns) > STAMPS_SHORT_NS;
    return llabs(distance_ns - before_ns) <= IN_LINE_NS || llabs(distance_ns) <= IN_LINE_NS;
}

static void note_jump(struct time_stamps *stamps, int64_t film_ns, int64_t offset_ns)
{
    const struct time_jump *const last = &stamps->jumps[stamps->jump_count - 1];
    if (last->offset_ns == offset_ns || (stamps->jump_count > 1 && film_ns < last->film_ns + STAMPS_SHORT_NS))
        return; /* known, perhaps from before a seek */
    if (stamps->jump_count < TIME_STAMPS_JUMPS)
        stamps->jump_count++;
    stamps->jumps[stamps->jump_count - 1] = (struct time_jump){film_ns, offset_ns};
}

/* From now on the packet with this stamp has this film time. */
static void jump_to(struct time_stamps *stamps, struct stamped_stream *stream, int64_t file_key_ns, int64_t film_ns)
{
    stream->offset_ns = file_key_ns - film_ns;
    note_jump(stamps, film_ns, stream->offset_ns);
}

/* Returns whether a gap that no other stream fills is a jump of the time stamps. Otherwise it is played as a gap. */
static bool is_closed(struct time_stamps *stamps, const struct stamped_stream *stream, int64_t gap_ns, int regular)
{
    const struct stamped_stream *const other = other_of(stamps, stream);
    if (is_alive(other, stream))
        return regular >= STAMPS_REGULAR || gap_ns > STAMPS_LONG_NS;
    const bool speaks_for_jump = is_sound(stamps, stream) || stream->facts.may_jump;
    if (regular >= (speaks_for_jump ? STAMPS_REGULAR : LONG_REGULAR))
        return stream->facts.may_jump || !other->facts.is_there || gap_ns > STAMPS_LONG_NS;
    return speaks_for_jump && gap_ns > STAMPS_LONG_NS;
}

/* Nothing but a jump explains the stamp, or a gap in both streams. */
static enum judgement judge_jump(struct time_stamps *stamps, struct stamped_stream *stream, int64_t key_ns, const struct next_stamps *next)
{
    const int64_t step_ns = key_ns - stream->offset_ns - stream->expected_ns;
    if (step_ns > 0 && !is_closed(stamps, stream, step_ns, stamped_regular_around(stream, next)))
        return GOOD;
    if (!next->count)
        return DAMAGED; /* the last one */
    jump_to(stamps, stream, key_ns, stream->expected_ns);
    return GOOD;
}

/* Judges a stamp that does not follow the ones before it. */
static enum judgement judge_step(struct time_stamps *stamps, struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    const struct stamped_stream *const other = other_of(stamps, stream);
    const int64_t key_ns = stamp_key_ns(file);
    const int64_t step_ns = key_ns - stream->offset_ns - stream->expected_ns;
    const bool is_constant = stream->regular >= STAMPS_REGULAR;
    const bool is_pause = is_filled(stream, other, key_ns - stream->offset_ns);
    if (is_pause && !is_constant)
        return GOOD;
    const struct next_stamps next = next_of(stamps, file->stream);
    if (stamped_goes_on(stream, &next, stream->expected_ns + stream->offset_ns, stamped_odd_ns(stream)))
        return DAMAGED;
    if (next.count < STAMPS_AHEAD && !is_last)
        return UNDECIDED;
    if (is_constant && stamped_stand_still(stream, &next, key_ns))
        return DAMAGED;
    if (is_in_line(stream, other, key_ns))
        stream->offset_ns = other->offset_ns;
    else if (!is_pause && llabs(step_ns) > STAMPS_SHORT_NS)
        return judge_jump(stamps, stream, key_ns, &next);
    return GOOD;
}

/*
 * Returns where the first packet should be by those behind it, which may follow on from another place; key_ns if most of them follow
 * on from the first one.
 */
static int64_t first_by_majority(const struct stamped_stream *stream, const struct next_stamps *next, int64_t key_ns)
{
    const int64_t last_ns = next->count ? next->key_ns[next->count - 1] - next->count * stamped_usual_ns(stream) : key_ns;
    int majority = -1;
    for (int i = 0; i < next->count; i++) {
        const int64_t seen_ns = next->key_ns[i] - (i + 1) * stamped_usual_ns(stream);
        majority += llabs(seen_ns - last_ns) <= stamped_odd_ns(stream);
        majority -= llabs(seen_ns - key_ns) <= stamped_odd_ns(stream);
    }
    return majority > 0 ? last_ns : key_ns;
}

/* Returns the offset of the known part of the film in which a first packet lies that is near this film time. */
static int64_t offset_at(const struct time_stamps *stamps, int64_t film_near_ns, int64_t file_key_ns)
{
    int64_t best_ns = time_stamps_file_ns(stamps, film_near_ns) - film_near_ns;
    int64_t best_distance_ns = INT64_MAX;
    for (int i = 0; i < stamps->jump_count; i++) {
        const int64_t film_ns = file_key_ns - stamps->jumps[i].offset_ns;
        const int64_t least_ns = i ? stamps->jumps[i].film_ns - STAMPS_SHORT_NS : INT64_MIN;
        const int64_t most_ns = i + 1 < stamps->jump_count ? stamps->jumps[i + 1].film_ns + STAMPS_SHORT_NS : INT64_MAX;
        const int64_t distance_ns = llabs(film_ns - film_near_ns);
        if (film_ns < least_ns || film_ns > most_ns || distance_ns >= best_distance_ns)
            continue;
        best_distance_ns = distance_ns;
        best_ns = stamps->jumps[i].offset_ns;
    }
    return best_ns;
}

/* Returns the film time of the first packet behind a seek, and sets the offset. */
static int64_t place_behind_seek(struct time_stamps *stamps, struct stamped_stream *stream, int64_t file_key_ns)
{
    const struct stamped_stream *const other = other_of(stamps, stream);
    stream->offset_ns = other->expected_ns != NS_UNKNOWN ? other->offset_ns : offset_at(stamps, stamps->start_ns, file_key_ns);
    return file_key_ns - stream->offset_ns;
}

/*
 * Returns the film time of the first packet of a stream, and sets the offset. beside_ns is where the other stream is, in the file's
 * time. The earlier one of the first two packets belongs to the beginning, and the other one is not far from it.
 */
static int64_t place_at_start(struct time_stamps *stamps, struct stamped_stream *stream, int64_t file_key_ns, int64_t beside_ns)
{
    const struct stamped_stream *const other = other_of(stamps, stream);
    const bool is_second = other->expected_ns != NS_UNKNOWN;
    const int64_t earliest_ns = file_key_ns < beside_ns ? file_key_ns : beside_ns;
    stream->offset_ns = is_second ? offset_at(stamps, other->expected_ns, file_key_ns) : 0;
    const int64_t before_ns = stamps->start_ns - earliest_ns;
    if (!is_second && (before_ns > stamped_reorder_ns(stream) || before_ns < -STAMPS_SHORT_NS))
        jump_to(stamps, stream, earliest_ns, stamps->start_ns);
    const int64_t apart_ns = is_second ? file_key_ns - stream->offset_ns - other->expected_ns : file_key_ns - earliest_ns;
    if (llabs(apart_ns) > FIRST_APART_NS)
        jump_to(stamps, stream, file_key_ns, file_key_ns - apart_ns - stream->offset_ns);
    return file_key_ns - stream->offset_ns;
}

/*
 * Returns where the other stream is, in the file's time; NS_UNKNOWN: more packets are needed. Of its first packets, one that is where
 * this stream is says more than others.
 */
static int64_t beside(struct time_stamps *stamps, const struct stamped_stream *stream, int64_t key_ns, bool is_last)
{
    const struct stamped_stream *const other = other_of(stamps, stream);
    if (other->expected_ns != NS_UNKNOWN)
        return other->expected_ns + other->offset_ns;
    const struct next_stamps next = next_of(stamps, is_sound(stamps, stream) ? READ_VIDEO : READ_SOUND);
    if (!other->facts.is_there || (!next.count && is_last))
        return key_ns;
    if (stamped_goes_on(other, &next, key_ns - stamped_usual_ns(other), STAMPS_SHORT_NS))
        return key_ns;
    return next.count == STAMPS_AHEAD || is_last ? next.key_ns[0] : NS_UNKNOWN;
}

static enum judgement judge_first(struct time_stamps *stamps, struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    const int64_t key_ns = stamp_key_ns(file);
    if (stamps->sought) {
        stream->expected_ns = place_behind_seek(stamps, stream, key_ns);
        return GOOD;
    }
    const struct next_stamps next = next_of(stamps, file->stream);
    const int64_t beside_ns = beside(stamps, stream, key_ns, is_last);
    const bool is_dense = stamped_usual_ns(stream) < STAMPS_SHORT_NS;
    if (beside_ns == NS_UNKNOWN || (is_dense && next.count < STAMPS_AHEAD && !is_last))
        return UNDECIDED;
    const bool is_apart = llabs(key_ns - beside_ns) > STAMPS_SHORT_NS;
    int64_t right_ns = is_apart ? stamped_seen_from(stream, &next, beside_ns, STAMPS_SHORT_NS) : NS_UNKNOWN;
    if (right_ns == NS_UNKNOWN)
        right_ns = is_dense ? first_by_majority(stream, &next, key_ns) : key_ns;
    stream->expected_ns = place_at_start(stamps, stream, right_ns, beside_ns);
    return right_ns == key_ns ? GOOD : DAMAGED;
}

static enum judgement judge(struct time_stamps *stamps, struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    if (stamp_key_ns(file) == NS_UNKNOWN || file->is_cut)
        return GOOD;
    if (stream->expected_ns == NS_UNKNOWN)
        return judge_first(stamps, stream, file, is_last);
    if (stamped_is_same(stream, file) && stream->same_keys + 1 >= STAMPS_FEW_REGULAR)
        return DAMAGED; /* the stamps stand still */
    if (stamped_fits(stream, file))
        return stamped_has_odd_length(stream, file) && !is_last && !next_of(stamps, file->stream).count ? UNDECIDED : GOOD;
    return judge_step(stamps, stream, file, is_last);
}

void time_stamps_init(struct time_stamps *stamps, const struct stamped_facts facts[READ_STREAMS], int64_t start_ns)
{
    *stamps = (struct time_stamps){.jump_count = 1, .begin_ns = start_ns};
    for (int i = 0; i < READ_STREAMS; i++)
        stamps->streams[i].facts = facts[i];
    time_stamps_seek(stamps, start_ns);
}

int64_t time_stamps_file_ns(const struct time_stamps *stamps, int64_t film_ns)
{
    int place = stamps->jump_count - 1;
    while (place > 0 && stamps->jumps[place].film_ns > film_ns)
        place--;
    return film_ns + stamps->jumps[place].offset_ns;
}

void time_stamps_seek(struct time_stamps *stamps, int64_t film_ns)
{
    stamps->first = stamps->count = 0;
    stamps->start_ns = film_ns;
    stamps->sought = film_ns > stamps->begin_ns;
    if (!stamps->sought)
        stamps->jump_count = 1;
    for (int i = 0; i < READ_STREAMS; i++)
        stamps->streams[i] = (struct stamped_stream){
            .facts = stamps->streams[i].facts, .expected_ns = NS_UNKNOWN, .last_ns = NS_UNKNOWN, .beside_ns = NS_UNKNOWN,
            .file_key_ns = NS_UNKNOWN};
}

void time_stamps_put(struct time_stamps *stamps, const struct stamp *file)
{
    stamps->window[(stamps->first + stamps->count++) % TIME_STAMPS_WINDOW] = *file;
}

bool time_stamps_take(struct time_stamps *stamps, bool at_end, struct checked_stamp *checked)
{
    if (!stamps->count)
        return false;
    const struct stamp *const file = &stamps->window[stamps->first];
    struct stamped_stream *const stream = &stamps->streams[file->stream];
    const enum judgement judgement = judge(stamps, stream, file, at_end || stamps->count == TIME_STAMPS_WINDOW);
    if (judgement == UNDECIDED)
        return false;
    const bool is_damaged = judgement == DAMAGED;
    const bool is_last = !next_of(stamps, file->stream).count;
    *checked = (struct checked_stamp){stamped_film(stream, file, is_damaged, is_last), stream->offset_ns};
    if (!file->is_cut)
        stamped_learn(stream, file, &checked->film, is_damaged, other_of(stamps, stream)->expected_ns);
    stamps->first = (stamps->first + 1) % TIME_STAMPS_WINDOW;
    stamps->count--;
    return true;
}
