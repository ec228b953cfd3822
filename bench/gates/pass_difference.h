/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares a pass in which pictures were given up with an undisturbed one. */
#ifndef PASS_DIFFERENCE_H
#define PASS_DIFFERENCE_H

#include "decode_pass.h"

/* Counts of what must not happen. Passes can be added up. */
struct differences {
    int64_t wrong;   /* pictures that were not abandoned and have other samples or side data, or captions of a withheld one */
    int64_t order;   /* pictures at another place, or with other times, types or sizes; packets rejected or not */
    int64_t marks;   /* pictures whose mark does not say what was decided; marked references; other reports of damage */
    int64_t strays;  /* calls about pictures that are not droppable or were given up before */
    int64_t reports; /* passes in which the decoder logged more or less */
    char first[200]; /* a sentence about the first difference, or empty */
};

/* What is compared. */
enum comparison {
    COMPARE_ORDER,   /* order, times, types, marks */
    COMPARE_SAMPLES, /* samples and the decoder's reports as well */
    COMPARE_ALL,     /* side data as well */
};

/*
 * Compares a pass with the undisturbed pass with the same threads and adds what differs to *sum. A damaged packet that the
 * undisturbed pass rejected need not be rejected if it was withheld.
 */
void pass_compare(struct differences *sum, const struct decode_pass *undisturbed, const struct decode_pass *pass,
                  enum comparison comparison);

int64_t differences_count(const struct differences *differences);

#endif
