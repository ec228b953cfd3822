/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "playing.h"

#include "sim_presenter.h"

#include <assert.h>

struct playing playing_begin(const struct playing_setting *setting)
{
    struct playing playing = {
        .setting = setting,
        .decoding = setting->decoding,
        .presenting = setting->presenting,
        .left_last = -1,
        .tally.last_shown = -1,
    };
    sync_init(&playing.clock, 0, false);
    present_policy_init(&playing.policy, &setting->policy);
    return playing;
}

int64_t playing_media_ns(const struct playing *playing)
{
    return sync_media_ns(&playing->clock, playing->now_ns);
}

/*
 * Both threads want CPU time, each from its own supply. Runs both until one of them has what it wants, or until_ns has come.
 * Returns what the decoder got.
 */
static int64_t run_apart(struct playing *playing, int64_t cpu_ns, int64_t until_ns)
{
    struct cpu_supply trial = playing->decoding;
    int64_t end_ns = playing->now_ns;
    cpu_supply_run(&trial, &end_ns, cpu_ns, until_ns);
    int64_t at_ns = playing->now_ns;
    const int64_t presented_ns = cpu_supply_run(&playing->presenting, &at_ns, playing->work_ns, end_ns);
    playing->work_ns -= presented_ns;
    playing->presenting_all_cpu_ns += presented_ns;
    const int64_t got_ns = cpu_supply_run(&playing->decoding, &playing->now_ns, cpu_ns, at_ns);
    playing->now_ns = at_ns;
    return got_ns;
}

/* The presenter works, and comes first. */
static void run_presenter(struct playing *playing)
{
    struct cpu_supply *const supply = playing->setting->presents_apart ? &playing->presenting : &playing->decoding;
    playing->presenting_all_cpu_ns += cpu_supply_run(supply, &playing->now_ns, playing->work_ns, INT64_MAX);
    playing->work_ns = 0;
}

int64_t playing_decode(struct playing *playing, int64_t cpu_ns, int64_t until_ns)
{
    int64_t got_ns = 0;
    for (;;) {
        const int64_t wake_ns = playing->setting->queue ? sim_presenter_settle(playing) : INT64_MAX;
        const bool presenter_works = playing->setting->queue && sim_presenter_works(playing);
        if (presenter_works && !playing->setting->presents_apart) {
            run_presenter(playing);
            continue;
        }
        if (got_ns == cpu_ns || playing->now_ns >= until_ns)
            return got_ns;
        const int64_t end_ns = wake_ns < until_ns ? wake_ns : until_ns;
        got_ns += presenter_works ? run_apart(playing, cpu_ns - got_ns, end_ns)
                                  : cpu_supply_run(&playing->decoding, &playing->now_ns, cpu_ns - got_ns, end_ns);
    }
}

/* The decode thread sleeps; the presenter takes its next step. It must have something to do. */
static void step_presenter(struct playing *playing)
{
    if (sim_presenter_works(playing))
        run_presenter(playing);
    else
        playing->now_ns = playing->wake_ns;
}

void playing_wait_for_room(struct playing *playing)
{
    if (!playing->setting->queue)
        return;
    sim_presenter_settle(playing);
    while (sim_queue_is_full(playing) && playing->phase != PRESENTER_IDLE) {
        step_presenter(playing);
        sim_presenter_settle(playing);
    }
}

static void present_all(struct playing *playing)
{
    for (sim_presenter_settle(playing); playing->phase != PRESENTER_IDLE; sim_presenter_settle(playing))
        step_presenter(playing);
}

/* The pictures come out in presentation order, but for the leading ones that are passed over. */
static void let_out(struct playing *playing, int place)
{
    const int at = place % PICTURES_ON_THE_WAY_MAX;
    const enum picture_fate fate = playing->pictures[at].fate;
    playing->pictures[at].out = 1;
    playing->pictures[at].is_starting = playing->job_is_starting;
    if (playing->setting->queue)
        playing->waiting += fate == FATE_DECODED || fate == FATE_UNWANTED;
    while (playing->pictures[playing->out_end % PICTURES_ON_THE_WAY_MAX].out)
        playing->out_end++;
    if (!playing->setting->queue)
        present_all(playing);
}

static void let_first_out(struct playing *playing)
{
    const int place = playing->held[0];
    playing->held_count--;
    for (int i = 0; i < playing->held_count; i++)
        playing->held[i] = playing->held[i + 1];
    playing->left_last = place;
    let_out(playing, place);
}

static void note_picture(struct playing *playing, int place, enum picture_fate fate, bool passed_over)
{
    assert(place - playing->next < PICTURES_ON_THE_WAY_MAX);
    playing->pictures[place % PICTURES_ON_THE_WAY_MAX] =
        (struct picture_on_the_way){.fate = fate & 7, .passed_over = passed_over};
}

void playing_take_in(struct playing *playing, int packet, enum picture_fate fate, bool is_starting)
{
    const int place = playing->setting->film->place_of[packet];
    note_picture(playing, place, fate, false);
    playing->job_is_starting = is_starting;
    int at = playing->held_count++;
    for (; at > 0 && playing->held[at - 1] > place; at--)
        playing->held[at] = playing->held[at - 1];
    playing->held[at] = place;
    if (playing->held_count > playing->setting->film->delay)
        let_first_out(playing);
}

void playing_pass_over(struct playing *playing, int packet)
{
    const int place = playing->setting->film->place_of[packet];
    note_picture(playing, place, FATE_SKIPPED, true);
    playing->left_last = -1;
    let_out(playing, place);
}

void playing_drain(struct playing *playing)
{
    while (playing->held_count > 0) {
        playing_wait_for_room(playing);
        let_first_out(playing);
    }
}

void playing_end(struct playing *playing)
{
    playing_drain(playing);
    playing->ended = true;
    present_all(playing);
}
