/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that decodes ahead of the presenter. It runs a stage between a queue of packets and a queue of pictures.
 *
 * One thread serves all files, because a reservation (SCHED_DEADLINE) outlives its thread by up to a period, and the
 * thread after it might not be admitted. Main thread, unless said otherwise.
 */
#ifndef PLAYER_DECODE_THREAD_H
#define PLAYER_DECODE_THREAD_H

#include "decode_stage.h"
#include "packet_queue.h"
#include "picture_queue.h"

struct decode_thread;

/*
 * Starts the thread, which then sleeps. It starts on this CPU (-1: anywhere): whether a reservation is admitted depends on the
 * CPU on which a sleeping thread ran last. It has the role decode, deadlines of its own, and all signals blocked except those
 * of libdlex. Returns 0 or a negative errno: no thread, or no timer for deadlines. decode_thread_destroy ends it; it
 * accepts an empty pointer and clears it.
 */
int decode_thread_create(struct decode_thread **out, int cpu);
void decode_thread_destroy(struct decode_thread **thread);

/*
 * Begins to work. Until decode_thread_end returns, only the thread uses the stage, reads the packets and writes the
 * pictures.
 */
void decode_thread_begin(struct decode_thread *thread, struct decode_stage *stage, struct packet_queue *packets,
                         struct picture_queue *pictures);

/*
 * Ends the work, wherever it is, and waits until the thread sleeps. A droppable picture in progress is abandoned, another
 * one is decoded to its end. Codec threads may still work on theirs: decoder_flush and decoder_close wait for them, and
 * droppable pictures are abandoned until then. Both queues are usable again; what they hold stays in them. Harmless if no
 * work was begun.
 */
void decode_thread_end(struct decode_thread *thread);

#endif
