/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rule plan with a window: which picture it gives up, and that random films keep their window where they can. Not covered:
 * what it remembers (test_loss_history.c), and films whose costs or supply are not as expected (tests/sim/test_policy_run.c).
 */
#include "loss_windows.h"
#include "ns.h"
#include "plan.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "made_up_plan.h"
#include "suite.h"

#define FRAME_NS (FRAME_MS * NS_PER_MS)

static struct loss_history past;

static void setup(void)
{
    made_up_plan_begin();
    loss_history_clear(&past);
    outlook.past = &past;
    outlook.room = PLAN_HORIZON_MAX;
}

/* Pictures before the first packet, the last one just before it: S shown, l lost. */
static void before(int64_t due_ms, const char *letters)
{
    const int count = (int)strlen(letters);
    for (int i = 0; i < count; i++)
        loss_history_add(&past, &(struct past_picture){i - count, (due_ms - (count - i) * FRAME_MS) * NS_PER_MS, letters[i] == 'l'});
}

static bool refuses(int x, int y)
{
    terms.window = (struct window){x, y};
    return step() == PLAN_REFUSED;
}

/* -- choices ---------------------------------------------------------------------------------------------------- */

/* 2 ms are missing for the last reference. Either picture would give them, and the first one is chosen. */
START_TEST(another_picture_is_given_up_where_one_would_be_one_too_many)
{
    packets(80, "d31 d31 R20 R60 R80 R50");
    ck_assert(refuses(0, 0));
    ck_assert(refuses(1, 2));
    before(80, "l");
    ck_assert(refuses(0, 0));
    ck_assert(!refuses(1, 2));
    past.count = 0;
    before(80, "lSSSSSSSS"); /* it is in no window with the first one */
    ck_assert(refuses(1, 9));
    ck_assert(!refuses(1, 10));
}
END_TEST

/* The last two droppable pictures must go for what comes after them. That breaks the window there, and it must not be broken before. */
START_TEST(window_is_not_broken_without_need_where_another_one_must_be)
{
    before(80, "l");
    packets(80, "d31 d31 R20 R60 R80 R50 d35 d35 R95 R80");
    ck_assert(!refuses(1, 2));
}
END_TEST

START_TEST(window_is_broken_rather_than_a_reference_far_too_late)
{
    packets(40, "d30 R10 R45 R50 R60"); /* all end at 195, and the last is due at 200 - 10 ms */
    before(40, "l");
    ck_assert(refuses(1, 2));
    ck_assert(refuses(0, 5));
    terms.window_tolerance_ns = 6 * NS_PER_MS;
    ck_assert(!refuses(1, 2));
    terms.window_tolerance_ns = 4 * NS_PER_MS;
    ck_assert(refuses(1, 2));
}
END_TEST

/*
 * 31 ms are missing for the fifth packet and 56 for the sixth. The second one saves most for its loss, but then neither neighbour
 * may be lost; the first and the third one save enough together.
 */
START_TEST(two_small_losses_are_chosen_where_a_large_one_would_forbid_both)
{
    packets(120, "d30 d40 d31 R100 R100 R65");
    ck_assert(!refuses(0, 0));
    ck_assert(refuses(1, 2));
}
END_TEST

/* -- random films ----------------------------------------------------------------------------------------------- */

enum { FILM_MAX = 12, PAST_MAX = 8, FILMS = 20000, ALMOST_NS = 1000, LATE_NS = 40 * NS_PER_MS };

struct film {
    struct window window;
    int count;
    bool is_reordered; /* each droppable picture is presented before the packet before it, and the decoder puts them in order */
    int beside;        /* pictures that codec threads decode at the same time */
    struct upcoming packets[FILM_MAX];
    int place[FILM_MAX]; /* in presentation order */
    int past_count;
    bool past_lost[PAST_MAX];
};

static int below(int limit)
{
    return rand() % limit;
}

static struct loss_windows windows_of_past(const struct film *film)
{
    struct loss_windows windows;
    loss_windows_begin(&windows, &film->window);
    for (int i = 0; i < film->past_count; i++)
        loss_windows_add(&windows, film->past_lost[i]);
    return windows;
}

/* Losses that keep the window. */
static void make_past(struct film *film)
{
    const int count = below(PAST_MAX + 1);
    for (film->past_count = 0; film->past_count < count; film->past_count++) {
        struct loss_windows windows = windows_of_past(film);
        loss_windows_add(&windows, true);
        film->past_lost[film->past_count] = windows.violations_sliding == 0 && below(3) == 0;
    }
}

static struct film make_film(void)
{
    struct film film = {.count = 8 + below(FILM_MAX - 7), .is_reordered = below(2), .beside = below(4) ? 0 : 1};
    film.window.y = 2 + below(6);
    film.window.x = below(3);
    const int64_t first_ns = (60 + below(140)) * NS_PER_MS;
    film.count -= film.is_reordered && film.count % 2 == 0;
    for (int i = 0; i < film.count; i++) {
        const bool is_back = film.is_reordered && i && i % 2 == 0;
        const bool is_droppable = i && (!film.is_reordered || is_back) && below(10) < 8;
        film.place[i] = film.is_reordered && i ? (is_back ? i - 1 : i + 1) : i;
        film.packets[i] = (struct upcoming){first_ns + film.place[i] * FRAME_NS, (20 + below(70)) * 1000,
                                            is_droppable ? CLASS_DROPPABLE : CLASS_REFERENCE};
    }
    make_past(&film);
    return film;
}

static double cost_ns(const struct upcoming *packet)
{
    return cost_predict_ns(&learnt.costs, packet->picture_class, packet->size_bytes, FRAME_NS);
}

