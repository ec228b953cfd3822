/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "time_stamps.h"

#include "ns.h"
#include "stamp_gaps.h"

#include <stdlib.h>

/* Behind a jump, a stream is in line with the other one if it is so near. Parts of a recording do not end at the same time. */
static const int64_t IN_LINE_NS = 2 * NS_PER_S;
/* The first packets of both streams may be so far apart. */
static const int64_t FIRST_APART_NS = 2 * NS_PER_S;

enum judgement { GOOD, AHEAD, DAMAGED, UNDECIDED }; /* AHEAD: good, and so is a PTS far ahead */

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

static enum judgement judge_jump(struct time_stamps *stamps, struct stamped_stream *stream, int64_t key_ns, const struct next_stamps *next)
{
    const int64_t film_ns = key_ns - stream->offset_ns;
    const struct beside beside = {stream->beside_ns, stamps_other(stamps, stream)->expected_ns};
    if (film_ns > stream->expected_ns &&
        gap_is_played(stamps, stream, stream->expected_ns, film_ns, beside, stamped_regular_around(stream, next)))
        return GOOD;
    if (!next->count)
        return DAMAGED; /* the last one */
    jump_to(stamps, stream, key_ns, stream->expected_ns);
    return GOOD;
}

/* Returns whether the film goes on until a PTS, of which the packets that wait say nothing because there are few. */
static bool film_reaches(struct time_stamps *stamps, const struct stamped_stream *stream, int64_t film_ns)
{
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    /* Some headers leave out the last picture. */
    if (!stamps->at_end || (stream->facts.end_ns != NS_UNKNOWN && film_ns < stream->facts.end_ns + stream->step_ns + 1))
        return true;
    return other->expected_ns != NS_UNKNOWN && film_ns < stamps_reach(stamps, other, stamps->count);
}

/* Judges a PTS that is far ahead: it is right if the packets behind it get there soon, and then not by a jump of the time stamps. */
static enum judgement judge_ahead(struct time_stamps *stamps, const struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    const struct next_stamps next = stamps_next(stamps, file->stream);
    const int64_t pts_ns = file->pts_ns - stream->offset_ns;
    int64_t before_ns = stream->expected_ns;
    for (int i = 0; i < next.count; i++) {
        const int64_t film_ns = next.key_ns[i] - stream->offset_ns;
        if (next.is_dts[i] && film_ns >= pts_ns - stamped_odd_ns(stream)) {
            const struct beside beside = {
                i ? stamps_reach(stamps, other, stamps_place_of_next(stamps, file->stream, i - 1)) : other->expected_ns,
                stamps_reach(stamps, other, stamps_place_of_next(stamps, file->stream, i)),
            };
            return gap_is_played(stamps, stream, before_ns, film_ns < pts_ns ? film_ns : pts_ns, beside, stream->regular) ? AHEAD : GOOD;
        }
        before_ns = next.is_dts[i] && film_ns > before_ns ? film_ns : before_ns;
    }
    if (next.count < STAMPS_AHEAD && !is_last)
        return UNDECIDED;
    if (stamped_pts_lead(stream, file, &next))
        return AHEAD;
    const bool is_known = file->dts_ns == NS_UNKNOWN || next.count == STAMPS_AHEAD;
    return !is_known && film_reaches(stamps, stream, pts_ns) ? AHEAD : GOOD;
}

/* Judges a stamp that does not follow the ones before it. */
static enum judgement judge_step(struct time_stamps *stamps, struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    const int64_t key_ns = stamp_key_ns(file);
    const int64_t step_ns = key_ns - stream->offset_ns - stream->expected_ns;
    const struct next_stamps next = stamps_next(stamps, file->stream);
    if ((step_ns < 0 || stamped_go_back(&next, key_ns)) &&
        stamped_goes_on(stream, &next, stream->expected_ns + stream->offset_ns, stamped_odd_ns(stream)))
        return DAMAGED;
    if (next.count < STAMPS_AHEAD && !is_last)
        return UNDECIDED;
    if (stream->regular >= STAMPS_REGULAR && stamped_stand_still(&next, key_ns))
        return DAMAGED;
    if (is_in_line(stream, other, key_ns))
        stream->offset_ns = other->offset_ns;
    else if (llabs(step_ns) > STAMPS_SHORT_NS)
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
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    stream->offset_ns = other->expected_ns != NS_UNKNOWN ? other->offset_ns : offset_at(stamps, stamps->start_ns, file_key_ns);
    return file_key_ns - stream->offset_ns;
}

