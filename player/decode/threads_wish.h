/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many threads the user wants to decode with (--threads), and how many that are. Pure. */
#ifndef PLAYER_THREADS_WISH_H
#define PLAYER_THREADS_WISH_H

#include <stdbool.h>

/* FFmpeg advises against more: each one holds back a picture, and they wait for each other. */
enum { CODEC_THREADS_MAX = 16 };

struct threads_wish {
    int count; /* 1 to CODEC_THREADS_MAX; 0: auto */
};

/* Parses "auto" or a number. Returns 0 or -EINVAL. */
int threads_wish_parse(struct threads_wish *wish, const char *text);

enum { THREADS_WISH_TEXT_SIZE = 12 };

/* Writes the wish in the same form and returns text. */
const char *threads_wish_text(const struct threads_wish *wish, char text[THREADS_WISH_TEXT_SIZE]);

/* Where the threads are to run. */
struct threads_place {
    bool is_serial;       /* --queue=0: one thread decodes and presents */
    bool has_reservation; /* --sched=deadline */
    int cpus;             /* on which they may run, >= 1 */
    double quota_cpus;    /* how many of them a control group allows to use, e.g. 1.5; INFINITY: all */
};

/*
 * Returns why several threads cannot be had there, as the end of a sentence ("--threads=4 …"), or NULL if the wish can be
 * fulfilled. Only is_serial and has_reservation are read.
 */
const char *threads_wish_refusal(const struct threads_wish *wish, const struct threads_place *place);

/*
 * Returns how many threads decode. auto: one with --queue=0 and under a reservation, else as many as there are CPUs, where a
 * quota counts rounded up. The wish must not be refused.
 */
int threads_wish_count(const struct threads_wish *wish, const struct threads_place *place);

#endif
