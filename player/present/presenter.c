/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "presenter.h"

#include "log.h"

#include <dlex/dlex.h>
#include <libavutil/avutil.h>

void presenter_init(struct presenter *presenter, struct session *session, struct steering *steering)
{
    *presenter = (struct presenter){.session = session, .steering = steering};
}

/*
 * The row of a picture. A second picture of one packet gets a row of its own, and so does one that the decoder cannot
 * tell the packet of.
 */
static struct frame_row *row_of(struct session *session, struct frame_row *row)
{
    if (row && !row->out && row->segment >= session->clock_segment)
        return row;
    struct frame_row *fresh = frame_log_append(session->log);
    if (!fresh)
        fresh = &session->spare_row;
    *fresh = row ? *row : (struct frame_row){.record = frame_record_empty()};
    fresh->segment = session->clock_segment;
    fresh->record.size_bytes = 0;
    fresh->record.decode_cpu_ns = 0;
    fresh->record.verdict = VERDICT_NONE;
    return fresh;
}

static int64_t duration_ns(const struct session *session, const AVFrame *picture)
{
    const int64_t own_ns = picture->duration > 0 ? clip_pts_ns(session->clip.video, picture->duration) : 0;
    return own_ns > 0 ? own_ns : session->frame_duration_ns;
}

/*
 * The time stamps jump here. Sound that plays jumps too and leads the clock; without it the clock is moved, so that this
 * picture is due when the next one would have been.
 */
static void follow_jump(struct session *session, int64_t pts_ns)
{
    session->from_ns = INT64_MIN;
    session->jumped = session_sound_plays(session);
    if (session->jumped || session->next_pts_ns == FIELD_EMPTY)
        return;
    const int64_t now_ns = dlex_now_ns();
    sync_observe(&session->sync, sync_media_ns(&session->sync, now_ns) + pts_ns - session->next_pts_ns, now_ns);
}

static void describe(struct session *session, const AVFrame *picture, struct frame_row *row)
{
    int64_t pts_ns = clip_pts_ns(session->clip.video, picture->best_effort_timestamp);
    if (pts_ns == AV_NOPTS_VALUE)
        pts_ns = session->next_pts_ns != FIELD_EMPTY ? session->next_pts_ns : session->first_pts_ns;
    if (row->segment != session->clock_segment)
        follow_jump(session, pts_ns);
    session->clock_segment = row->segment;
    row->out = true;
    row->interlaced = picture->flags & AV_FRAME_FLAG_INTERLACED;
    row->record.pts_ns = pts_ns;
    row->record.type = av_get_picture_type_char(picture->pict_type);
    row->record.droppable = (picture->flags & AV_FRAME_FLAG_DROPPABLE) != 0;
    session->next_pts_ns = pts_ns + duration_ns(session, picture);
}

/*
 * The clock runs from the first picture on; without sound it starts at that picture. That one is drawn before: opening
 * the window takes as long as some pictures last, and sound that plays meanwhile would be ahead from the beginning.
 */
static void begin_with(struct presenter *presenter, const AVFrame *picture, int64_t pts_ns)
{
    struct session *const session = presenter->session;
    if (session->started)
        return;
    video_sink_show(*session->setup->screen, picture); /* if it fails, so does the next */
    if (!session->audio)
        sync_init(&session->sync, pts_ns, session->sync.untimed);
    steering_start_clock(presenter->steering);
}

/* A picture that began before the start of the part is due at that start. */
static int64_t due_pts_ns(const struct session *session, const struct frame_record *record)
{
    return record->pts_ns > session->from_ns ? record->pts_ns : session->from_ns;
}

static void show(struct presenter *presenter, const AVFrame *picture, struct frame_record *record)
{
    struct session *const session = presenter->session;
    const int ret = video_sink_show(*session->setup->screen, picture);
    if (ret < 0 && !presenter->show_failed) {
        log_error("a picture cannot be shown: %s", video_sink_error(*session->setup->screen));
        presenter->show_failed = true;
    }
    record->shown_ns = dlex_now_ns();
    if (!session->sync.untimed) {
        record->skew_ns = sync_skew_ns(&session->sync, due_pts_ns(session, record), record->shown_ns);
        session->last_skew_ns = record->skew_ns;
    }
    record->verdict = VERDICT_SHOWN;
    session->totals.shown++;
    session->pictured = true;
    if (session->setup->framemd5)
        framemd5_add(session->setup->framemd5, picture, record->pts_ns);
}

static void note_abandoned(struct session *session, struct frame_record *record)
{
    if (record->verdict == VERDICT_SKIPPED)
        session->totals.skipped++;
    else
        session->totals.aborted++;
    if (record->verdict == VERDICT_NONE) /* a second picture of one packet has a row of its own */
        record->verdict = VERDICT_ABORTED;
    policy_note_abandoned(&session->policy);
}

static bool is_late(struct presenter *presenter, const AVFrame *picture, const struct frame_row *row)
{
    struct session *const session = presenter->session;
    const struct policy_order order = {.give_up = row->give_up};
    const bool could_be_abandoned = decoder_has_gate(session->decoder) && (picture->flags & AV_FRAME_FLAG_DROPPABLE);
    const int64_t skew_ns = sync_skew_ns(&session->sync, due_pts_ns(session, &row->record), dlex_now_ns());
    return !policy_presents(&session->policy, &order, skew_ns, session->frame_duration_ns, !could_be_abandoned);
}

static void present(struct presenter *presenter, const AVFrame *picture, struct frame_row *row)
{
    struct session *const session = presenter->session;
    struct frame_record *const record = &row->record;
    if (picture->flags & AV_FRAME_FLAG_ABANDONED) {
        note_abandoned(session, record);
        return;
    }
    const int64_t due_ns = due_pts_ns(session, record);
    begin_with(presenter, picture, due_ns);
    if (session->pictured || !session->paused) /* a seek shows its first picture in a pause, too */
        steering_wait_until(presenter->steering, due_ns);
    if (steering_is_asked(presenter->steering))
        return; /* verdict none: what came was no longer wanted */
    if (is_late(presenter, picture, row)) {
        record->verdict = VERDICT_LATE;
        session->totals.late++;
        return;
    }
    show(presenter, picture, record);
}

void presenter_show_all(struct presenter *presenter)
{
    struct session *const session = presenter->session;
    const AVFrame *picture;
    struct frame_row *row;
    while (!steering_is_asked(presenter->steering) && (picture = decoder_take(session->decoder, &row))) {
        row = row_of(session, row);
        describe(session, picture, row);
        row->unwanted = session_is_before_start(session, row->record.pts_ns, duration_ns(session, picture)) ||
                        row->record.pts_ns >= session->end_ns;
        if (row->unwanted)
            row->record.verdict = VERDICT_NONE;
        else
            present(presenter, picture, row);
    }
}
