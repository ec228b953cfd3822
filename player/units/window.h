/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window constraint for pictures: of any y pictures that follow each other in presentation order, at most x may be lost.
 *
 * These windows slide: one begins at each picture. The windows of DWCS (seed 001, sched/core/dwcs.h) are aligned: the next
 * one begins where one ends. There, two windows may have their losses side by side, and a viewer sees 2x of them in a row.
 * A film that keeps the sliding windows keeps the aligned ones too.
 */
#ifndef PLAYER_WINDOW_H
#define PLAYER_WINDOW_H

#include <errno.h>

/* The largest y: 4 s at 25 pictures a second. The player must remember so many pictures, and plan for as many. */
enum { WINDOW_MAX = 100 };

struct window {
    int x; /* 0 <= x <= y */
    int y; /* <= WINDOW_MAX; 0: there is no constraint */
};

/* Reads a number of at most three digits. Returns what follows it, or a null pointer if there is no digit. */
static inline const char *window_read_number(const char *text, int *number)
{
    const char *at = text;
    for (*number = 0; *at >= '0' && *at <= '9' && at < text + 3; at++)
        *number = 10 * *number + (*at - '0');
    return at > text ? at : (const char *)0;
}

/* Parses "x/y" with y > 0. Returns 0, or -EINVAL and leaves *window as it is. */
static inline int window_parse(struct window *window, const char *text)
{
    struct window read = {0, 0};
    const char *at = window_read_number(text, &read.x);
    if (!at || *at != '/')
        return -EINVAL;
    at = window_read_number(at + 1, &read.y);
    if (!at || *at || read.y < 1 || read.y > WINDOW_MAX || read.x > read.y)
        return -EINVAL;
    *window = read;
    return 0;
}

#endif
