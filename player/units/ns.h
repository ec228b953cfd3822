/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nanoseconds: all times in the player are int64_t ns. CLOCK_MONOTONIC unless a name says otherwise. */
#ifndef PLAYER_NS_H
#define PLAYER_NS_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

/* A time stamp that is not known. FFmpeg's AV_NOPTS_VALUE and an empty field of a record have the same value. */
#define NS_UNKNOWN INT64_MIN

static inline int64_t ns_from_timespec(struct timespec time)
{
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* ns >= 0. */
static inline struct timespec ns_to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

static inline double ns_to_s(int64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

static inline double ns_to_ms(int64_t ns)
{
    return (double)ns / (double)NS_PER_MS;
}

static inline double ns_to_us(int64_t ns)
{
    return (double)ns / (double)NS_PER_US;
}

#endif
