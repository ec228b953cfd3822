/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stamped_stream.h"

#include "ns.h"

#include <stdlib.h>

enum {
    DELAYS_KNOWN = 8,
    REORDER_MAX = 18, /* pictures; H.264 and HEVC hold back 16 */
};

/* A smaller difference needs no judgement: rounding, variable rates. Half a packet is added to it. */
static const int64_t ODD_NS = 200 * NS_PER_MS;
static const int64_t REORDER_MIN_NS = NS_PER_S;
/* No packets follow each other so soon. Programs that write a film raise a stamp by the least that the format knows. */
static const int64_t STILL_NS = 2 * NS_PER_MS;

int64_t stamp_key_ns(const struct stamp *stamp)
{
    return stamp->dts_ns != NS_UNKNOWN ? stamp->dts_ns : stamp->pts_ns;
}

int64_t stamped_usual_ns(const struct stamped_stream *stream)
{
    return stream->regular >= STAMPS_FEW_REGULAR ? stream->step_ns : frame_duration_ns(stream->facts.duration);
}

int64_t stamped_odd_ns(const struct stamped_stream *stream)
{
    return ODD_NS + stamped_usual_ns(stream) / 2;
}

int64_t stamped_reorder_ns(const struct stamped_stream *stream)
{
    const int reorder = stream->facts.reorder > REORDER_MAX ? stream->facts.reorder : REORDER_MAX;
    const int64_t most_ns = reorder * stamped_usual_ns(stream);
    return most_ns > REORDER_MIN_NS ? most_ns : REORDER_MIN_NS;
}

int64_t stamped_apart_ns(const struct stamped_stream *stream, int64_t key_ns)
{
    const int64_t early_ns = key_ns - stream->first_ns;
    const int64_t behind_ns = key_ns - stream->expected_ns;
    return early_ns < 0 ? early_ns : behind_ns > 0 ? behind_ns : 0;
}

