/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which picture leaves the decoder with which packet: a decoder puts pictures in order, and holds some back for that; codec threads
 * hold back those that they decode at the same time. The functions are pure; times are in ns.
 */
#ifndef PLAYER_DECODER_MODEL_H
#define PLAYER_DECODER_MODEL_H

#include "times.h"

struct decoder_model {
    struct times held;  /* when the pictures in the decoder are due */
    int delay;          /* how many it holds back … */
    int beside;         /* … and how many of these because several are decoded at once */
    int64_t left_ns;    /* when the last picture that left it was due; INT64_MIN: none has */
};

/*
 * Decodes the packet whose picture is due then. Returns when the first picture is due that had to wait for this decode: its own
 * one or one that was held back to put them in order. Those that are decoded beside it do not wait for it.
 */
int64_t decoder_model_add(struct decoder_model *model, int64_t due_ns);

#endif
