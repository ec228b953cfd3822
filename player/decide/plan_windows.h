/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The windows (window.h) over the pictures of a plan: how many each of them has lost, and so which picture cannot be lost
 * any more without too many losses in a window. Pure.
 *
 * A place is a picture's position in presentation order, among the last pictures that were decided on and the packets ahead.
 */
#ifndef PLAYER_PLAN_WINDOWS_H
#define PLAYER_PLAN_WINDOWS_H

#include "loss_history.h"
#include "plan_limits.h"
#include "upcoming.h"
#include "window.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLAN_PLACES_MAX = LOSS_HISTORY_MAX + PLAN_HORIZON_MAX };

/* A place that is in no window with any picture of the plan. */
enum { PLACE_FAR_BEFORE = -2 * WINDOW_MAX };

struct plan_windows {
    struct window window;
    int count;                          /* of places */
    int16_t place_of[PLAN_HORIZON_MAX]; /* of each packet ahead */
    int16_t lost_before[WINDOW_MAX];    /* places of the last x pictures lost before the plan, the latest first */
    int16_t lost_from[PLAN_PLACES_MAX]; /* lost pictures in the window that begins at each place */
    int16_t full_with[PLAN_PLACES_MAX]; /* windows with x lost pictures that contain each place */
};

/* Begins with what was lost before. past: NULL: nothing is known. window->y is > 0. */
void plan_windows_init(struct plan_windows *windows, const struct window *window, const struct loss_history *past,
                       const struct upcoming *ahead, int count);

/* Returns whether the picture at this place is one too many for a window. */
bool plan_windows_forbid(const struct plan_windows *windows, int place);

/* The picture at this place is lost. */
void plan_windows_lose(struct plan_windows *windows, int place);

#endif
