/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "presenter.h"

#include "log.h"
#include "ns.h"
#include "thread_cpu.h"

#include <dlex/dlex.h>

/* Each picture more costs its time at the start. In a simulation of a hard start six of them saved a third of the drops. */
enum { HEAD_START_PICTURES = 6, HEAD_START_MAX_NS = 300 * NS_PER_MS, HEAD_START_STEP_NS = 5 * NS_PER_MS };

/* Drawing a 1080p picture takes 3 to 10 ms of CPU time, and more of real time on a busy machine. */
enum { DRAW_AHEAD_NS = 20 * NS_PER_MS };

void presenter_init(struct presenter *presenter, const struct policy_settings *settings)
{
    present_policy_init(&presenter->policy, settings);
    presenter->presented = (struct presented){.last_skew_ns = NS_UNKNOWN};
    loss_windows_begin(&presenter->presented.windows, &settings->window);
    for (int i = 0; i < PRESENTER_JOBS; i++)
        presenter->jobs[i].number = JOB_UNKNOWN;
}

void presenter_restart(struct presenter *presenter, const struct part *part)
{
    presenter->part = *part;
    presenter->next_ns = presenter->shown_due_ns = NS_UNKNOWN;
    present_policy_restart(&presenter->policy);
    presenter->presented.pictured = false;
    presenter->standing.record = NULL;
}

static struct frame_row *new_row(struct presenter *presenter)
{
    struct frame_row *const row = frame_log_append(presenter->log);
    if (row)
        return row;
    presenter->spare_row = (struct frame_row){.record = frame_record_empty()};
    return &presenter->spare_row;
}

static struct frame_row *row_of_job(const struct presenter *presenter, int64_t number)
{
    const int place = (int)(number % PRESENTER_JOBS);
    return number >= 0 && presenter->jobs[place].number == number ? presenter->jobs[place].row : NULL;
}

static void note_gate(struct presenter *presenter, const struct gate_verdict *gate)
{
    struct frame_row *const row = row_of_job(presenter, gate->number);
    if (!row)
        return;
    row->record.droppable = 1;
    if (gate->verdict != VERDICT_NONE)
        row->record.verdict = gate->verdict;
}

/* No picture comes out of such a packet. */
static void note_passed_over(struct presenter *presenter, struct frame_row *row)
{
    row->out = true;
    row->record.type = '?';
    row->unwanted |= row->record.pts_ns >= presenter->part.end_ns;
    if (row->unwanted)
        return;
    row->record.verdict = VERDICT_SKIPPED;
    presenter->presented.totals.skipped++;
    loss_windows_add(&presenter->presented.windows, true);
    present_policy_miss(&presenter->policy, dlex_now_ns());
}

void presenter_note_job(struct presenter *presenter, const struct job_note *note)
{
    const struct packet_facts *const packet = &note->packet;
    const struct decode_outcome *const outcome = &note->outcome;
    struct frame_row *const row = new_row(presenter);
    const int place = (int)(outcome->number % PRESENTER_JOBS);
    presenter->jobs[place].number = outcome->number;
    presenter->jobs[place].row = row;
    presenter->last_job_is_starting = packet->is_starting;
    row->segment = packet->segment;
    row->unwanted = packet->unwanted;
    row->give_up = packet->given_up;
    row->is_starting = packet->is_starting;
    row->record.size_bytes = packet->size_bytes;
    row->record.pts_ns = packet->pts_ns;
    row->record.decode_start_ns = outcome->start_ns;
    row->record.decode_end_ns = outcome->end_ns;
    row->record.decode_cpu_ns = outcome->cpu_ns;
    if (outcome->deadline_ns != NO_DEADLINE)
        row->record.deadline_ns = outcome->deadline_ns;
    row->record.fired_ns = outcome->fired_ns;
    row->record.droppable = packet->picture_class == CLASS_DROPPABLE;
    if (packet->passed_over) {
        note_passed_over(presenter, row);
        return;
    }
    row->record.degraded = packet->degraded;
    row->record.droppable = 0;
    note_gate(presenter, &outcome->gate);
    if (outcome->error < 0 && outcome->error != AVERROR_EOF)
        presenter->decode_errors++;
}

