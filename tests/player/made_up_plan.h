/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rule plan sees, made up for tests: packets in presentation order. Times are in ms until they are handed over. */
#ifndef MADE_UP_PLAN_H
#define MADE_UP_PLAN_H

#include "plan.h"

enum { FRAME_MS = 40, MOST = 300, ROOM = 8 };

/* Set by made_up_plan_begin; a test may change them. */
extern struct learnt learnt;
extern struct upcoming ahead[MOST];
extern struct decoder_model decoder;
extern struct times to_present;
extern struct outlook outlook;
extern struct plan_terms terms;

/* Learns that a picture costs a microsecond a byte, and that decoding gets all CPU time. */
void made_up_plan_begin(void);

/*
 * Appends packets in presentation order, the first one due then: K key, R reference, d droppable, each with its cost in
 * ms, as in "R20 d10".
 */
void packets(double due_ms, const char *text);

/* Fills a queue of two pictures. The next decode begins when the first of them is due: 400 ms from now. */
void fill_queue(void);

/* Returns what the plan says of the first packet. */
enum plan_step step(void);

#endif
