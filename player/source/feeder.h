/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The light thread that reads the file and hands each packet to where it is wanted.
 *
 * It exists so that sound does not starve while a decode is long: video packets go to a queue, sound is decoded in this
 * thread. While it runs, the clip and what its outputs need are its own; to seek, the main thread stops it, moves the clip,
 * and starts it again.
 */
#ifndef PLAYER_FEEDER_H
#define PLAYER_FEEDER_H

#include "clip.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Where the packets of a stream go. Each function is called with `opaque`. */
struct feeder_output {
    void *opaque;
    /*
     * Feeder: a packet, whose reference may be taken. May block. A negative code: no more packets are wanted; -ECANCELED
     * while interrupted.
     */
    int (*take)(void *opaque, AVPacket *packet);
    /* Feeder: nothing follows. May block. Not called for sound whose take has failed. */
    void (*end)(void *opaque);
    /* Main thread: while on, take and end return soon. Off, with no feeder running: the output is usable again. */
    void (*interrupt)(void *opaque, bool on);
};

struct feeder {
    struct clip *clip;
    struct feeder_output video; /* take NULL: no video is wanted. When take fails, reading ends */
    struct feeder_output audio; /* take NULL: no sound is wanted. When take fails, reading goes on without it */
    int64_t end_ns; /* packets from there on are not wanted; INT64_MAX: all are */

    pthread_t thread;
    bool running;
    _Atomic bool stop; /* set by the main thread, read by the feeder; relaxed: it publishes no other data */
};

/*
 * Starts the thread. The fields above are set by the caller. Returns 0 or a negative errno. All signals are blocked in the
 * thread but SIGUSR2, which wakes it from a read that hangs: the feeder installs a handler for it that does nothing.
 */
int feeder_start(struct feeder *feeder);

/*
 * Ends and joins the thread if it runs; wakes it wherever it waits, for a pipe's stalled writer after 0.1 s. The outputs
 * are usable again after it. Main thread.
 */
void feeder_stop(struct feeder *feeder);

#endif
