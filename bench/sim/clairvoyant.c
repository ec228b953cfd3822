/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clairvoyant.h"

#include "ns.h"

#include <errno.h>
#include <stdlib.h>

/* States whose RMSE differs by less are held to be equal: about a third of what one dropped picture costs. */
static const double rmse_step = 500;
enum {
    SKIP_EVERY = 4, /* state, unless the search is thorough, … */
    STATES_OF_LOSS_MAX = 4, /* states with the same loss */
};
static const int64_t skip_within_ns = 300 * NS_PER_MS; /* … and if the next picture is due within this time */

/* How a state was reached. */
struct origin {
    int packet; /* the step was taken with this one … */
    int state;  /* … from this state before it; < 0: this is the first state */
    enum step step;
};

enum { KEPT_COMPARED_MAX = 128, PROBES = 3 };

struct state {
    struct playing playing;
    struct origin origin;
    int given_up;
    int64_t loss;
    int64_t ready_ns; /* when everything so far is decoded, or now_ns */
    int64_t gets_ns[PROBES]; /* when it would have certain amounts of CPU time */
    /* The places of the last pictures that can be shown and have not been, the last one first. */
    int kept[KEPT_COMPARED_MAX];
    int kept_count;
};

/* The states before a packet. */
struct layer {
    struct state **states; /* by loss, ascending; freed after the steps from here were taken */
    struct origin *origins; /* of the same */
    int count;
    int room;
};

struct search {
    const struct playing_setting *setting;
    const struct clairvoyant_settings *settings;
    struct layer *layers; /* one for each packet, and one for the end */
};

/* What has been lost. Of pictures that are given up and whose turn has not come, the least possible error counts. */
static int64_t loss_of(const struct search *search, const struct state *state)
{
    const struct playing *const playing = &state->playing;
    if (!search->settings->least_rmse)
        return state->given_up + playing->tally.late;
    double rmse = playing->tally.rmse_q16;
    for (int place = playing->next; place < playing->setting->film->count && place < playing->next + PICTURES_ON_THE_WAY_MAX / 2;
         place++)
        if (playing->pictures[place % PICTURES_ON_THE_WAY_MAX].fate == FATE_SKIPPED)
            rmse += sim_film_rmse_q16(playing->setting->film, place, place - 1);
    return (int64_t)(rmse / rmse_step);
}

static void add_kept(struct state *state, int place, int most)
{
    const enum picture_fate fate = state->playing.pictures[place % PICTURES_ON_THE_WAY_MAX].fate;
    if (fate == FATE_DECODED && state->kept_count < most)
        state->kept[state->kept_count++] = place;
}

static void find_kept(struct state *state)
{
    const struct playing *const playing = &state->playing;
    const int64_t all = playing->setting->queue + playing->setting->film->delay + 1;
    const int most = all < KEPT_COMPARED_MAX ? (int)all : KEPT_COMPARED_MAX;
    state->kept_count = 0;
    for (int i = playing->held_count - 1; i >= 0; i--)
        add_kept(state, playing->held[i], most);
    for (int place = playing->out_end - 1; place >= playing->next && state->kept_count < most; place--)
        add_kept(state, place, most);
}

/* Returns whether the queue of a makes room no later than that of b. */
static bool makes_room_no_later(const struct state *a, const struct state *b)
{
    if (a->kept_count > b->kept_count)
        return false;
    for (int i = 0; i < a->kept_count; i++)
        if (a->kept[i] > b->kept[i])
            return false;
    return true;
}

/* A budget that is used up makes a state late that seems early. Amounts in halves of a budget tell such states apart. */
static void probe_supply(struct state *state)
{
    struct cpu_supply supply = state->playing.decoding;
    int64_t now_ns = state->playing.now_ns;
    for (int i = 0; i < PROBES; i++) {
        cpu_supply_run(&supply, &now_ns, 1 + i * supply.budget_ns / 2, INT64_MAX);
        state->gets_ns[i] = now_ns;
    }
}

static bool gets_time_no_later(const struct state *a, const struct state *b)
{
    for (int i = 0; i < PROBES; i++)
        if (a->gets_ns[i] > b->gets_ns[i])
            return false;
    return true;
}