/*
 * Returns the film time of the first packet of a stream, and sets the offset. beside_ns is where the other stream is, in the file's
 * time. The earlier one of the first two packets belongs to the beginning, and the other one is not far from it.
 */
static int64_t place_at_start(struct time_stamps *stamps, struct stamped_stream *stream, int64_t file_key_ns, int64_t beside_ns)
{
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    const bool is_second = other->expected_ns != NS_UNKNOWN;
    const int64_t earliest_ns = file_key_ns < beside_ns ? file_key_ns : beside_ns;
    stream->offset_ns = is_second ? offset_at(stamps, other->expected_ns, file_key_ns) : 0;
    const int64_t before_ns = stamps->start_ns - earliest_ns;
    if (!is_second && (before_ns > stamped_reorder_ns(stream) || before_ns < -STAMPS_SHORT_NS))
        jump_to(stamps, stream, earliest_ns, stamps->start_ns);
    const int64_t apart_ns = is_second ? stamped_apart_ns(other, file_key_ns - stream->offset_ns) : file_key_ns - earliest_ns;
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
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    if (other->expected_ns != NS_UNKNOWN)
        return other->expected_ns + other->offset_ns;
    const struct next_stamps next = stamps_next(stamps, stamps_is_sound(stamps, stream) ? READ_VIDEO : READ_SOUND);
    if (!other->facts.is_there || (!next.count && is_last))
        return key_ns;
    if (stamped_goes_on(other, &next, key_ns - stamped_usual_ns(other), STAMPS_SHORT_NS))
        return key_ns;
    return next.count == STAMPS_AHEAD || is_last ? next.key_ns[0] : NS_UNKNOWN;
}

/* Returns whether a first packet, which is where the other stream begins, is damaged because the next ones are elsewhere. */
static bool begins_by_jump(struct time_stamps *stamps, const struct stamped_stream *stream, const struct stamp *file, int64_t right_ns)
{
    const int64_t back_ns = stamp_key_ns(file) - right_ns;
    if (back_ns >= 0)
        return file->dts_ns != NS_UNKNOWN || back_ns > stamped_reorder_ns(stream);
    if (file->dts_ns != NS_UNKNOWN && file->pts_ns != NS_UNKNOWN && file->pts_ns - file->dts_ns > stamped_reorder_ns(stream))
        return true;
    /* Otherwise it may be a still picture, beside which the other stream goes on. */
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    const struct next_stamps beside = stamps_next(stamps, stamps_is_sound(stamps, stream) ? READ_VIDEO : READ_SOUND);
    if (!other->facts.is_there)
        return stream->facts.may_jump || back_ns < -STAMPS_VERY_LONG_NS;
    return beside.count >= STAMPS_FEW_REGULAR && beside.key_ns[beside.count / 2] > right_ns - STAMPS_SHORT_NS;
}

static enum judgement judge_first(struct time_stamps *stamps, struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    const int64_t key_ns = stamp_key_ns(file);
    if (stamps->sought) {
        stream->expected_ns = place_behind_seek(stamps, stream, key_ns);
        return GOOD;
    }
    const struct next_stamps next = stamps_next(stamps, file->stream);
    const int64_t beside_ns = beside(stamps, stream, key_ns, is_last);
    const bool is_dense = stamped_usual_ns(stream) < STAMPS_SHORT_NS;
    if (beside_ns == NS_UNKNOWN || (is_dense && next.count < STAMPS_AHEAD && !is_last))
        return UNDECIDED;
    const bool is_apart = llabs(key_ns - beside_ns) > STAMPS_SHORT_NS;
    int64_t right_ns = is_apart ? stamped_seen_from(stream, &next, beside_ns, STAMPS_SHORT_NS) : NS_UNKNOWN;
    if (right_ns == NS_UNKNOWN)
        right_ns = is_dense ? first_by_majority(stream, &next, key_ns) : key_ns;
    if (!is_apart && !begins_by_jump(stamps, stream, file, right_ns))
        right_ns = key_ns;
    stream->expected_ns = place_at_start(stamps, stream, right_ns, beside_ns);
    return right_ns == key_ns ? GOOD : DAMAGED;
}

