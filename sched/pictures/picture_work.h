/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What processes of a graph do with a picture: colour classes and objects, as the robots of seed 002, and filters. Pure. Planes
 * have no padding: `width` samples a row. A chroma sample belongs to 2 x 2 luma samples.
 */
#ifndef PICTURE_WORK_H
#define PICTURE_WORK_H

#include <stdint.h>

/* What the seed's robots look for. */
enum picture_object { OBJECT_BALL, OBJECT_OBSTACLES, OBJECT_BLUE_GOAL, OBJECT_YELLOW_GOAL, OBJECT_LINES, PICTURE_OBJECTS };

enum { CLASS_NOTHING = PICTURE_OBJECTS }; /* other values of a class are enum picture_object */

struct picture_planes {
    int width, height; /* of luma; even */
    const uint8_t *y, *cb, *cr;
};

/* Writes the class of each chroma sample of some rows, first_row to end_row - 1, into a map of all of them. */
void picture_classify(const struct picture_planes *planes, int first_row, int end_row, uint8_t *classes);

/* Where an object is. */
struct picture_blob {
    int64_t samples; /* chroma samples of its class; 0: it is not there */
    double x, y;     /* their mean */
    int left, top, right, bottom;
};

struct picture_blob picture_track(const uint8_t *classes, int columns, int rows, enum picture_object object);

/* A box filter of 3 x 3. Samples at the border are copied. */
void picture_blur(const uint8_t *from, int width, int height, uint8_t *to);

/* Means of 2 x 2 samples. */
void picture_halve(const uint8_t *from, int width, int height, uint8_t *to);

#endif