/* Returns the row of a picture: that of its packet, or a new one if it is not the first of its packet. */
static struct frame_row *row_of_picture(struct presenter *presenter, const struct decoded_picture *picture)
{
    struct frame_row *const row = row_of_job(presenter, picture->number);
    if (row && picture->is_first)
        return row;
    const struct frame_row before = row ? *row : (struct frame_row){.record = frame_record_empty()};
    struct frame_row *const fresh = new_row(presenter);
    *fresh = before;
    fresh->segment = picture->segment;
    fresh->record.size_bytes = 0;
    fresh->record.decode_cpu_ns = 0;
    fresh->record.verdict = VERDICT_NONE;
    fresh->record.stood_ns = FIELD_EMPTY;
    return fresh;
}

/* Adds to the row of a packet what codec threads did with its picture. */
static void note_decode(const struct decoded_picture *picture, struct frame_row *row)
{
    if (!picture->is_first || !picture->decode.is_known)
        return;
    row->record.decode_end_ns = picture->decode.end_ns;
    row->record.decode_cpu_ns = picture->decode.cpu_ns;
    row->record.fired_ns = picture->decode.fired_ns;
    if (picture->decode.verdict != VERDICT_NONE)
        row->record.verdict = picture->decode.verdict;
}

static void describe(struct presenter *presenter, const struct decoded_picture *picture, struct frame_row *row)
{
    note_decode(picture, row);
    presenter->clock->segment = picture->segment; /* published together with the time behind a jump */
    if (picture->place.jumped)
        media_clock_follow_jump(presenter->clock, picture->place.pts_ns, picture->place.jump_ns);
    presenter->next_ns = picture->next_ns;
    row->out = true;
    row->unwanted = picture->place.unwanted;
    row->interlaced = picture->interlaced;
    row->record.pts_ns = picture->place.pts_ns;
    row->record.type = picture->type;
    row->record.droppable = picture->droppable;
}

/*
 * Lets the decode thread get a little ahead before the clock runs. The first pictures are costly, and each of them would
 * be late.
 */
static void wait_for_head_start(struct presenter *presenter)
{
    const int64_t until_ns = dlex_now_ns() + HEAD_START_MAX_NS;
    while (!steering_has_request(presenter->steering) && dlex_now_ns() < until_ns) {
        const struct queue_fill fill = picture_queue_fill(presenter->pictures);
        if (fill.pictures + 1 >= HEAD_START_PICTURES || fill.full || fill.ended)
            return;
        steering_nap(presenter->steering, HEAD_START_STEP_NS);
    }
}

/*
 * Starts the clock with the first picture; without sound the clock starts at that picture's time. The picture is drawn
 * before the clock starts: opening the window takes as long as some pictures last, and sound that played meanwhile
 * would be ahead from the beginning.
 */
static void begin_with(struct presenter *presenter, const AVFrame *frame, int64_t due_ns)
{
    presenter->began_ns = NS_UNKNOWN;
    if (presenter->clock->started)
        return;
    video_sink_show(*presenter->screen, frame); /* if this fails, so does the next call */
    presenter->began_ns = dlex_now_ns();
    if (presenter->pictures && !presenter->clock->sync.untimed)
        wait_for_head_start(presenter);
    media_clock_start_with(presenter->clock, due_ns);
}

static void note_failure(struct presenter *presenter)
{
    if (!presenter->show_failed)
        log_error("a picture cannot be shown: %s", video_sink_error(*presenter->screen));
    presenter->show_failed = true;
}

/* Without a queue the time before a picture is due belongs to the decoder. */
static bool draws_ahead(const struct presenter *presenter)
{
    return presenter->pictures;
}

