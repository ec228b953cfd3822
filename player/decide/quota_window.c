/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "quota_window.h"

#include "ns.h"

/* Decoding is looked at each half millisecond, other threads of the program work as well, and halts are noticed a little late. */
static const int64_t SPARE_NS = 1300 * NS_PER_US;

void quota_window_init(struct quota_window *window, int64_t quota_ns, int64_t period_ns)
{
    *window = (struct quota_window){.quota_ns = quota_ns, .period_ns = period_ns, .begin_ns = NS_UNKNOWN};
}

void quota_window_begin(struct quota_window *window, int64_t now_ns, int64_t used_ns)
{
    window->begin_ns = now_ns;
    window->used_ns = used_ns;
}

/* Moves on to the present period. What was used in it so far is not known; at most all of the time. */
static void move_on(struct quota_window *window, int64_t now_ns, int64_t used_ns)
{
    const int64_t passed_ns = now_ns - window->begin_ns;
    if (passed_ns < window->period_ns)
        return;
    const int64_t inside_ns = passed_ns % window->period_ns;
    window->begin_ns = now_ns - inside_ns;
    window->used_ns = used_ns - (inside_ns < used_ns - window->used_ns ? inside_ns : used_ns - window->used_ns);
}

/* Returns how many pictures are due before the end of the period, and were not presented yet. */
static int64_t pictures_until(int64_t end_ns, const struct quota_presenting *presenting)
{
    return presenting->next_due_ns < end_ns ? (end_ns - presenting->next_due_ns) / presenting->frame_duration_ns + 1 : 0;
}

int64_t quota_window_pause_ns(struct quota_window *window, int64_t now_ns, int64_t used_ns,
                              const struct quota_presenting *presenting)
{
    if (window->period_ns == 0 || window->begin_ns == NS_UNKNOWN || presenting->cpu_ns == 0)
        return 0;
    move_on(window, now_ns, used_ns);
    const int64_t end_ns = window->begin_ns + window->period_ns;
    const int64_t pictures = pictures_until(end_ns, presenting);
    if (pictures == 0)
        return 0; /* the rest is for decoding */
    const int64_t kept_ns = pictures * presenting->cpu_ns + SPARE_NS;
    const int64_t left_ns = window->quota_ns - (used_ns - window->used_ns);
    return left_ns > (kept_ns < window->quota_ns / 2 ? kept_ns : window->quota_ns / 2) ? 0 : end_ns;
}
