/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim_presenter.h"

#include "ns.h"

#include <assert.h>

enum { PRESENTING_AVERAGED = 8 }; /* as in presenter.c */
static const int64_t head_start_step_ns = 5 * NS_PER_MS;

static int64_t packet_of_next(const struct playing *playing)
{
    return playing->setting->film->packet_at[playing->next];
}

static int64_t skew_of_next_ns(const struct playing *playing)
{
    return playing_media_ns(playing) - sim_film_pts_ns(playing->setting->film, playing->next);
}

/* On a whole machine, the presenter waits for its first slice after a sleep. */
static int64_t slice_wait_ns(const struct playing *playing, enum presenter_phase phase)
{
    const struct playing_setting *const setting = playing->setting;
    if (setting->machine.cpus == 0)
        return 0;
    const int running = codec_work_running(&playing->codec, &setting->codec_order);
    const uint64_t sleep = 2 * (uint64_t)playing->next + (phase == PRESENTER_WAITS);
    return fair_wait_ns(&setting->machine, running, 2 * sleep);
}

static void sleep_until_media(struct playing *playing, enum presenter_phase phase, int64_t before_due_ns)
{
    const int64_t wait_ns = -skew_of_next_ns(playing) - before_due_ns;
    playing->phase = phase;
    playing->wake_ns = playing->now_ns + (wait_ns > 0 ? wait_ns + slice_wait_ns(playing, phase) : 0);
}

static void work(struct playing *playing, enum presenter_phase phase, int64_t cpu_ns)
{
    playing->phase = phase;
    playing->began_ns = playing->now_ns;
    playing->work_ns = cpu_ns;
}

int64_t sim_queue_limit(const struct playing_setting *setting)
{
    return setting->queue > SIM_QUEUE_MIN ? setting->queue : setting->queue ? SIM_QUEUE_MIN : 0;
}

bool sim_queue_is_full(const struct playing *playing)
{
    return playing->waiting >= sim_queue_limit(playing->setting) || playing->out_end - playing->next >= PICTURES_ON_THE_WAY_MAX / 2;
}

static void finish_next(struct playing *playing)
{
    playing->pictures[playing->next % PICTURES_ON_THE_WAY_MAX] = (struct picture_on_the_way){0};
    playing->next++;
    playing->phase = PRESENTER_IDLE;
}

static void drop(struct playing *playing, enum verdict verdict)
{
    struct playing_tally *const tally = &playing->tally;
    tally->aborted += verdict == VERDICT_ABORTED;
    tally->skipped += verdict == VERDICT_SKIPPED;
    tally->late += verdict == VERDICT_LATE;
    tally->rmse_q16 += sim_film_rmse_q16(playing->setting->film, playing->next, tally->last_shown);
    if (playing->rows)
        playing->rows[playing->next].verdict = verdict;
    finish_next(playing);
}

static void drop_late(struct playing *playing)
{
    const int64_t packet = packet_of_next(playing);
    if (playing->setting->film->packets[packet].picture_class == CLASS_DROPPABLE)
        playing->tally.wasted_cpu_ns += playing->setting->cost_ns[packet];
    drop(playing, VERDICT_LATE);
}

static void start_clock(struct playing *playing)
{
    sync_init(&playing->clock, sim_film_pts_ns(playing->setting->film, playing->next), false);
    sync_start(&playing->clock, playing->now_ns);
    sleep_until_media(playing, playing->setting->queue ? PRESENTER_AHEAD : PRESENTER_WAITS, 0);
}

static void take_picture(struct playing *playing)
{
    playing->drawing_ns = 0;
    if (playing->setting->queue)
        playing->waiting--;
    if (!playing->clock.running)
        work(playing, PRESENTER_FIRST_DRAW, playing->setting->draw_cpu_ns + playing->setting->flip_cpu_ns);
    else if (playing->setting->queue)
        sleep_until_media(playing, PRESENTER_AHEAD, playing->setting->draw_ahead_ns);
    else
        sleep_until_media(playing, PRESENTER_WAITS, 0);
}

static void take_next(struct playing *playing)
{
    const enum picture_fate fate = playing->pictures[playing->next % PICTURES_ON_THE_WAY_MAX].fate;
    if (fate == FATE_DECODED || fate == FATE_UNWANTED) {
        take_picture(playing);
        return;
    }
    present_policy_miss(&playing->policy, playing->now_ns);
    drop(playing, fate == FATE_ABORTED ? VERDICT_ABORTED : VERDICT_SKIPPED);
}

/* With a queue, the decoder gets a little ahead before the clock runs. */
static void wait_for_head_start(struct playing *playing)
{
    const struct playing_setting *const setting = playing->setting;
    const int64_t until_ns = playing->began_ns + setting->head_start_max_ns;
    const bool is_ahead = playing->waiting + 1 >= setting->head_start || sim_queue_is_full(playing) || playing->ended;
    if (is_ahead || playing->now_ns >= until_ns) {
        start_clock(playing);
        return;
    }
    playing->phase = PRESENTER_HEAD_START;
    playing->wake_ns = playing->now_ns + head_start_step_ns < until_ns ? playing->now_ns + head_start_step_ns : until_ns;
}

