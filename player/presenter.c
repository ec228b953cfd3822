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
    if (row && !row->out && row->segment == session->segment)
        return row;
    struct frame_row *fresh = frame_log_append(session->log);
    if (!fresh)
        fresh = &session->spare_row;
    *fresh = row ? *row : (struct frame_row){.record = frame_record_empty()};
    fresh->segment = session->segment;
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

static void describe(struct session *session, const AVFrame *picture, struct frame_row *row)
{
    int64_t pts_ns = clip_pts_ns(session->clip.video, picture->best_effort_timestamp);
    if (pts_ns == AV_NOPTS_VALUE)
        pts_ns = session->next_pts_ns != FIELD_EMPTY ? session->next_pts_ns : session->sync.base_pts_ns;
    row->out = true;
    row->interlaced = picture->flags & AV_FRAME_FLAG_INTERLACED;
    row->record.pts_ns = pts_ns;
    row->record.type = av_get_picture_type_char(picture->pict_type);
    row->record.droppable = (picture->flags & AV_FRAME_FLAG_DROPPABLE) != 0;
    session->next_pts_ns = pts_ns + duration_ns(session, picture);
}

/* The clock runs from the first picture on; without sound it starts at that picture. */
static void begin_with(struct presenter *presenter, int64_t pts_ns)
{
    struct session *const session = presenter->session;
    if (session->started)
        return;
    if (!session->audio)
        sync_init(&session->sync, pts_ns, session->sync.untimed);
    steering_start_clock(presenter->steering);
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
        record->skew_ns = sync_skew_ns(&session->sync, record->pts_ns, record->shown_ns);
        session->last_skew_ns = record->skew_ns;
    }
    record->verdict = VERDICT_SHOWN;
    session->totals.shown++;
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
    const int64_t skew_ns = sync_skew_ns(&session->sync, row->record.pts_ns, dlex_now_ns());
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
    begin_with(presenter, record->pts_ns);
    steering_wait_until(presenter->steering, record->pts_ns);
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
        presenter->pictures++;
        row = row_of(session, row);
        describe(session, picture, row);
        row->unwanted = row->record.pts_ns < session->from_ns || row->record.pts_ns >= session->end_ns;
        if (row->unwanted)
            row->record.verdict = VERDICT_NONE;
        else
            present(presenter, picture, row);
    }
}
