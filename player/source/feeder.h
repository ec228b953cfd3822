/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The light thread that reads the file: video packets go to the queue, sound is decoded and goes to the sink.
 *
 * It exists so that sound does not starve while a decode is long. While it runs, the clip and the audio track are its
 * own; to seek, the main thread stops it, moves the clip, and starts it again.
 */
#ifndef PLAYER_FEEDER_H
#define PLAYER_FEEDER_H

#include "audio_track.h"
#include "clip.h"
#include "frame_log.h"
#include "packet_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct feeder {
    struct clip *clip;
    struct packet_queue *queue; /* NULL: no video */
    struct audio_track *audio;  /* NULL: no sound */
    struct frame_log *log;
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
 * Ends and joins the thread if it runs; wakes it wherever it waits, for a pipe's stalled writer after 0.1 s. The queue and
 * the sink are usable again after it.
 */
void feeder_stop(struct feeder *feeder);

#endif