/* Judges the stamp by which packets are compared. */
static enum judgement judge_key(struct time_stamps *stamps, struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    if (stream->expected_ns == NS_UNKNOWN)
        return judge_first(stamps, stream, file, is_last);
    if (stamped_is_same(stream, file) && stream->same_keys + 1 >= STAMPS_FEW_REGULAR)
        return DAMAGED; /* the stamps stand still */
    if (stamped_fits(stream, file))
        return GOOD;
    const enum judgement ahead =
        file->dts_ns == NS_UNKNOWN && stamped_ahead_ns(stream, file) ? judge_ahead(stamps, stream, file, is_last) : GOOD;
    return ahead == GOOD ? judge_step(stamps, stream, file, is_last) : ahead;
}

static enum judgement judge(struct time_stamps *stamps, struct stamped_stream *stream, const struct stamp *file, bool is_last)
{
    if (stamp_key_ns(file) == NS_UNKNOWN || file->is_cut)
        return GOOD;
    const enum judgement judgement = judge_key(stamps, stream, file, is_last);
    if (judgement == GOOD && file->dts_ns != NS_UNKNOWN && stamped_ahead_ns(stream, file))
        return judge_ahead(stamps, stream, file, is_last);
    return judgement;
}

/* Returns whether an odd length is that of a packet which really lasts so. */
static bool lasts_so(struct time_stamps *stamps, const struct stamped_stream *stream, const struct stamp *file)
{
    const struct next_stamps next = stamps_next(stamps, file->stream);
    const int64_t key_ns = stamp_key_ns(file);
    const int64_t usual_ns = stamped_usual_ns(stream);
    if (!next.count)
        return file->duration_ns < STAMPS_LONG_NS || !stamps->at_end;
    if (file->duration_ns < usual_ns)
        return !stamped_stand_still(&next, key_ns) && !stamped_go_back(&next, key_ns);
    const struct stamped_stream *const other = stamps_other(stamps, stream);
    const struct beside beside = {other->expected_ns, stamps_reach(stamps, other, stamps_place_of_next(stamps, file->stream, 0))};
    const int64_t film_ns = key_ns - stream->offset_ns;
    return gap_is_played(stamps, stream, film_ns + usual_ns, film_ns + file->duration_ns, beside, stream->regular);
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
            .facts = stamps->streams[i].facts, .expected_ns = NS_UNKNOWN, .first_ns = NS_UNKNOWN, .last_ns = NS_UNKNOWN,
            .beside_ns = NS_UNKNOWN, .file_key_ns = NS_UNKNOWN};
}

void time_stamps_put(struct time_stamps *stamps, const struct stamp *file)
{
    stamps->window[(stamps->first + stamps->count++) % TIME_STAMPS_WINDOW] = *file;
}

bool time_stamps_take(struct time_stamps *stamps, bool at_end, struct checked_stamp *checked)
{
    if (!stamps->count)
        return false;
    stamps->at_end = at_end;
    const bool is_last = at_end || stamps->count == TIME_STAMPS_WINDOW;
    const struct stamp *const file = &stamps->window[stamps->first];
    struct stamped_stream *const stream = &stamps->streams[file->stream];
    const enum judgement judgement = judge(stamps, stream, file, is_last);
    const bool is_odd = stamp_key_ns(file) != NS_UNKNOWN && stamped_has_odd_length(stream, file);
    if (judgement == UNDECIDED || (is_odd && !is_last && !stamps_next(stamps, file->stream).count))
        return false;
    const struct stamp_verdict verdict = {judgement == DAMAGED, judgement == AHEAD, is_odd && lasts_so(stamps, stream, file)};
    *checked = (struct checked_stamp){stamped_film(stream, file, verdict), stream->offset_ns};
    /* A PTS alone that is far ahead says nothing about the next packet. */
    if (!file->is_cut && (judgement != AHEAD || file->dts_ns != NS_UNKNOWN))
        stamped_learn(stream, file, &checked->film, verdict.is_damaged, stamps_other(stamps, stream)->expected_ns);
    stamps->first = (stamps->first + 1) % TIME_STAMPS_WINDOW;
    stamps->count--;
    return true;
}
