/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pictures of a graph and what its processes find in them: shared memory that belongs to a table of PMan. The precedences of
 * the graph say who may write what when; the store itself guards nothing. The last pictures are kept, so that a process that is
 * late does not see one change.
 */
#ifndef PICTURE_STORE_H
#define PICTURE_STORE_H

#include "picture_work.h"

#include <stdbool.h>
#include <stddef.h>

enum { STORE_PICTURES = 4, STORE_SIDE_MAX = 8192 };

struct picture_store {
    uint32_t magic;           /* written last; 0 again when another store has taken its place */
    int32_t width, height;
    int32_t level;            /* how hard the encoder tries, 1 to 9; recovery lowers it */
    int64_t number;           /* of the newest complete picture, from 1 on; 0: none yet */
    int64_t hurried;          /* how often recovery has lowered the level */
    struct picture_blob blob[PICTURE_OBJECTS];
    double steering, speed;   /* what the control process decides */
    int64_t world_number;     /* the picture that the world state is of */
    struct picture_blob world[PICTURE_OBJECTS];
    int64_t packet_size;      /* of the newest encoded picture; 0: it was written, or there is none */
    uint8_t planes[];
};

/*
 * Makes the store of a table, in place of one that a killed program has left, which is then not current any more. Returns 0 or a
 * negative errno. Unmap it with picture_store_close.
 */
int picture_store_create(struct picture_store **store, const char *table, int width, int height);

/* Opens it when it is there; waits 10 s for it. Returns 0, -ENOENT (it did not come) or another negative errno. */
int picture_store_open(struct picture_store **store, const char *table);

/* Returns whether the store is the newest of its table. If not, its pictures never change again: close it, and open the new one. */
bool picture_store_is_current(const struct picture_store *store);

void picture_store_close(struct picture_store *store);

/* Removes the store's name. */
void picture_store_remove(const char *table);

/* The picture with this number, which may be written until it becomes the newest one. */
uint8_t *picture_store_luma(struct picture_store *store, int64_t number);
struct picture_planes picture_store_planes(struct picture_store *store, int64_t number);

/* Bytes of a picture: luma, Cb, Cr. */
size_t picture_store_picture_size(const struct picture_store *store);

uint8_t *picture_store_classes(struct picture_store *store); /* a chroma plane */
uint8_t *picture_store_blurred(struct picture_store *store); /* a luma plane */
uint8_t *picture_store_halved(struct picture_store *store);  /* a chroma plane */
uint8_t *picture_store_packet(struct picture_store *store);  /* picture_store_packet_capacity bytes */
size_t picture_store_packet_capacity(const struct picture_store *store);

#endif
