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

/* A machine's threads go on to the next thing that happens, or to until_ns. The presenter must have settled. */
static void step_machine(struct playing *playing, int64_t until_ns)
{
    const struct playing_setting *const setting = playing->setting;
    const bool presents = sim_presenter_works(playing);
    const int64_t presented_ns = playing->now_ns + playing->work_ns;
    const int64_t begun_ns = playing->now_ns;
    if (presents && presented_ns < until_ns)
        until_ns = presented_ns;
    codec_work_run(&playing->codec, &setting->codec_order, &setting->machine, presents, &playing->now_ns, until_ns);
    if (!presents)
        return;
    playing->work_ns -= playing->now_ns - begun_ns;
    playing->presenting_all_cpu_ns += playing->now_ns - begun_ns;
}

/* Lets a machine's threads go on to the next thing that happens: also in the presenter. */
static void go_on(struct playing *playing, int64_t until_ns)
{
    const int64_t wake_ns = playing->setting->queue ? sim_presenter_settle(playing) : INT64_MAX;
    step_machine(playing, wake_ns < until_ns ? wake_ns : until_ns);
    if (playing->setting->queue)
        sim_presenter_settle(playing);
}

static void go_on_until(struct playing *playing, int64_t until_ns)
{
    while (playing->now_ns < until_ns)
        go_on(playing, until_ns);
}

static bool has_machine(const struct playing *playing)
{
    return playing->setting->machine.cpus > 0;
}

/* The decode thread has slept until the picture of this packet was decoded. */
static void wait_for_slice(struct playing *playing, int packet)
{
    const struct playing_setting *const setting = playing->setting;
    const int running = codec_work_running(&playing->codec, &setting->codec_order);
    go_on_until(playing, playing->now_ns + fair_wait_ns(&setting->machine, running, 2 * (uint64_t)packet + 1));
}

void playing_submit(struct playing *playing, const struct codec_job *job)
{
    codec_work_add(&playing->codec, job);
}

static enum picture_fate fate_of(const struct codec_job *job)
{
    if (job->is_aborted || job->is_refused)
        return job->is_aborted ? FATE_ABORTED : FATE_SKIPPED;
    return job->is_unwanted ? FATE_UNWANTED : FATE_DECODED;
}

bool playing_take_decoded(struct playing *playing, bool all, bool is_starting, struct codec_job *job)
{
    const int most = all ? 0 : playing->setting->threads - 1;
    if (playing->codec.count <= most)
        return false;
    const bool sleeps = !codec_work_first_ended(&playing->codec);
    while (!codec_work_first_ended(&playing->codec))
        go_on(playing, INT64_MAX);
    if (sleeps)
        wait_for_slice(playing, playing->codec.jobs[0].packet);
    *job = codec_work_take(&playing->codec);
    playing_take_in(playing, job->packet, fate_of(job), is_starting);
    return true;
}

/* One thread decodes. With several, the decode thread has hardly anything to do itself. */
static int64_t decode_on_machine(struct playing *playing, int64_t cpu_ns, int64_t until_ns)
{
    if (playing->setting->threads > 1) {
        go_on_until(playing, playing->now_ns + cpu_ns);
        return cpu_ns;
    }
    const int64_t before_ns = playing->codec.received_ns;
    struct codec_job job = {.reference = -1, .is_droppable = true, .cost_ns = cpu_ns, .deadline_ns = until_ns};
    codec_work_add(&playing->codec, &job);
    while (cpu_ns > 0 && !codec_work_first_ended(&playing->codec))
        go_on(playing, INT64_MAX);
    codec_work_take(&playing->codec);
    return playing->codec.received_ns - before_ns;
}

int64_t playing_decode(struct playing *playing, int64_t cpu_ns, int64_t until_ns)
{
    if (has_machine(playing))
        return decode_on_machine(playing, cpu_ns, until_ns);
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
    if (has_machine(playing))
        step_machine(playing, sim_presenter_works(playing) ? INT64_MAX : playing->wake_ns);
    else if (sim_presenter_works(playing))
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
    struct codec_job job;
    while (playing_take_decoded(playing, true, playing->job_is_starting, &job))
        ;
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
