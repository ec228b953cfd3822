/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds which part of a clip's sound was heard when, from the tones found in a recording of it. Pure.
 *
 * This takes two steps. First, the server's reports say which frame of the recording is heard at which time; they turn
 * a tone's place in the recording into a time. Second, the position in the clip at any time lies on the line through
 * the tones before and after it. Where these two tones are not as far apart in time as in the clip (a pause, an
 * underrun, a jump), the position between them is known only to within that difference. `breaks` counts these cases.
 */
#ifndef OBSERVER_HEARD_CLOCK_H
#define OBSERVER_HEARD_CLOCK_H

#include "burst.h"

#include <stddef.h>
#include <stdint.h>

/* The frame `frame` of the recording leaves the loudspeaker at time_ns (CLOCK_MONOTONIC). */
struct heard_report {
    int64_t time_ns;
    double frame;
};

struct heard_tone {
    int64_t time_ns;     /* when it was heard */
    int64_t quarter;     /* of a second of the clip, from its beginning */
    int64_t position_ns; /* in the clip's own time */
};

struct heard_clock {
    struct heard_tone *tone;
    int64_t count;
    int64_t breaks;
};

/*
 * start_ns: the clip's time at which its sound begins. A tone gives its quarter only modulo BURST_TONES. Of the
 * possible quarters, the one nearest to the position expected from the tone before is taken; the first tone is near
 * first_ns. Without reports there are no tones. Returns 0 or -ENOMEM; heard_clock_finish accepts zeros.
 */
int heard_clock_make(struct heard_clock *clock, const struct burst *burst, size_t burst_count,
                     const struct heard_report *report, size_t report_count, int rate, int64_t start_ns,
                     int64_t first_ns);
void heard_clock_finish(struct heard_clock *clock);

/*
 * Returns the position in the clip at time_ns. Before the first tone and after the last one, it moves at the pace of
 * time. FIELD_EMPTY: no tones.
 */
int64_t heard_clock_position_ns(const struct heard_clock *clock, int64_t time_ns);

#endif