/* Draws a picture before it is due, so that it only needs to be flipped then. Returns whether it can be flipped. */
static bool draw_ahead(struct presenter *presenter, const struct decoded_picture *picture)
{
    if (presenter->presented.pictured || !presenter->clock->paused) /* a seek shows its first picture even in a pause */
        steering_wait_until(presenter->steering, picture->due_ns - DRAW_AHEAD_NS);
    if (steering_has_request(presenter->steering) || media_clock_skew_ns(presenter->clock, picture->due_ns) > 0)
        return false;
    const int64_t start_ns = dlex_now_ns();
    const int64_t start_cpu_ns = thread_cpu_ns();
    const bool drawn = video_sink_draw(*presenter->screen, picture->frame) == 0; /* if it fails, the next try says so */
    presenter->drawing_ns = dlex_now_ns() - start_ns;
    presenter->drawing_cpu_ns = thread_cpu_ns() - start_cpu_ns;
    presenter->clock->presenting_all_cpu_ns += presenter->drawing_cpu_ns;
    return drawn;
}

enum { PRESENTING_AVERAGED = 8 };

static void average(int64_t *mean_ns, int64_t took_ns)
{
    *mean_ns = *mean_ns ? *mean_ns + (took_ns - *mean_ns) / PRESENTING_AVERAGED : took_ns;
}

/* Presenting a picture took this long, after it may have been drawn ahead. */
static void note_presenting(struct presenter *presenter, int64_t took_ns, int64_t cpu_ns, bool drawn)
{
    struct media_clock *const clock = presenter->clock;
    average(&clock->presenting_ns, took_ns + (drawn ? presenter->drawing_ns : 0));
    average(&clock->presenting_cpu_ns, cpu_ns + (drawn ? presenter->drawing_cpu_ns : 0));
    clock->presenting_all_cpu_ns += cpu_ns;
}

static void learn_division(struct presenter *presenter, int64_t due_ns, int64_t cpu_ns)
{
    const int64_t gap_ns = presenter->shown_due_ns == NS_UNKNOWN ? 0 : due_ns - presenter->shown_due_ns;
    presenter->shown_due_ns = due_ns;
    division_learn(&presenter->division, cpu_ns, gap_ns);
}

/* Notes how long the last shown picture stood until now_ns. */
static void end_standing(struct presenter *presenter, int64_t now_ns)
{
    const struct standing *const standing = &presenter->standing;
    if (!standing->record)
        return;
    const int64_t stood_ns = now_ns - standing->shown_ns - (media_clock_paused_ns(presenter->clock) - standing->paused_ns);
    standing->record->stood_ns = stood_ns > 0 ? stood_ns : 0; /* the two clock readings are not one */
    presenter->standing.record = NULL;
}

void presenter_note_request(struct presenter *presenter)
{
    end_standing(presenter, dlex_now_ns());
}

/* The picture was shown at shown_ns, for which its row may have an earlier time. */
static void begin_standing(struct presenter *presenter, struct frame_record *record, int64_t shown_ns)
{
    end_standing(presenter, shown_ns);
    record->stood_ns = 0;
    presenter->standing = (struct standing){record, shown_ns, media_clock_paused_ns(presenter->clock)};
}

