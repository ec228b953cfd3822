/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much CPU time decoding ahead may take where a quota limits the whole program (a control group's). The functions are pure;
 * times are in ns.
 *
 * Decoding that uses the quota up stops the presenter as well, until the quota's period ends: a picture that waits decoded is then
 * shown late. So decoding gets what the quota gives until the next picture is due, less what presenting takes, and begins anew when
 * that picture is presented: the presenter finds some of the quota left when a picture is due. This ends a decode in the middle where
 * the codec lets it pause there (decoder_pause_by). Where pictures were lost, the time until the next one is longer, and so is what
 * decoding gets. A grant for the time since the previous picture would come too late: the quota of these periods is gone.
 * While the clock stands (before the first picture, and in a pause), pictures are due at no time, and decoding is not limited.
 */
#ifndef PLAYER_ALLOWANCE_H
#define PLAYER_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct allowance {
    double quota;          /* CPU time per time; INFINITY: no quota */
    int64_t left_ns;       /* when it was renewed; < 0: a picture took more than there was */
    int64_t presenting_ns; /* a part of it: for presenting the next picture */
    int64_t due_ns;        /* the next picture's, NS_UNKNOWN: it was never renewed */
    int64_t used_ns;       /* the program's CPU time when it was renewed */
};

/* There is no quota. */
void allowance_init(struct allowance *allowance);

/*
 * The quota is this from now on, INFINITY: there is none any more. used_ns: the program's CPU time so far; until_due_ns: time until the
 * next picture is due. Until then decoding gets what the new quota gives in that time: what the old one had given for it is not there any
 * more, or not all. A debt stays.
 */
void allowance_set_quota(struct allowance *allowance, double quota, int64_t used_ns, int64_t until_due_ns);

/* What comes next may be due at any time: it begins anew with the next picture that is presented. */
void allowance_restart(struct allowance *allowance);

/*
 * The clock stands from now on, or runs. What is used while it stands comes out of periods that are over when it runs again, so none of it
 * is paid back, and neither is a debt from before.
 */
void allowance_stop(struct allowance *allowance, int64_t used_ns);
void allowance_start(struct allowance *allowance, int64_t used_ns);

/*
 * The previous picture was presented, and the one that is due then (a PTS) comes next. used_ns: the program's CPU time so far;
 * presenting_ns: the CPU time that presenting a picture takes. What was taken too much is paid back. What was left is kept up to what
 * had been reserved for presenting: where presenting took less than that, the quota has the difference now. More is lost, as the quota
 * of past periods is. A gap of more than 10 s counts as 10 s, and time stamps that jump back as no time.
 */
void allowance_renew(struct allowance *allowance, int64_t due_ns, int64_t used_ns, int64_t presenting_ns);

/* Returns whether a decode may begin. The first one may: nothing is presented yet. */
bool allowance_is_left(const struct allowance *allowance, int64_t used_ns);

#endif