/* It is time to draw ahead, if the picture is not late already. */
static void draw_ahead(struct playing *playing)
{
    if (skew_of_next_ns(playing) > 0)
        sleep_until_media(playing, PRESENTER_WAITS, 0);
    else
        work(playing, PRESENTER_DRAWS, playing->setting->draw_cpu_ns);
}

static int64_t showing_cpu_ns(const struct playing *playing)
{
    const struct playing_setting *const setting = playing->setting;
    return setting->flip_cpu_ns + (playing->drawing_ns ? 0 : setting->draw_cpu_ns);
}

/* Returns whether the picture would be on the screen within the tolerance. */
static bool comes_in_time(const struct playing *playing)
{
    if (playing->setting->machine.cpus > 0) /* it has a CPU for itself */
        return skew_of_next_ns(playing) + showing_cpu_ns(playing) <= playing->setting->tolerance_ns;
    struct cpu_supply supply = playing->setting->presents_apart ? playing->presenting : playing->decoding;
    int64_t at_ns = playing->now_ns;
    cpu_supply_run(&supply, &at_ns, showing_cpu_ns(playing), INT64_MAX);
    return skew_of_next_ns(playing) + (at_ns - playing->now_ns) <= playing->setting->tolerance_ns;
}

static bool is_shown(struct playing *playing)
{
    const struct playing_setting *const setting = playing->setting;
    const int place = playing->next % PICTURES_ON_THE_WAY_MAX;
    const bool is_unwanted = playing->pictures[place].fate == FATE_UNWANTED;
    const struct present_view view = {
        .now_ns = playing->now_ns,
        .skew_ns = skew_of_next_ns(playing),
        .frame_duration = frame_duration_of(setting->film->frame_duration_ns),
        .given_up = is_unwanted,
        .had_to_be_decoded = setting->film->packets[packet_of_next(playing)].picture_class != CLASS_DROPPABLE,
        .waited = setting->queue > 0,
        .is_starting = playing->pictures[place].is_starting,
    };
    if (setting->tolerance_ns >= 0)
        return !is_unwanted && comes_in_time(playing);
    return present_policy_shows(&playing->policy, &view);
}

static void decide_to_show(struct playing *playing)
{
    if (is_shown(playing))
        work(playing, PRESENTER_SHOWS, showing_cpu_ns(playing));
    else
        drop_late(playing);
}

static void average(int64_t *mean_ns, int64_t value_ns)
{
    *mean_ns = *mean_ns ? *mean_ns + (value_ns - *mean_ns) / PRESENTING_AVERAGED : value_ns;
}

static void note_shown(struct playing *playing)
{
    struct playing_tally *const tally = &playing->tally;
    tally->last_shown = playing->next;
    tally->shown++;
    average(&playing->presenting_ns, playing->now_ns - playing->began_ns + playing->drawing_ns);
    average(&playing->presenting_cpu_ns, playing->setting->draw_cpu_ns + playing->setting->flip_cpu_ns);
    if (playing->rows) {
        struct frame_record *const row = &playing->rows[playing->next];
        row->verdict = VERDICT_SHOWN;
        row->shown_ns = playing->now_ns;
        row->skew_ns = skew_of_next_ns(playing);
    }
    finish_next(playing);
}

/* The CPU work of its phase is done. */
static void finish_work(struct playing *playing)
{
    switch (playing->phase) {
    case PRESENTER_FIRST_DRAW:
        playing->began_ns = playing->now_ns;
        if (playing->setting->queue)
            wait_for_head_start(playing);
        else
            start_clock(playing);
        break;
    case PRESENTER_DRAWS:
        playing->drawing_ns = playing->now_ns - playing->began_ns;
        sleep_until_media(playing, PRESENTER_WAITS, 0);
        break;
    case PRESENTER_SHOWS: note_shown(playing); break;
    default: assert(false);
    }
}

static void wake_up(struct playing *playing)
{
    switch (playing->phase) {
    case PRESENTER_HEAD_START: wait_for_head_start(playing); break;
    case PRESENTER_AHEAD: draw_ahead(playing); break;
    case PRESENTER_WAITS: decide_to_show(playing); break;
    default: assert(false);
    }
}

bool sim_presenter_works(const struct playing *playing)
{
    return playing->phase == PRESENTER_FIRST_DRAW || playing->phase == PRESENTER_DRAWS || playing->phase == PRESENTER_SHOWS;
}

int64_t sim_presenter_settle(struct playing *playing)
{
    for (;;) {
        if (sim_presenter_works(playing) && playing->work_ns > 0)
            return INT64_MAX;
        if (sim_presenter_works(playing))
            finish_work(playing);
        else if (playing->phase == PRESENTER_IDLE && playing->next == playing->out_end)
            return INT64_MAX;
        else if (playing->phase == PRESENTER_IDLE)
            take_next(playing);
        else if (playing->wake_ns > playing->now_ns)
            return playing->wake_ns;
        else
            wake_up(playing);
    }
}
