/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The light thread that reads the file and hands each packet to the output that wants it.
 *
 * It exists so that sound does not starve during a long decode: the packets of each stream go to a queue. While it runs, only this thread uses the clip and what the outputs need. To seek, the main thread stops
 * the feeder, moves the clip, and starts the feeder again.
 */
#ifndef PLAYER_FEEDER_H
#define PLAYER_FEEDER_H

#include "clip.h"
#include "read_ahead.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Where the packets of a stream go. Each function is called with `opaque`. */
struct feeder_output {
    void *opaque;
    /*
     * Feeder: hands over a packet. The function may take its reference and may block. It returns a negative code if it
     * wants no more packets; -ECANCELED while interrupted.
     */
    int (*take)(void *opaque, AVPacket *packet);
    /* Feeder: no packet follows. Called once, however reading ends, also after take has failed. */
    void (*end)(void *opaque);
    /* Main thread: while on, take and end return soon. Turned off while no feeder runs: the output is usable again. */
    void (*interrupt)(void *opaque, bool on);
};

struct feeder {
    struct clip *clip;
    struct read_ahead *ahead; /* where it rests when enough was read */
    struct feeder_output video; /* take NULL: no video is wanted. When take fails, reading ends */
    struct feeder_output audio; /* take NULL: no sound is wanted. When take fails, reading goes on without it */
    int64_t end_ns; /* packets from this time on are not wanted; INT64_MAX: all are wanted */

    pthread_t thread;
    sem_t ended; /* posted by the feeder at its end */
    bool running;
    int error;    /* why the rest of the file was not read, a negative code; 0: it was, or nobody wants it. Valid after feeder_stop */
    _Atomic bool stop; /* set by the main thread, read by the feeder; relaxed: it publishes no other data */
};

/*
 * Starts the thread. The caller has set the fields above. Returns 0 or a negative errno. All signals are blocked in the
 * thread except SIGUSR2, which wakes it from a read that hangs. The feeder installs a handler for SIGUSR2 that does
 * nothing.
 */
int feeder_start(struct feeder *feeder);

/*
 * Ends and joins the thread if it runs; feeder->error is kept from then on, also over later starts. Wakes the thread wherever it waits; a wait for a pipe's stalled writer is
 * broken off after 0.1 s. The outputs are usable again afterwards. Main thread.
 */
void feeder_stop(struct feeder *feeder);

#endif
