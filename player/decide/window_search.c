/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window_search.h"

#include <string.h>

/*
 * In random films of 200 packets with windows of up to 8/50, 400 states found a choice in 1632 of 2000 films, 16 in 1620, and one in
 * 1446. With windows of up to 3/8, four found all. A search with 16 takes 0.2 ms at most.
 */
enum { STATES_MAX = 16 };

struct state {
    double end_ns;            /* when the last packet so far is decoded, from now */
    int refused;              /* pictures since it last waited for room in the queue */
    int16_t lost[WINDOW_MAX]; /* places of the last x lost pictures, the latest first */
};

/* By end_ns, ascending. */
struct states {
    struct state state[STATES_MAX];
    int count;
};

/* What every state has to do with a packet. Times are in ns of wall time, but for the limit, which is from now. */
struct packet_work {
    double decoding_ns; /* and presenting */
    double beside_ns;   /* it is ready so much later than its turn, because of those that are decoded beside it */
    double refusing_ns;
    double limit_ns;
    bool is_droppable;
    int place;
};

struct running {
    const struct window_search *search;
    struct decoder_model decoder;
    struct times kept; /* in the decoder or waiting, as if nothing ahead were refused */
    struct states now;
    struct states next;
};

static int losses_known(const struct running *running)
{
    return running->search->windows->window.x;
}

static bool is_as_good(const struct state *state, const struct state *other, int losses)
{
    bool good = state->end_ns <= other->end_ns;
    for (int i = 0; i < losses && good; i++)
        good = state->lost[i] <= other->lost[i];
    return good;
}

static void leave_out_worse(struct states *states, const struct state *than, int losses)
{
    int kept = 0;
    for (int i = 0; i < states->count; i++)
        if (!is_as_good(than, &states->state[i], losses))
            states->state[kept++] = states->state[i];
    states->count = kept;
}

static void add_state(struct states *states, const struct state *state, int losses)
{
    for (int i = 0; i < states->count; i++)
        if (is_as_good(&states->state[i], state, losses))
            return;
    leave_out_worse(states, state, losses);
    if (states->count == STATES_MAX && states->state[STATES_MAX - 1].end_ns <= state->end_ns)
        return;
    if (states->count == STATES_MAX)
        states->count--;
    int at = states->count++;
    for (; at > 0 && states->state[at - 1].end_ns > state->end_ns; at--)
        states->state[at] = states->state[at - 1];
    states->state[at] = *state;
}

/* Pictures that come out of order are rare; for them this is careful, because it counts on both sides. */
static bool is_one_too_many(const struct running *running, const struct state *state, int place)
{
    const struct window *const window = &running->search->windows->window;
    int near = 0;
    for (int i = 0; i < window->x; i++)
        near += state->lost[i] > place - window->y && state->lost[i] < place + window->y;
    return near == window->x;
}

static void lose(struct state *state, int place, int losses)
{
    int at = losses;
    while (at > 0 && state->lost[at - 1] < place)
        at--;
    if (at == losses)
        return;
    memmove(&state->lost[at + 1], &state->lost[at], (size_t)(losses - 1 - at) * sizeof state->lost[0]);
    state->lost[at] = (int16_t)place;
}

/* As in plan.c. What was refused before a wait made no room after it. */
static void wait_for_room(const struct running *running, struct state *state)
{
    const struct window_search *const search = running->search;
    const struct times *const kept = &running->kept;
    const int64_t place = kept->count - search->outlook->room - running->decoder.beside - state->refused;
    int64_t free_ns = INT64_MIN;
    if (search->outlook->room == 0)
        free_ns = running->decoder.left_ns;
    else if (place >= 0)
        free_ns = kept->at_ns[place];
    if (free_ns == INT64_MIN)
        return;
    const double from_now_ns = (double)(free_ns + search->learnt->presenting_ns - search->outlook->now_ns);
    if (from_now_ns <= state->end_ns)
        return;
    state->end_ns = from_now_ns;
    state->refused = 0;
}

static struct packet_work work_of(struct running *running, int index)
{
    const struct window_search *const search = running->search;
    const struct learnt *const learnt = search->learnt;
    const struct upcoming *const packet = &search->outlook->ahead[index];
    const double cost_ns = search->costs_ns[index];
    const int64_t due_ns = decoder_model_add(&running->decoder, packet->due_ns);
    return (struct packet_work){
        .decoding_ns = learnt_wall_ns(learnt, cost_ns + (double)learnt->presenting_ns),
        .beside_ns = learnt_beside_ns(learnt, running->decoder.beside, cost_ns),
        .refusing_ns = learnt_wall_ns(learnt, learnt->refusing_ns),
        .limit_ns = plan_limit_ns(due_ns, search->tolerance_ns, search->outlook->now_ns),
        .is_droppable = packet->picture_class == CLASS_DROPPABLE,
        .place = search->windows->place_of[index],
    };
}

static void decode(struct running *running, const struct state *before, const struct packet_work *work)
{
    struct state state = *before;
    state.end_ns += work->decoding_ns;
    if (state.end_ns + work->beside_ns <= work->limit_ns)
        add_state(&running->next, &state, losses_known(running));
}

static void refuse(struct running *running, const struct state *before, const struct packet_work *work)
{
    if (!work->is_droppable || is_one_too_many(running, before, work->place))
        return;
    struct state state = *before;
    state.end_ns += work->refusing_ns;
    state.refused++;
    lose(&state, work->place, losses_known(running));
    if (state.end_ns <= work->limit_ns)
        add_state(&running->next, &state, losses_known(running));
}

/* What may become of a packet. */
struct choice {
    bool may_decode;
    bool may_refuse;
};

/* Returns whether a state is left. */
static bool schedule_packet(struct running *running, int index, struct choice choice)
{
    for (int i = 0; i < running->now.count; i++)
        wait_for_room(running, &running->now.state[i]);
    const struct packet_work work = work_of(running, index);
    running->next.count = 0;
    for (int i = 0; i < running->now.count; i++) {
        if (choice.may_decode)
            decode(running, &running->now.state[i], &work);
        if (choice.may_refuse)
            refuse(running, &running->now.state[i], &work);
    }
    times_insert(&running->kept, running->search->outlook->ahead[index].due_ns);
    running->now = running->next;
    return running->now.count > 0;
}

bool window_search_finds(const struct window_search *search, bool refuses_first)
{
    struct running running = {.search = search, .now.count = 1};
    running.decoder = *search->outlook->decoder;
    running.kept = *search->outlook->to_present;
    memcpy(running.now.state[0].lost, search->windows->lost_before, sizeof running.now.state[0].lost);
    const struct choice first = {.may_decode = !refuses_first, .may_refuse = refuses_first};
    const struct choice other = {.may_decode = true, .may_refuse = true};
    for (int i = 0; i < search->count; i++)
        if (!schedule_packet(&running, i, i == 0 ? first : other))
            return false;
    return true;
}