/* With codec threads, work that they have not done counts as if the state were so much later. */
static int64_t ready_ns(const struct search *search, const struct playing *playing)
{
    const struct playing_setting *const setting = search->setting;
    const double part = fair_part(&setting->machine, setting->threads, false) * setting->threads;
    const double left_ns = (double)codec_work_left_ns(&playing->codec);
    return playing->now_ns + (left_ns > 0 ? (int64_t)(left_ns / part) : 0);
}

/* Whatever happens later, a does as well as b. */
static bool is_surely_no_worse(const struct state *a, const struct state *b)
{
    return a->playing.next == b->playing.next && a->playing.phase == b->playing.phase && gets_time_no_later(a, b);
}

static bool is_no_worse(const struct search *search, const struct state *a, const struct state *b)
{
    return a->loss <= b->loss && a->ready_ns <= b->ready_ns &&
           (!search->setting->queue || makes_room_no_later(a, b)) &&
           (!search->settings->thorough || is_surely_no_worse(a, b));
}

static void remove_state(struct layer *layer, int at)
{
    free(layer->states[at]);
    layer->count--;
    for (int i = at; i < layer->count; i++)
        layer->states[i] = layer->states[i + 1];
}

/* Leaves out the latest of too many states with the same loss. */
static void thin_out(struct layer *layer, int64_t loss)
{
    int latest = -1;
    int count = 0;
    for (int i = 0; i < layer->count; i++) {
        if (layer->states[i]->loss != loss)
            continue;
        count++;
        if (latest < 0 || layer->states[i]->ready_ns > layer->states[latest]->ready_ns)
            latest = i;
    }
    if (count > STATES_OF_LOSS_MAX)
        remove_state(layer, latest);
}

/* Leaves out the state that is hardly earlier than the one that has lost a little less. Keeps the first and the last. */
static void remove_least_useful(struct layer *layer)
{
    int least = layer->count - 1;
    int64_t least_gain_ns = INT64_MAX;
    for (int i = 1; i + 1 < layer->count; i++) {
        const int64_t gain_ns = layer->states[i - 1]->ready_ns - layer->states[i]->ready_ns;
        if (gain_ns <= least_gain_ns) {
            least = i;
            least_gain_ns = gain_ns;
        }
    }
    remove_state(layer, least);
}

static int make_room(struct layer *layer)
{
    if (layer->count < layer->room)
        return 0;
    const int room = layer->room ? 2 * layer->room : 16;
    struct state **const states = realloc(layer->states, (size_t)room * sizeof(struct state *));
    if (!states)
        return -ENOMEM;
    layer->states = states;
    layer->room = room;
    return 0;
}

static bool is_beaten(const struct search *search, const struct layer *layer, const struct state *state)
{
    for (int i = 0; i < layer->count && layer->states[i]->loss <= state->loss; i++)
        if (is_no_worse(search, layer->states[i], state))
            return true;
    return false;
}

static void remove_beaten(const struct search *search, struct layer *layer, const struct state *state)
{
    for (int i = layer->count - 1; i >= 0 && layer->states[i]->loss >= state->loss; i--)
        if (is_no_worse(search, state, layer->states[i]))
            remove_state(layer, i);
}

/* Adds a state, unless another one is no worse. Removes those than which it is no worse. Returns 0 or -ENOMEM. */
static int add_state(const struct search *search, struct layer *layer, struct state *state)
{
    state->loss = loss_of(search, state);
    state->ready_ns = ready_ns(search, &state->playing);
    find_kept(state);
    if (search->settings->thorough)
        probe_supply(state);
    if (is_beaten(search, layer, state))
        return 0;
    remove_beaten(search, layer, state);
    struct state *const added = malloc(sizeof *added);
    if (!added || make_room(layer)) {
        free(added);
        return -ENOMEM;
    }
    *added = *state;
    int at = layer->count++;
    for (; at > 0 && layer->states[at - 1]->loss > state->loss; at--)
        layer->states[at] = layer->states[at - 1];
    layer->states[at] = added;
    if (!search->settings->thorough)
        thin_out(layer, state->loss);
    if (layer->count > search->settings->states_max)
        remove_least_useful(layer);
    return 0;
}