static bool is_between(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

/* A packet may also come before the one before it should be over. */
static bool dts_fits(const struct stamped_stream *stream, const struct stamp *file)
{
    const int64_t odd_ns = stamped_odd_ns(stream);
    const int64_t early_ns = stream->expected_ns - odd_ns;
    const int64_t least_ns = stream->had_dts && stream->last_ns < early_ns ? stream->last_ns : early_ns;
    return file->dts_ns != NS_UNKNOWN && is_between(file->dts_ns - stream->offset_ns, least_ns, stream->expected_ns + odd_ns);
}

/* Where DTS are missing, the PTS of B pictures go back. */
static bool pts_fits(const struct stamped_stream *stream, const struct stamp *file)
{
    const int64_t odd = stamped_odd_ns(stream);
    const int64_t back_ns = file->dts_ns == NS_UNKNOWN || !stream->had_dts ? stamped_reorder_ns(stream) : 0;
    return file->pts_ns != NS_UNKNOWN && is_between(file->pts_ns - stream->offset_ns - stream->expected_ns, -odd - back_ns,
                                                    odd + stamped_reorder_ns(stream));
}

bool stamped_fits(const struct stamped_stream *stream, const struct stamp *file)
{
    return dts_fits(stream, file) || pts_fits(stream, file);
}

int64_t stamped_ahead_ns(const struct stamped_stream *stream, const struct stamp *file)
{
    if (file->pts_ns == NS_UNKNOWN || (pts_fits(stream, file) && !dts_fits(stream, file)))
        return 0;
    const int64_t from_ns = file->dts_ns != NS_UNKNOWN ? file->dts_ns : stream->expected_ns + stream->offset_ns;
    const int64_t ahead_ns = file->pts_ns - from_ns - stamped_reorder_ns(stream);
    return ahead_ns > 0 ? ahead_ns : 0;
}

bool stamped_pts_lead(const struct stamped_stream *stream, const struct stamp *file, const struct next_stamps *next)
{
    if (file->dts_ns == NS_UNKNOWN)
        return false;
    if (!next->count) /* the last one: those before it say it */
        return stream->delay_ns > stamped_reorder_ns(stream) && file->pts_ns - stream->offset_ns > stream->last_ns + stream->delay_ns;
    int64_t before_ns = file->pts_ns;
    for (int i = 0; i < next->count; i++) {
        if (next->pts_ns[i] == NS_UNKNOWN || next->pts_ns[i] <= before_ns)
            return false;
        before_ns = next->pts_ns[i];
    }
    const int64_t decoded_ns = next->key_ns[next->count - 1] - file->dts_ns;
    return before_ns - file->pts_ns - decoded_ns > stamped_reorder_ns(stream);
}

int64_t stamped_seen_from(const struct stamped_stream *stream, const struct next_stamps *next, int64_t from_ns, int64_t tolerance_ns)
{
    for (int i = 0; i < next->count; i++) {
        const int64_t seen_ns = next->key_ns[i] - (i + 1) * stamped_usual_ns(stream);
        if (llabs(seen_ns - from_ns) <= tolerance_ns)
            return seen_ns;
    }
    return NS_UNKNOWN;
}

bool stamped_goes_on(const struct stamped_stream *stream, const struct next_stamps *next, int64_t from_ns, int64_t tolerance_ns)
{
    return stamped_seen_from(stream, next, from_ns, tolerance_ns) != NS_UNKNOWN;
}

static bool is_equal_step(int64_t a_ns, int64_t b_ns)
{
    return llabs(a_ns - b_ns) <= 1500 * NS_PER_US + b_ns / 20;
}

int stamped_regular_around(const struct stamped_stream *stream, const struct next_stamps *next)
{
    const int64_t usual = stamped_usual_ns(stream);
    int regular = stream->regular;
    for (int i = 1; i < next->count; i++) {
        const int64_t error_ns = next->key_ns[i] - next->key_ns[0] - i * usual;
        const int64_t step_ns = next->key_ns[i] - next->key_ns[i - 1];
        if (stream->had_dts ? is_equal_step(step_ns, usual) : llabs(error_ns) <= stamped_reorder_ns(stream))
            regular++;
    }
    return regular;
}

bool stamped_stand_still(const struct next_stamps *next, int64_t key_ns)
{
    return next->count >= STAMPS_FEW_REGULAR && llabs(next->key_ns[next->count - 1] - key_ns) < next->count * STILL_NS;
}

bool stamped_go_back(const struct next_stamps *next, int64_t key_ns)
{
    for (int i = 0; i < next->count; i++)
        if (next->key_ns[i] < key_ns)
            return true;
    return false;
}

bool stamped_is_same(const struct stamped_stream *stream, const struct stamp *file)
{
    const bool is_known = stream->regular >= STAMPS_FEW_REGULAR || file->duration_ns <= 0;
    const int64_t length_ns = is_known ? stamped_usual_ns(stream) : file->duration_ns;
    return stamp_key_ns(file) != NS_UNKNOWN && stream->file_key_ns != NS_UNKNOWN &&
           llabs(stamp_key_ns(file) - stream->file_key_ns) < length_ns / 8;
}

bool stamped_has_odd_length(const struct stamped_stream *stream, const struct stamp *file)
{
    const int64_t usual_ns = stamped_usual_ns(stream);
    const int64_t least_ns = usual_ns / (file->stream == READ_SOUND ? 100 : 8); /* Vorbis has packets of 128 and 2048 samples */
    return file->duration_ns > 0 && stream->regular >= STAMPS_FEW_REGULAR &&
           !is_between(file->duration_ns, least_ns, usual_ns + stamped_odd_ns(stream));
}

/* Returns the PTS for this DTS where all pictures have the same delay; otherwise it depends on the picture. */
static int64_t pts_from_dts(const struct stamped_stream *stream, int64_t dts_ns)
{
    return stream->same_delays >= DELAYS_KNOWN ? dts_ns + stream->delay_ns : NS_UNKNOWN;
}

/* Looks at PTS and DTS together. */
static void compare_both(const struct stamped_stream *stream, const struct stamp *file, struct stamp *film, bool is_ahead)
{
    const int64_t delay_ns = film->pts_ns - film->dts_ns;
    if (is_ahead && delay_ns > 0)
        return;
    if (is_between(delay_ns, -stamped_odd_ns(stream) - 4 * stamped_usual_ns(stream), stamped_reorder_ns(stream)))
        return;
    if (!dts_fits(stream, file) && pts_fits(stream, file))
        film->dts_ns = NS_UNKNOWN;
    else
        film->pts_ns = pts_from_dts(stream, film->dts_ns);
}

struct stamp stamped_film(const struct stamped_stream *stream, const struct stamp *file, struct stamp_verdict verdict)
{
    struct stamp film = *file;
    /* A stream without any PTS needs each DTS: see picture_stamps.h. */
    if (stamp_key_ns(file) == NS_UNKNOWN && stream->had_dts && !stream->has_pts)
        film.dts_ns = stream->expected_ns;
    else if (film.dts_ns != NS_UNKNOWN)
        film.dts_ns = verdict.is_damaged ? stream->expected_ns : film.dts_ns - stream->offset_ns;
    if (film.pts_ns != NS_UNKNOWN)
        film.pts_ns = verdict.is_damaged ? pts_from_dts(stream, stream->expected_ns) : film.pts_ns - stream->offset_ns;
    if (film.dts_ns != NS_UNKNOWN && film.pts_ns != NS_UNKNOWN && !file->is_cut)
        compare_both(stream, file, &film, verdict.is_ahead);
    if (!is_between(film.duration_ns, 0, FRAME_DURATION_MAX_NS) || (stamped_has_odd_length(stream, file) && !verdict.lasts_so))
        film.duration_ns = 0;
    return film;
}

static void learn_delay(struct stamped_stream *stream, const struct stamp *film)
{
    if (film->dts_ns == NS_UNKNOWN || film->pts_ns == NS_UNKNOWN)
        return;
    const int64_t delay_ns = film->pts_ns - film->dts_ns;
    stream->same_delays = llabs(delay_ns - stream->delay_ns) <= 2 * NS_PER_MS ? stream->same_delays + 1 : 0;
    stream->delay_ns = delay_ns;
}

/* Counts equal steps. PTS alone step back and forth; they are regular as long as they are near. */
static void learn_step(struct stamped_stream *stream, const struct stamp *film)
{
    const int64_t key_ns = stamp_key_ns(film);
    const int64_t error_ns = key_ns - stream->expected_ns;
    const bool is_pts = film->dts_ns == NS_UNKNOWN;
    const int64_t step_ns = is_pts ? frame_duration_ns(stream->facts.duration) : key_ns - stream->last_ns;
    const bool equals = film->stream == READ_SOUND ? llabs(error_ns) <= 30 * NS_PER_MS
                        : is_pts ? is_between(error_ns, -stamped_reorder_ns(stream), stamped_odd_ns(stream))
                                 : is_equal_step(step_ns, stream->step_ns);
    stream->regular = equals && step_ns > 0 ? stream->regular + 1 : 0;
    stream->step_ns = step_ns;
}

void stamped_learn(struct stamped_stream *stream, const struct stamp *file, const struct stamp *film, bool is_damaged, int64_t beside_ns)
{
    stream->same_keys = stamped_is_same(stream, file) ? stream->same_keys + 1 : 0;
    stream->file_key_ns = stamp_key_ns(file);
    const int64_t known_ns = stamp_key_ns(film);
    if (known_ns == NS_UNKNOWN && stream->expected_ns == NS_UNKNOWN)
        return;
    const bool is_sure = known_ns != NS_UNKNOWN && !is_damaged;
    const int64_t key_ns = is_sure ? known_ns : stream->expected_ns;
    if (is_sure)
        learn_delay(stream, film);
    if (is_sure && stream->last_ns != NS_UNKNOWN)
        learn_step(stream, film);
    /* Without DTS, a B picture is behind the latest one. */
    const int64_t end_ns = key_ns + (film->duration_ns > 0 ? film->duration_ns : stamped_usual_ns(stream));
    const int64_t back_ns = stream->expected_ns - end_ns;
    const bool is_behind = film->dts_ns == NS_UNKNOWN && is_between(back_ns, 0, stamped_reorder_ns(stream));
    stream->expected_ns = is_behind ? stream->expected_ns : end_ns;
    if (stream->last_ns == NS_UNKNOWN || key_ns > stream->last_ns + STAMPS_UNFILLED_NS)
        stream->run_ns = key_ns;
    stream->last_ns = key_ns;
    stream->first_ns = stream->first_ns == NS_UNKNOWN ? key_ns : stream->first_ns;
    stream->has_pts |= file->pts_ns != NS_UNKNOWN;
    stream->had_dts = film->dts_ns != NS_UNKNOWN;
    stream->beside_ns = beside_ns;
}