static double wall_ns(const struct upcoming *packet, bool is_lost)
{
    return learnt_wall_ns(&learnt, is_lost ? learnt.refusing_ns : cost_ns(packet));
}

static struct decoder_model empty_decoder(const struct film *film)
{
    return (struct decoder_model){.delay = film->is_reordered + film->beside, .beside = film->beside, .left_ns = INT64_MIN};
}

/* lost: a bit for each packet. */
static bool keeps_window(const struct film *film, unsigned lost)
{
    struct loss_windows windows = windows_of_past(film);
    for (int place = 0; place < film->count; place++)
        for (int i = 0; i < film->count; i++)
            if (film->place[i] == place)
                loss_windows_add(&windows, lost >> i & 1);
    return windows.violations_sliding == 0;
}

/* Returns whether all packets are in time, with this much to spare. */
static bool is_in_time(const struct film *film, unsigned lost, int64_t spare_ns)
{
    struct decoder_model model = empty_decoder(film);
    double end_ns = 0;
    for (int i = 0; i < film->count; i++) {
        const struct upcoming *const packet = &film->packets[i];
        const bool is_lost = lost >> i & 1;
        end_ns += wall_ns(packet, is_lost);
        const double ready_ns = end_ns + (is_lost ? 0 : learnt_beside_ns(&learnt, film->beside, cost_ns(packet)));
        if (ready_ns > plan_limit_ns(decoder_model_add(&model, packet->due_ns), 0, 0) - (double)spare_ns)
            return false;
    }
    return true;
}

static unsigned droppable(const struct film *film)
{
    unsigned found = 0;
    for (int i = 0; i < film->count; i++)
        if (film->packets[i].picture_class == CLASS_DROPPABLE)
            found |= 1U << i;
    return found;
}

/* Tries every set of droppable pictures. Pictures may be late. */
static bool schedule_exists(const struct film *film, int64_t late_ns)
{
    const unsigned all = droppable(film);
    for (unsigned lost = all;; lost = (lost - 1) & all) {
        if (is_in_time(film, lost, ALMOST_NS - late_ns) && keeps_window(film, lost))
            return true;
        if (lost == 0)
            return false;
    }
}

static void begin(const struct film *film)
{
    past.count = 0;
    decoder = empty_decoder(film);
    for (int i = 0; i < film->past_count; i++) {
        const int64_t due_ns = film->packets[0].due_ns - (film->past_count - i) * FRAME_NS;
        loss_history_add(&past, &(struct past_picture){i - film->past_count, due_ns, film->past_lost[i]});
    }
}

/* Plays the film as it is planned, packet by packet. Returns what was lost. */
static unsigned play(const struct film *film, const struct window *window)
{
    unsigned lost = 0;
    double end_ns = 0;
    terms.window_tolerance_ns = LATE_NS;
    begin(film);
    for (int i = 0; i < film->count; i++) {
        const struct upcoming *const packet = &film->packets[i];
        outlook.now_ns = (int64_t)end_ns;
        outlook.ahead = packet;
        outlook.count = film->count - i;
        const bool is_lost = packet->picture_class == CLASS_DROPPABLE && refuses(window->x, window->y);
        lost |= (unsigned)is_lost << i;
        end_ns += wall_ns(packet, is_lost);
        decoder_model_add(&decoder, packet->due_ns);
        loss_history_add(&past, &(struct past_picture){i, packet->due_ns, is_lost});
    }
    return lost;
}

/* How many films had to keep their window, how many of these lost pictures, and how many break it when it is not asked for. */
struct tally {
    int possible, with_losses, broken_without;
};

static void expect_to_keep_window(const struct film *film, int number, int64_t late_ns, struct tally *tally)
{
    const unsigned lost = play(film, &film->window);
    ck_assert_msg(is_in_time(film, lost, -ALMOST_NS - late_ns), "film %d is not in time", number);
    ck_assert_msg(keeps_window(film, lost), "film %d breaks its window of %d/%d", number, film->window.x, film->window.y);
    tally->possible++;
    tally->with_losses += lost != 0;
    tally->broken_without += !keeps_window(film, play(film, &(struct window){0}));
}

static void expect_many(const struct tally *tally, int possible, int with_losses, int broken_without)
{
    ck_assert_int_gt(tally->possible, possible);
    ck_assert_int_gt(tally->with_losses, with_losses);
    ck_assert_int_gt(tally->broken_without, broken_without);
}

START_TEST(window_is_kept_wherever_a_schedule_keeps_it)
{
    struct tally in_time = {0}, late = {0};
    srand(16);
    for (int number = 0; number < FILMS; number++) {
        const struct film film = make_film();
        if (schedule_exists(&film, 0))
            expect_to_keep_window(&film, number, 0, &in_time);
        else if (schedule_exists(&film, LATE_NS))
            expect_to_keep_window(&film, number, LATE_NS, &late);
    }
    expect_many(&in_time, FILMS / 5, FILMS / 10, FILMS / 100);
    expect_many(&late, FILMS / 10, FILMS / 20, FILMS / 100);
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &another_picture_is_given_up_where_one_would_be_one_too_many,
        &window_is_not_broken_without_need_where_another_one_must_be,
        &window_is_broken_rather_than_a_reference_far_too_late,
        &two_small_losses_are_chosen_where_a_large_one_would_forbid_both,
        &window_is_kept_wherever_a_schedule_keeps_it,
    };
    TCase *const tcase = tcase_create("window_plan");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_set_timeout(tcase, 60);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("window_plan", tcase, CK_FORK_GETENV);
}
