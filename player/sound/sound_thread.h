/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The light thread that decodes the sound and writes it to the sink, which holds about a second. It has a queue of
 * packets of its own, so that the feeder can read on for the pictures while the sink is full.
 *
 * Main thread, unless said otherwise.
 */
#ifndef PLAYER_SOUND_THREAD_H
#define PLAYER_SOUND_THREAD_H

#include "audio_track.h"
#include "packet_queue.h"

#include <pthread.h>
#include <stdbool.h>

struct sound_thread {
    /* Set by the session; not changed while the thread runs. */
    struct audio_track *track;
    struct packet_queue *packets;

    pthread_t handle;
    bool running;
};

/*
 * Starts the thread. While it runs, only this thread feeds the track. All signals are blocked in it. Returns 0 or a
 * negative errno.
 */
int sound_thread_start(struct sound_thread *thread);

/*
 * Ends and joins the thread if it runs, wherever it waits. Stop the feeder before. The sink and the queue are usable again
 * afterwards.
 */
void sound_thread_stop(struct sound_thread *thread);

#endif
