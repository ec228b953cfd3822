/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks every time stamp of a file, and moves the streams to one time line: film time.
 *
 * Film time is the file's own time until the file's time stamps jump. Behind a jump, film time goes on where the next packet was
 * expected. So nothing behind this module sees a jump, and a seek finds its place in the file with time_stamps_file_ns. What a
 * stamp is compared with, in this order:
 *
 *   - the stream's packets before it: a DTS rises by about the duration of a packet;
 *   - the other stream: where sound goes on, pictures really last that long, and the other way round. Where it jumped before,
 *     both get the same film time again;
 *   - PTS and DTS with each other: their difference is at most what reordering needs. Where a picture lasts long, the DTS of packets
 *     behind it get there;
 *   - the stream's packets behind it: if they go back to where they were expected, only this stamp is damaged, and it is replaced.
 *
 * What remains is a jump. A short gap, and a long one in a film whose pictures last differently, is not closed: see time_stamps.c.
 *
 * Pure: no clock, no FFmpeg. Packets go in and come out in the order of the file; those behind an odd stamp must be known
 * before it is judged. Times are in ns, or NS_UNKNOWN.
 */
#ifndef PLAYER_TIME_STAMPS_H
#define PLAYER_TIME_STAMPS_H

#include "read_ahead.h"
#include "stamped_stream.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TIME_STAMPS_WINDOW = 192, /* packets that may wait for a judgement */
    TIME_STAMPS_JUMPS = 64,   /* jumps of which seeks know; of more, the last one replaces the one before */
};

struct checked_stamp {
    struct stamp film;  /* in film time; a damaged PTS whose right value is not known is NS_UNKNOWN */
    int64_t offset_ns;  /* file time - film time */
};

struct time_jump {
    int64_t film_ns; /* from here on … */
    int64_t offset_ns;
};

struct time_stamps {
    struct stamped_stream streams[READ_STREAMS];
    struct stamp window[TIME_STAMPS_WINDOW]; /* a ring */
    int first;
    int count;
    struct time_jump jumps[TIME_STAMPS_JUMPS]; /* the first one is no jump, it has the file's beginning */
    int jump_count;
    int64_t begin_ns; /* where the film begins */
    int64_t start_ns; /* where the first packet is expected: there, or at the target of a seek */
    bool at_end;      /* all packets of the file are in the window, or were */
    bool sought;      /* to another place than the beginning: the first packets may lie anywhere */
};

/* start_ns: the earliest time in the file. */
void time_stamps_init(struct time_stamps *stamps, const struct stamped_facts facts[READ_STREAMS], int64_t start_ns);

/* Returns the file's time of a film time, as far as jumps are known: before the first jump that was read they are equal. */
int64_t time_stamps_file_ns(const struct time_stamps *stamps, int64_t film_ns);

/* Reading goes on elsewhere in the file, about at this film time. What waits is forgotten. */
void time_stamps_seek(struct time_stamps *stamps, int64_t film_ns);

/* Adds the next packet of the file. There must be room: see time_stamps_take. */
void time_stamps_put(struct time_stamps *stamps, const struct stamp *file);

/*
 * Takes the oldest packet that waits. Returns false if packets behind it are needed for that, and then there is room for one.
 * at_end: no packet follows.
 */
bool time_stamps_take(struct time_stamps *stamps, bool at_end, struct checked_stamp *checked);

#endif
