/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long decoding ahead may go on in each period of a quota that limits the program (a control group's). The functions are pure;
 * times are in ns.
 *
 * The kernel refills the quota at the beginning of each period, and when it is used up, halts all threads until the next one. Then
 * pictures that wait decoded are shown late, by the same time again and again. When the periods begin is not told; but where a halt
 * ends, one does. From then on decoding leaves in each period what presenting the pictures takes that are due in it. All the rest
 * of the quota it may use, and never less than half of it.
 */
#ifndef PLAYER_QUOTA_WINDOW_H
#define PLAYER_QUOTA_WINDOW_H

#include <stdint.h>

struct quota_window {
    int64_t quota_ns;
    int64_t period_ns; /* 0: there is no quota */
    int64_t begin_ns;  /* of the present period; NS_UNKNOWN: no halt was seen */
    int64_t used_ns;   /* the program's CPU time then */
};

/* What is to be presented. */
struct quota_presenting {
    int64_t next_due_ns;       /* when the next picture is due, on the clock of now_ns */
    int64_t frame_duration_ns; /* from one picture to the next; > 0 */
    int64_t cpu_ns;            /* what presenting one takes; 0: nothing is to be presented for a while */
};

void quota_window_init(struct quota_window *window, int64_t quota_ns, int64_t period_ns);

/* A halt ends now. used_ns: the program's CPU time so far. */
void quota_window_begin(struct quota_window *window, int64_t now_ns, int64_t used_ns);

/* Returns until when decoding is to pause; 0: it may go on. */
int64_t quota_window_pause_ns(struct quota_window *window, int64_t now_ns, int64_t used_ns,
                              const struct quota_presenting *presenting);

#endif
