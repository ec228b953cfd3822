/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clairvoyant against all schedules of small films, and the lower bound against the best of them. Not covered: long films,
 * for which nobody knows the best schedule.
 */
#include "clairvoyant.h"
#include "drop_bound.h"
#include "made_up_film.h"

#include <math.h>
#include <stdlib.h>

#include "suite.h"

enum { FILMS = 150, FILMS_WITH_THREADS = 60 };

struct best {
    int drops;
    double rmse_q16;
    int64_t clock_start_ns;
    int schedules;
};

static int drops_of(const struct playing *end)
{
    return end->tally.skipped + end->tally.late + end->tally.aborted;
}

/* Tries every schedule that goes on from this state. */
static void try_all(const struct playing *before, int packet, struct best *best)
{
    const struct sim_film *const film = before->setting->film;
    struct playing playing = *before;
    if (packet == film->count) {
        playing_end(&playing);
        const int drops = drops_of(&playing);
        best->drops = drops < best->drops ? drops : best->drops;
        best->rmse_q16 = fmin(best->rmse_q16, playing.tally.rmse_q16);
        best->clock_start_ns = playing.clock.base_ns - playing.clock.base_pts_ns;
        best->schedules++;
        return;
    }
    for (enum step step = STEP_DECODE; step <= STEP_SKIP; step++) {
        if (!schedule_allows(film, packet, step))
            continue;
        playing = *before;
        const int next = schedule_take_step(&playing, packet, step);
        try_all(&playing, next, best);
    }
}

/* A film that is too hard for its supply, somewhere behind its first packets. */
struct small_case {
    struct made_up_film made;
    struct cpu_rate rate;
    struct playing_setting setting;
};

static void small_case_init(struct small_case *small, int number)
{
    static const char *const types[] = {
        "IPbPbPbPbPbPbPbIPbPb", "IPPPPPPPPPPPIPPPP", "IPbPbPbPbPPbIbPbPbP", "IPbPbPbPbPbPbPbPbPbPb",
    };
    struct sim_random random;
    sim_random_init(&random, (uint64_t)number);
    made_up_film_init(&small->made, types[number % 4], 0);
    for (int packet = 0; packet < small->made.film.count; packet++)
        small->made.film.cost_ns[packet] = (int64_t)((2 + 26 * sim_random_uniform(&random)) * MS) / (packet < 6 ? 4 : 1);
    ck_assert_int_eq(cpu_rate_constant(&small->rate, number % 3 ? 1 : 0.45), 0);
    const struct cpu_supply supplies[] = {
        cpu_supply_part(&small->rate),
        cpu_supply_quota(&small->rate, 15 * MS, 40 * MS, (number % 40) * MS),
        cpu_supply_reservation(&small->rate, 15 * MS, 40 * MS),
    };
    small->setting = made_up_setting(&small->made, &supplies[number % 3]);
    small->setting.tolerance_ns = 20 * MS;
    small->setting.queue = number / 4 % 4 ? number / 4 % 4 + 1 : 0;
}

/* The same with codec threads, on two CPUs beside two programs. */
static void small_case_with_threads(struct small_case *small, int number)
{
    small_case_init(small, number);
    small->setting.machine = (struct fair_machine){.cpus = 2, .programs = 2, .weight = 1};
    small->setting.threads = number % 3 + 1;
    small->setting.codec_order.ahead = 0.2;
    small->setting.queue = number / 4 % 4 + 2;
    for (int packet = 6; packet < small->made.film.count; packet++)
        small->made.film.cost_ns[packet] *= 3;
}

static void small_case_finish(struct small_case *small)
{
    cpu_rate_finish(&small->rate);
    made_up_film_finish(&small->made);
}

static struct best best_of_all(const struct small_case *small)
{
    struct best best = {.drops = small->made.film.count + 1, .rmse_q16 = INFINITY};
    const struct playing playing = playing_begin(&small->setting);
    try_all(&playing, 0, &best);
    return best;
}

static struct playing found_by(const struct small_case *small, const struct clairvoyant_settings *settings)
{
    enum step *const steps = malloc((size_t)small->made.film.count * sizeof *steps);
    ck_assert_int_eq(clairvoyant_find(&small->setting, settings, steps), 0);
    const struct playing end = schedule_play(&small->setting, steps, NULL);
    free(steps);
    return end;
}

START_TEST(fewest_drops_of_small_films_are_found)
{
    const struct clairvoyant_settings settings = {.states_max = 100000, .thorough = true};
    int with_drops = 0;
    for (int number = 0; number < FILMS; number++) {
        struct small_case small;
        small_case_init(&small, number);
        const struct best best = best_of_all(&small);
        const struct playing end = found_by(&small, &settings);
        ck_assert_msg(drops_of(&end) == best.drops, "film %d: %d drops found, %d possible", number, drops_of(&end), best.drops);
        with_drops += best.drops > 0;
        small_case_finish(&small);
    }
    ck_assert_int_gt(with_drops, FILMS / 2);
}
END_TEST

START_TEST(fewest_drops_with_codec_threads_are_nearly_found)
{
    const struct clairvoyant_settings settings = {.states_max = 100000, .thorough = true};
    int found = 0;
    int possible = 0;
    int bounds = 0;
    for (int number = 0; number < FILMS_WITH_THREADS; number++) {
        struct small_case small;
        small_case_with_threads(&small, number);
        const struct best best = best_of_all(&small);
        const struct playing end = found_by(&small, &settings);
        const int bound = drop_bound(&small.setting, best.clock_start_ns, small.made.film.count);
        ck_assert_int_ge(drops_of(&end), best.drops);
        ck_assert_msg(bound <= best.drops, "film %d: bound %d, possible %d", number, bound, best.drops);
        found += drops_of(&end);
        possible += best.drops;
        bounds += bound;
        small_case_finish(&small);
    }
    ck_assert_int_gt(possible, FILMS_WITH_THREADS);
    ck_assert_int_le(found * 100, possible * 102);
    ck_assert_int_gt(bounds * 8, possible);
}
END_TEST

