/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many threads the user wants to decode with (--threads), and how many that are. Pure. */
#ifndef PLAYER_THREADS_WISH_H
#define PLAYER_THREADS_WISH_H

#include <stdbool.h>
#include <stdint.h>

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
    bool is_placed;       /* --cpu, or --sched=fifo or rr */
    int cpus;             /* on which they may run, >= 1 */
    double quota_cpus;    /* how many of them a control group allows to use, e.g. 1.5; INFINITY: all */
    int most;             /* how many threads may be started for it, see threads_wish_most; 0: any number */
};

/* The player's other threads: they decode ahead, read, decode the sound, watch the limits; libraries start some for sound and screen. */
enum { THREADS_BESIDE_CODEC = 8 };

/*
 * Returns how many codec threads there may be if the program may start so many threads in all (control_groups_thread_room): at least 1;
 * 0: any number.
 */
int threads_wish_most(int64_t thread_room);

/*
 * Returns why several threads cannot be had there, as the end of a sentence ("--threads=4 …"), or NULL if the wish can be
 * fulfilled. Only is_serial and has_reservation are read.
 */
const char *threads_wish_refusal(const struct threads_wish *wish, const struct threads_place *place);

/*
 * Returns how many threads decode; the wish must not be refused. auto, with n CPUs:
 * - --queue=0, or a reservation: 1.
 * - A quota that is less than the CPUs: as many CPUs as the quota allows, rounded up. More threads only use up the quota sooner, and
 *   the presenting thread waits with them.
 * - fifo or rr, or a CPU that the user names: n + 1, but 1 on one CPU. The thread that has the picture before a reference often waits for it.
 * - One CPU: 1. Where something stops the program for part of the time, several threads begin more pictures than they end.
 * - Otherwise 2 n + 3. A fair scheduler divides the CPUs by threads, and two ask other programs for less than seven. How much CPU time the film
 *   takes is the same with all numbers. An odd number: frame threads take pictures in turn, so with an even one all references of a
 *   film whose B pictures alternate with them come to half of the threads. (Measured: docs/whole-machine.md.)
 * No more than may be started.
 */
int threads_wish_count(const struct threads_wish *wish, const struct threads_place *place);

/*
 * Returns the count of auto, or fewer, so that pictures that are not yet decoded do not take the place of those that are: beyond n + 1, at
 * most a quarter of the pictures for which the queue of decoded ones has room. A number that the user wants is returned as it is.
 */
int threads_wish_fit(const struct threads_wish *wish, const struct threads_place *place, int64_t pictures);

#endif
