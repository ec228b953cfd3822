/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The orders of the jobs that are in the decoder, and what becomes of their pictures, for all threads that decode.
 *
 * A job's number travels through libavcodec with its picture (AVFrame.opaque). So the thread that decodes a picture finds
 * its order here, and the thread that takes the picture out finds what was done with it. The thread that gives packets to
 * the decoder is called the decode thread below; FFmpeg's codec threads may be others.
 *
 * The entry of a job is overwritten LEDGER_JOBS jobs later, far behind any picture that a decoder still works on.
 */
#ifndef PLAYER_JOB_LEDGER_H
#define PLAYER_JOB_LEDGER_H

#include "decode_job.h"
#include "decode_stop.h"
#include "threads_wish.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LEDGER_JOBS = 256 };

struct ledger_entry {
    /* Written by the decode thread before it gives the packet to the decoder. FFmpeg's lock hands it on to codec threads. */
    int64_t number; /* JOB_UNKNOWN: the entry is free */
    struct decode_order order;
    int64_t start_ns;
    bool is_droppable; /* the packet says so; only of codecs whose decoder does not mark droppable pictures */
    /* Written by any thread that decodes. Read when the picture has come out, which FFmpeg's lock orders: so relaxed. */
    atomic_int verdict; /* enum verdict */
    _Atomic int64_t fired_ns;
    /* Guarded by the ledger's lock. */
    int64_t cpu_ns;
    bool is_measured; /* cpu_ns is known */
};

/* A codec thread, and the picture that it decodes. */
struct ledger_worker {
    pid_t thread;   /* 0: there is none */
    int64_t number; /* of the picture's job; JOB_UNKNOWN: between two pictures */
    int64_t since_ns; /* the thread's CPU time when that began */
};

struct job_ledger {
    bool overlaps; /* several jobs are decoded at once; not changed while the decoder is open */
    /* Both are set by the decode thread between packets, and read by codec threads. FFmpeg's locks give them to these. They are
       atomic, because FFmpeg orders the end of slice threads' work by atomics alone, which ThreadSanitizer does not see in a
       library that is not instrumented. */
    struct decode_stop *_Atomic stop;     /* NULL: nobody stops a decode */
    struct ledger_entry *_Atomic current; /* of the last job */
    _Atomic int64_t asked; /* if jobs do not overlap: the droppable picture asked about in the last one, or JOB_UNKNOWN */
    struct ledger_entry entries[LEDGER_JOBS];
    pthread_mutex_t lock; /* guards the workers and what is said above; taken by the decode thread and the codec threads */
    struct ledger_worker workers[CODEC_THREADS_MAX];
};

void ledger_init(struct job_ledger *ledger);
void ledger_finish(struct job_ledger *ledger);

/* Decode thread: a job begins. Its number is >= 0. */
void ledger_begin(struct job_ledger *ledger, const struct decode_job *job, int64_t start_ns);

/*
 * Any thread that decodes: returns whether the decode of this droppable picture is to be given up now, because of its
 * order, its deadline or a stop, and notes why. If jobs do not overlap, the order of the last job applies: that of the
 * second packet, where a picture has two.
 */
bool ledger_gives_up(struct job_ledger *ledger, int64_t number);

/* Any thread that decodes: the same without the deadline and the stop. */
bool ledger_refuses(struct job_ledger *ledger, int64_t number);

/* Decode thread: the deadline of the last job, or a stop, has ended its decode, or has reached the program behind it. */
void ledger_note_end(struct job_ledger *ledger, enum verdict verdict);

/* Decode thread: the packet of the last job has a droppable picture; and whether that was said of this job. */
void ledger_mark_droppable(struct job_ledger *ledger);
bool ledger_is_droppable(struct job_ledger *ledger, int64_t number);

/*
 * A thread that decodes one picture at a time: begins with the picture of this job. From now on its CPU time counts as the
 * picture's.
 */
void ledger_begin_picture(struct job_ledger *ledger, int64_t number);

/*
 * Decode thread: returns what became of the picture of this job, which has just come out. Nothing is known if the number is
 * JOB_UNKNOWN.
 */
struct picture_decode ledger_picture(struct job_ledger *ledger, int64_t number);

/* Decode thread, if jobs do not overlap: returns what became of the droppable picture that was asked about in the last one. */
struct gate_verdict ledger_verdict(struct job_ledger *ledger);

/* The same: returns when the deadline of the last job reached the program; NS_UNKNOWN: it did not. */
int64_t ledger_fired_ns(struct job_ledger *ledger);

/* Decode thread, while no codec thread works, for a seek: pictures that have not come out are forgotten. */
void ledger_forget(struct job_ledger *ledger);

#endif