START_TEST(search_as_it_is_used_is_near_the_best)
{
    const struct clairvoyant_settings settings = {.states_max = 20};
    int found = 0;
    int possible = 0;
    for (int number = 0; number < FILMS; number++) {
        struct small_case small;
        small_case_init(&small, number);
        const struct playing end = found_by(&small, &settings);
        found += drops_of(&end);
        possible += best_of_all(&small).drops;
        small_case_finish(&small);
    }
    ck_assert_int_ge(found, possible);
    ck_assert_int_le(found * 100, possible * 105);
}
END_TEST

START_TEST(least_error_is_nearly_found)
{
    const struct clairvoyant_settings settings = {.least_rmse = true, .states_max = 100000, .thorough = true};
    double found = 0;
    double possible = 0;
    for (int number = 0; number < FILMS; number++) {
        struct small_case small;
        small_case_init(&small, number);
        const struct best best = best_of_all(&small);
        const struct playing end = found_by(&small, &settings);
        ck_assert_double_ge(end.tally.rmse_q16, best.rmse_q16 - 1e-6);
        ck_assert_double_ge(best.rmse_q16, rmse_bound_q16(&small.made.film, best.drops) - 1e-6);
        found += end.tally.rmse_q16;
        possible += best.rmse_q16;
        small_case_finish(&small);
    }
    ck_assert_double_le(found, 1.1 * possible);
}
END_TEST

START_TEST(bound_is_never_above_the_best_schedule)
{
    int bounds = 0;
    int possible = 0;
    for (int number = 0; number < FILMS; number++) {
        struct small_case small;
        small_case_init(&small, number);
        const struct best best = best_of_all(&small);
        const int bound = drop_bound(&small.setting, best.clock_start_ns, small.made.film.count);
        ck_assert_msg(bound <= best.drops, "film %d: bound %d, possible %d", number, bound, best.drops);
        bounds += bound;
        possible += best.drops;
        small_case_finish(&small);
    }
    ck_assert_int_gt(bounds * 8, possible); /* it says something */
}
END_TEST

/* Leading pictures may be references. A skip to the key picture before them saves their decodes. */
START_TEST(bound_holds_for_leading_references)
{
    int skips = 0;
    for (int number = 2; number < FILMS; number += 4) {
        struct small_case small;
        small_case_init(&small, number);
        struct sim_film *const film = &small.made.film;
        for (int packet = 13; packet < 17; packet++) { /* I at 12, leading pictures behind it */
            if (film->packets[packet].due_ns < film->packets[12].due_ns) {
                film->packets[packet].picture_class = CLASS_REFERENCE_B;
                film->cost_ns[packet] = 200 * MS;
            }
        }
        const struct best best = best_of_all(&small);
        const int bound = drop_bound(&small.setting, best.clock_start_ns, film->count);
        ck_assert_msg(bound <= best.drops, "film %d: bound %d, possible %d", number, bound, best.drops);
        skips += best.drops < 6;
        small_case_finish(&small);
    }
    ck_assert_int_gt(skips, 0);
}
END_TEST

START_TEST(no_bound_where_the_head_start_depends_on_the_schedule)
{
    struct small_case small;
    small_case_init(&small, 0);
    small.setting.queue = 50;
    for (small.setting.head_start = 1; small.setting.head_start < 20; small.setting.head_start++)
        ck_assert_int_eq(drop_bound_exists(&small.setting), small.setting.head_start + small.made.film.delay <= PACKETS_KEPT);
    small.setting.queue = 3; /* the clock starts when the queue is full */
    ck_assert(drop_bound_exists(&small.setting));
    small_case_finish(&small);
}
END_TEST

START_TEST(skips_are_no_longer_than_the_players)
{
    struct made_up_film made;
    char types[121] = "";
    for (int i = 0; i < 120; i++)
        types[i] = i % 100 ? 'P' : 'I';
    made_up_film_init(&made, types, 1 * MS);
    for (int packet = PACKETS_KEPT; packet < 100; packet++)
        ck_assert_int_eq(schedule_allows(&made.film, packet, STEP_SKIP), packet >= 25);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(nothing_is_dropped_where_time_suffices)
{
    struct small_case small;
    small_case_init(&small, 0);
    small.setting.decoding = cpu_supply_part(&small.rate);
    for (int packet = 0; packet < small.made.film.count; packet++)
        small.made.film.cost_ns[packet] = 1 * MS;
    const struct clairvoyant_settings settings = {.states_max = 20};
    const struct playing end = found_by(&small, &settings);
    ck_assert_int_eq(drops_of(&end), 0);
    ck_assert_int_eq(drop_bound(&small.setting, end.clock.base_ns, 10), 0);
    small_case_finish(&small);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        fewest_drops_of_small_films_are_found,
        fewest_drops_with_codec_threads_are_nearly_found,
        search_as_it_is_used_is_near_the_best,
        least_error_is_nearly_found,
        bound_is_never_above_the_best_schedule,
        bound_holds_for_leading_references,
        no_bound_where_the_head_start_depends_on_the_schedule,
        skips_are_no_longer_than_the_players,
        nothing_is_dropped_where_time_suffices,
        NULL,
    };
    return suite_run("clairvoyant", 60, tests);
}
