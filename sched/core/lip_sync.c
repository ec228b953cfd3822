/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lip_sync.h"

#include "ns.h"

#include <stdbool.h>

const struct skew_limit skew_limits[SKEW_LIMITS] = {
    {MEDIUM_VIDEO, MEDIUM_ANIMATION, "correlated", -120, 120},
    {MEDIUM_VIDEO, MEDIUM_AUDIO, "lip synchronisation", -80, 80},
    {MEDIUM_VIDEO, MEDIUM_IMAGE, "overlay", -240, 240},
    {MEDIUM_VIDEO, MEDIUM_IMAGE, "no overlay", -500, 500},
    {MEDIUM_VIDEO, MEDIUM_TEXT, "overlay", -240, 240},
    {MEDIUM_VIDEO, MEDIUM_TEXT, "no overlay", -500, 500},
    {MEDIUM_AUDIO, MEDIUM_ANIMATION, "correlated events, such as dancing", -80, 80},
    {MEDIUM_AUDIO, MEDIUM_AUDIO, "tightly coupled, stereo", -11, 11},
    {MEDIUM_AUDIO, MEDIUM_AUDIO, "dialogue of several participants", -120, 120},
    {MEDIUM_AUDIO, MEDIUM_AUDIO, "background music", -500, 500},
    {MEDIUM_AUDIO, MEDIUM_IMAGE, "tightly coupled, such as music with notes", -5, 5},
    {MEDIUM_AUDIO, MEDIUM_IMAGE, "loosely coupled, such as a slide show", -500, 500},
    {MEDIUM_AUDIO, MEDIUM_TEXT, "annotation", -240, 240},
    {MEDIUM_AUDIO, MEDIUM_POINTER, "audio relates to the shown item", -500, 750},
};

static bool is_within_ms(int64_t skew_ns, int64_t least_ms, int64_t most_ms)
{
    return skew_ns >= least_ms * NS_PER_MS && skew_ns <= most_ms * NS_PER_MS;
}

enum lip_sync lip_sync_grade(int64_t skew_ns)
{
    const struct skew_limit *const limit = &skew_limits[SKEW_LIP_SYNC];
    if (is_within_ms(skew_ns, limit->least_ms, limit->most_ms))
        return LIP_SYNC_ACCEPTED;
    return skew_ns > -240 * NS_PER_MS && skew_ns < 160 * NS_PER_MS ? LIP_SYNC_IRRITATING : LIP_SYNC_DISTRACTING;
}

const char *lip_sync_name(enum lip_sync grade)
{
    static const char *const names[] = {"accepted", "irritating", "distracting"};
    return names[grade];
}

enum lip_sync_itu lip_sync_itu_grade(int64_t skew_ns)
{
    if (is_within_ms(skew_ns, -125, 45))
        return LIP_SYNC_ITU_UNDETECTED;
    return is_within_ms(skew_ns, -185, 90) ? LIP_SYNC_ITU_ACCEPTABLE : LIP_SYNC_ITU_UNACCEPTABLE;
}

const char *lip_sync_itu_name(enum lip_sync_itu grade)
{
    static const char *const names[] = {"undetected", "acceptable", "unacceptable"};
    return names[grade];
}