/* Returns whether to try to skip. When time is not short, going on loses less. */
static bool may_skip(const struct search *search, const struct state *state, int number)
{
    const struct playing *const playing = &state->playing;
    const struct sim_film *const film = search->setting->film;
    if (search->settings->thorough)
        return true;
    const int next = playing->out_end < film->count ? playing->out_end : film->count - 1;
    return number % SKIP_EVERY == 0 && playing_media_ns(playing) > sim_film_pts_ns(film, next) - skip_within_ns;
}

static int try_step(struct search *search, int packet, int number, enum step step)
{
    struct state state = *search->layers[packet].states[number];
    state.origin = (struct origin){packet, number, step};
    const int next = schedule_take_step(&state.playing, packet, step);
    /* A skip shows the key picture, and nothing else of those that it goes through. */
    state.given_up += step == STEP_SKIP ? next - packet - 1 : step == STEP_REFUSE;
    return add_state(search, &search->layers[next], &state);
}

static int take_steps(struct search *search, int packet, int number)
{
    const struct sim_film *const film = search->setting->film;
    int ret = try_step(search, packet, number, STEP_DECODE);
    if (!ret && schedule_allows(film, packet, STEP_REFUSE))
        ret = try_step(search, packet, number, STEP_REFUSE);
    if (!ret && schedule_allows(film, packet, STEP_SKIP) &&
        may_skip(search, search->layers[packet].states[number], number))
        ret = try_step(search, packet, number, STEP_SKIP);
    return ret;
}

static void free_states(struct layer *layer)
{
    for (int i = 0; layer->states && i < layer->count; i++)
        free(layer->states[i]);
    free(layer->states);
    layer->states = NULL;
}

/* Keeps of a layer only how its states were reached. */
static int close_layer(struct layer *layer)
{
    layer->origins = malloc((size_t)(layer->count + 1) * sizeof *layer->origins);
    for (int i = 0; layer->origins && i < layer->count; i++)
        layer->origins[i] = layer->states[i]->origin;
    free_states(layer);
    return layer->origins ? 0 : -ENOMEM;
}

static bool has_lost_less(const struct state *a, const struct state *b)
{
    return a->loss != b->loss ? a->loss < b->loss : a->playing.tally.rmse_q16 < b->playing.tally.rmse_q16;
}

/* Plays the states of the last layer to their ends. Returns the one that has lost least. */
static int best_at_end(const struct search *search, struct layer *layer)
{
    int best = 0;
    for (int i = 0; i < layer->count; i++) {
        playing_end(&layer->states[i]->playing);
        layer->states[i]->loss = loss_of(search, layer->states[i]);
        if (has_lost_less(layer->states[i], layer->states[best]))
            best = i;
    }
    return best;
}

static void trace_back(const struct search *search, int state, enum step *steps)
{
    int packet = search->setting->film->count;
    for (int i = 0; i < packet; i++)
        steps[i] = STEP_DECODE;
    for (struct origin origin = search->layers[packet].origins[state]; origin.state >= 0;
         origin = search->layers[origin.packet].origins[origin.state])
        steps[origin.packet] = origin.step;
}

static int run_search(struct search *search, enum step *steps)
{
    const int count = search->setting->film->count;
    struct state first = {.playing = playing_begin(search->setting), .origin.state = -1};
    int ret = add_state(search, &search->layers[0], &first);
    for (int packet = 0; !ret && packet < count; packet++) {
        for (int number = 0; !ret && number < search->layers[packet].count; number++)
            ret = take_steps(search, packet, number);
        if (!ret)
            ret = close_layer(&search->layers[packet]);
    }
    if (ret)
        return ret;
    const int best = best_at_end(search, &search->layers[count]);
    ret = close_layer(&search->layers[count]);
    if (!ret)
        trace_back(search, best, steps);
    return ret;
}

int clairvoyant_find(const struct playing_setting *setting, const struct clairvoyant_settings *settings, enum step *steps)
{
    const int layers = setting->film->count + 1;
    struct search search = {setting, settings, calloc((size_t)layers, sizeof *search.layers)};
    const int ret = search.layers ? run_search(&search, steps) : -ENOMEM;
    for (int i = 0; search.layers && i < layers; i++) {
        free_states(&search.layers[i]);
        free(search.layers[i].origins);
    }
    free(search.layers);
    return ret;
}
