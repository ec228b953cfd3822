/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much CPU time decoding ahead may take where a quota limits the whole program (a control group's). The functions are pure;
 * times are in ns.
 *
 * Decoding that uses the quota up stops the presenter as well, until the quota's period ends: a picture that waits decoded is then
 * shown late. So decoding gets what the quota gives in the time from one picture to the next, less what presenting takes, and
 * begins anew with each picture that is presented: the presenter finds the quota unused when a picture is due.
 */
#ifndef PLAYER_ALLOWANCE_H
#define PLAYER_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct allowance {
    double quota;       /* CPU time per time; INFINITY: no quota */
    int64_t left_ns;       /* when it was renewed; < 0: a picture took more than there was */
    int64_t presenting_ns; /* a part of it: for presenting the next picture */
    int64_t renewed_ns;    /* when; NS_UNKNOWN: never */
    int64_t used_ns;       /* the program's CPU time until then */
};

void allowance_init(struct allowance *allowance, double quota);

/*
 * A picture is about to be presented. used_ns: the program's CPU time so far; presenting_ns: the CPU time that presenting a
 * picture takes. What was left before is lost, as the quota's is, and what was taken too much is paid back.
 */
void allowance_renew(struct allowance *allowance, int64_t now_ns, int64_t used_ns, int64_t presenting_ns);

/* Returns whether a decode may begin. The first one may: nothing is presented yet. */
bool allowance_is_left(const struct allowance *allowance, int64_t used_ns);

#endif
