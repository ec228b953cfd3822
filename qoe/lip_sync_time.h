/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For which part of the time the picture and the sound were how well synchronised, by the grades of lip_sync.h (seed 004, Table
 * 1, and ITU-R BT.1359-1). Each shown picture counts with its skew for as long as it stood on the screen (freeze_stood_ns).
 */
#ifndef QOE_LIP_SYNC_TIME_H
#define QOE_LIP_SYNC_TIME_H

#include "frame_record.h"

#include <stdbool.h>
#include <stdint.h>

enum { LIP_SYNC_GRADES = 3 };

/* Parts of the time, which add up to 1. All are NaN if no skew is known. */
struct lip_sync_time {
    double part[LIP_SYNC_GRADES];     /* by enum lip_sync */
    double itu_part[LIP_SYNC_GRADES]; /* by enum lip_sync_itu */
};

/* Returns 0 or -ENOMEM. */
int lip_sync_time_of(struct lip_sync_time *time, const struct frame_record *rows, int64_t count);

/* True if the parts are numbers. */
bool lip_sync_time_is_known(const struct lip_sync_time *time);

#endif