static void show(struct presenter *presenter, const struct decoded_picture *picture, struct frame_record *record, bool drawn)
{
    struct presented *const presented = &presenter->presented;
    struct video_sink *const screen = *presenter->screen;
    const int64_t start_ns = dlex_now_ns();
    const int64_t start_cpu_ns = thread_cpu_ns();
    if ((drawn ? video_sink_flip(screen) : video_sink_show(screen, picture->frame)) < 0)
        note_failure(presenter);
    record->shown_ns = dlex_now_ns();
    picture_ticks_give(presenter->ticks, record->shown_ns);
    const int64_t cpu_ns = thread_cpu_ns() - start_cpu_ns;
    note_presenting(presenter, record->shown_ns - start_ns, cpu_ns, drawn);
    learn_division(presenter, picture->due_ns, cpu_ns + (drawn ? presenter->drawing_cpu_ns : 0));
    if (drawn == draws_ahead(presenter)) /* otherwise it was late already */
        lead_learn(&presenter->lead, record->shown_ns - start_ns);
    if (!presenter->clock->sync.untimed) {
        record->skew_ns = sync_skew_ns(&presenter->clock->sync, picture->due_ns, record->shown_ns);
        presented->last_skew_ns = record->skew_ns;
    }
    const int64_t shown_ns = record->shown_ns;
    if (presenter->began_ns != NS_UNKNOWN)
        record->shown_ns = presenter->began_ns;
    begin_standing(presenter, record, shown_ns);
    record->verdict = VERDICT_SHOWN;
    presented->totals.shown++;
    loss_windows_add(&presented->windows, false);
    presented->pictured = true;
    if (presenter->framemd5)
        framemd5_add(presenter->framemd5, picture->frame, record->pts_ns);
}

static void note_abandoned(struct presenter *presenter, struct frame_record *record)
{
    if (record->verdict == VERDICT_SKIPPED)
        presenter->presented.totals.skipped++;
    else
        presenter->presented.totals.aborted++;
    if (record->verdict == VERDICT_NONE) /* a second picture of one packet has its own row */
        record->verdict = VERDICT_ABORTED;
    loss_windows_add(&presenter->presented.windows, true);
    present_policy_miss(&presenter->policy, dlex_now_ns());
}

static bool is_late(struct presenter *presenter, const struct decoded_picture *picture, const struct frame_row *row)
{
    const struct present_view view = {
        .now_ns = dlex_now_ns(),
        .skew_ns = media_clock_skew_ns(presenter->clock, picture->due_ns),
        .frame_duration = presenter->part.frame_duration,
        .given_up = row->give_up,
        .had_to_be_decoded = !presenter->can_abandon || !picture->droppable,
        .waited = presenter->pictures,
        /* Codec threads have begun with later jobs when a picture comes out. */
        .is_starting = picture->decode.is_known ? row->is_starting : presenter->last_job_is_starting,
    };
    return !present_policy_shows(&presenter->policy, &view);
}

/* A plan that keeps a window must know the losses before its next decision. */
static void note_late(struct presenter *presenter, const struct decoded_picture *picture, struct frame_record *record)
{
    struct late_pictures *const late = &presenter->clock->late;
    record->verdict = VERDICT_LATE;
    presenter->presented.totals.late++;
    loss_windows_add(&presenter->presented.windows, true);
    late->numbers[late->count++ % LATE_PICTURES_MAX] = picture->number;
}

static void present(struct presenter *presenter, const struct decoded_picture *picture, struct frame_row *row)
{
    struct frame_record *const record = &row->record;
    if (picture->abandoned) {
        note_abandoned(presenter, record);
        return;
    }
    begin_with(presenter, picture->frame, picture->due_ns);
    const bool drawn = draws_ahead(presenter) && draw_ahead(presenter, picture);
    if (presenter->presented.pictured || !presenter->clock->paused) /* a seek shows its first picture even in a pause */
        steering_wait_until(presenter->steering, picture->due_ns - presenter->lead.ns);
    if (steering_has_request(presenter->steering))
        return; /* verdict none: the picture is no longer wanted */
    if (is_late(presenter, picture, row)) {
        note_late(presenter, picture, record);
        return;
    }
    show(presenter, picture, record, drawn);
}

void presenter_show(struct presenter *presenter, const struct decoded_picture *picture)
{
    struct frame_row *const row = row_of_picture(presenter, picture);
    describe(presenter, picture, row);
    if (row->unwanted)
        row->record.verdict = VERDICT_NONE;
    else
        present(presenter, picture, row);
}
