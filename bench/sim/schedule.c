/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "schedule.h"

#include "key_skip.h"

int schedule_next_key(const struct sim_film *film, int packet)
{
    int key = packet + 1;
    while (key < film->count && film->packets[key].picture_class != CLASS_KEY)
        key++;
    return key;
}

/* Returns whether a key picture is as near as the player's rule wants it. */
static bool key_is_near(const struct sim_film *film, int packet)
{
    const int key = schedule_next_key(film, packet);
    return key < film->count && film->packets[key].due_ns - film->packets[packet].due_ns <= KEY_SKIP_MAX_NS;
}

bool schedule_allows(const struct sim_film *film, int packet, enum step step)
{
    const enum picture_class picture_class = film->packets[packet].picture_class;
    switch (step) {
    case STEP_DECODE: return true;
    case STEP_REFUSE: return packet >= PACKETS_KEPT && picture_class == CLASS_DROPPABLE;
    case STEP_SKIP:
        return packet >= PACKETS_KEPT && picture_class != CLASS_KEY && key_is_near(film, packet);
    }
    return false;
}

/* Codec threads decode it. */
static void submit(struct playing *playing, int packet, bool is_refused)
{
    const struct playing_setting *const setting = playing->setting;
    struct codec_job job = {
        .packet = packet,
        .reference = is_refused ? -1 : sim_film_reference(setting->film, packet),
        .is_refused = is_refused,
        .cost_ns = is_refused ? setting->lesser.refusing_ns : setting->cost_ns[packet],
        .deadline_ns = INT64_MAX,
        .start_ns = playing->now_ns,
    };
    playing_submit(playing, &job);
    while (playing_take_decoded(playing, false, false, &job))
        ;
}

static void decode(struct playing *playing, int packet)
{
    playing_wait_for_room(playing);
    if (playing->setting->threads > 1) {
        submit(playing, packet, false);
        return;
    }
    playing_decode(playing, playing->setting->cost_ns[packet], INT64_MAX);
    playing_take_in(playing, packet, FATE_DECODED, false);
}

static void refuse(struct playing *playing, int packet)
{
    playing_wait_for_room(playing);
    if (playing->setting->threads > 1) {
        submit(playing, packet, true);
        return;
    }
    playing_decode(playing, playing->setting->lesser.refusing_ns, INT64_MAX);
    playing_take_in(playing, packet, FATE_SKIPPED, false);
}

static void pass_over(struct playing *playing, int packet)
{
    playing_wait_for_room(playing);
    playing_decode(playing, playing->setting->lesser.passing_ns, INT64_MAX);
    playing_pass_over(playing, packet);
}

static int skip(struct playing *playing, int packet)
{
    const struct sim_film *const film = playing->setting->film;
    const int key = schedule_next_key(film, packet);
    playing_drain(playing);
    while (packet < key)
        pass_over(playing, packet++);
    decode(playing, packet++);
    while (packet < film->count && film->packets[packet].due_ns < film->packets[key].due_ns)
        pass_over(playing, packet++);
    return packet;
}

int schedule_take_step(struct playing *playing, int packet, enum step step)
{
    switch (step) {
    case STEP_DECODE: decode(playing, packet); break;
    case STEP_REFUSE: refuse(playing, packet); break;
    case STEP_SKIP: return skip(playing, packet);
    }
    return packet + 1;
}

struct playing schedule_play(const struct playing_setting *setting, const enum step *steps, struct frame_record *rows)
{
    struct playing playing = playing_begin(setting);
    playing.rows = rows;
    for (int packet = 0; packet < setting->film->count;)
        packet = schedule_take_step(&playing, packet, steps[packet]);
    playing_end(&playing);
    return playing;
}
