/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Listens to a PulseAudio source, the monitor of the sink that a player plays to. Records the tones that it hears, and
 * the server's reports of what is heard at which time.
 *
 * It requests no latency: a stream that did would make the sink work in smaller portions, and so change what is
 * observed. A monitor gets sound when the sink mixes it. That is earlier than the sound is heard, by the amount that
 * the sink still holds (2 s at most for a null sink); the report gives this amount.
 *
 * libpulse's own thread does all of this, in memory reserved by monitor_source_open.
 */
#ifndef OBSERVER_MONITOR_SOURCE_H
#define OBSERVER_MONITOR_SOURCE_H

#include "heard_clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct monitor_source;

/* What was heard. The arrays belong to the source. */
struct monitor_record {
    int rate;
    const struct burst *burst;
    size_t burst_count;
    const struct heard_report *report;
    size_t report_count;
    int64_t odd_sounds;
    int64_t holes_frames;
    int64_t lost; /* tones or reports for which there was no memory left */
};

/*
 * Connects to the user's server (PULSE_SERVER) and listens from now on. Reserves memory for length_s seconds and ten
 * minutes more. Blocks for three seconds at most. Sets *stop when the server goes away. Returns 0, or a negative errno
 * with the cause in why, as a clause ("it cannot be listened to"). monitor_source_close accepts NULL and clears
 * *source.
 */
int monitor_source_open(struct monitor_source **source, const char *name, double length_s, atomic_bool *stop, char *why,
                        size_t why_size);

/*
 * Waits until the sound that the server still holds back has come, 2.5 s at most, and then stops listening. Returns 0,
 * or -EPIPE with the cause in why when the server has gone away.
 */
int monitor_source_end(struct monitor_source *source, struct monitor_record *record, char *why, size_t why_size);
void monitor_source_close(struct monitor_source **source);

#endif
