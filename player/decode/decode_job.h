/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes into the decoder and what comes out of it. This is plain data, so that another thread than the decoder's
 * may hold both.
 */
#ifndef PLAYER_DECODE_JOB_H
#define PLAYER_DECODE_JOB_H

#include "frame_record.h"
#include "pace.h"
#include "policy_decode.h"

#include <libavcodec/packet.h>
#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

/* A picture whose packet the decoder does not know. */
#define JOB_UNKNOWN INT64_C(-1)

/* The order to decode one packet. The caller keeps owning the packet; the decoder overwrites its `opaque`. */
struct decode_job {
    AVPacket *packet;       /* NULL: drain, that is, release the pictures held back */
    int64_t number;         /* >= 0 and never reused; the packet's pictures carry it */
    struct decode_order order;
};

/* What the gate, or a poll, did with a droppable picture. */
struct gate_verdict {
    int64_t number;       /* the picture's job; the second field of a picture has the job of the first. JOB_UNKNOWN:
                             no droppable picture with a known job came to the gate */
    enum verdict verdict; /* VERDICT_SKIPPED, VERDICT_ABORTED, or VERDICT_NONE: the picture was decoded */
};

/*
 * The result of a job. Its pictures come out of decoder_take, perhaps only after later jobs.
 *
 * If it is pending, codec threads still decode it. What follows is then unknown (NS_UNKNOWN, JOB_UNKNOWN), and comes with
 * the picture (struct picture_decode).
 */
struct decode_outcome {
    int64_t number;
    int64_t start_ns; /* CLOCK_MONOTONIC before the decode block */
    int64_t deadline_ns; /* NO_DEADLINE: none was in force */
    int error; /* 0; AVERROR_EOF: drained; or the decoder's error: playing may go on with the next packet */
    int64_t wall_ns;     /* how long decoder_run took, and the CPU time that all decoding received meanwhile */
    int64_t received_ns;
    int64_t since_last_ns; /* that CPU time since the job before began; NS_UNKNOWN: there was none */
    int64_t between_ns;    /* and since it ended, until this one began; 0: there was none */
    bool is_pending;
    bool is_withheld; /* the picture was withheld from the decoder, so nothing of it is decoded (AV1) */
    int64_t end_ns;   /* CLOCK_MONOTONIC behind the decode block */
    int64_t cpu_ns;   /* CPU time of all threads that decode within the decode block */
    int64_t fired_ns; /* when the expiry reached the program: in the gate, or at the end of the protected section;
                         NS_UNKNOWN: it did not */
    struct gate_verdict gate;
};

/* The rest of the result of a pending job, known when its picture has come out. Times as in decode_outcome. */
struct picture_decode {
    bool is_known; /* false: the job was not pending, or libavcodec lost its number; the rest is not valid */
    enum verdict verdict; /* as in gate_verdict */
    int64_t start_ns;
    int64_t end_ns;   /* when it came out: later pictures were decoded meanwhile */
    int64_t cpu_ns;   /* of the thread that decoded it; NS_UNKNOWN: not measured */
    int64_t fired_ns; /* only of a picture that was given up: nobody sees the end of another one's decode */
};

/* What the presenter must know about the packet of a job. */
struct packet_facts {
    int segment;
    int64_t pts_ns;
    int64_t size_bytes;
    enum picture_class picture_class;
    bool unwanted;    /* see packet_place: its picture is not shown */
    bool passed_over; /* it did not go to the decoder: no picture will come out, and the outcome has its number only */
    bool given_up;    /* its order was to give it up */
    bool is_starting; /* see decode_policy_is_starting, after its order */
    enum degraded degraded;
};

/* What is known about a job when it is done. Its pictures may come out later. */
struct job_note {
    struct packet_facts packet;
    struct decode_outcome outcome;
};

/*
 * A picture that came out, with everything that the presenter must know about it. Pictures come out in presentation
 * order.
 */
struct decoded_picture {
    AVFrame *frame; /* owned by the caller, allocated once; a picture is moved in, and the caller unrefs it */
    int64_t number; /* of its job, or JOB_UNKNOWN */
    bool is_first;  /* of its job: later ones of the same packet have rows of their own */
    struct picture_decode decode;
    bool droppable;
    bool abandoned; /* the frame has nothing that could be shown */
    bool interlaced;
    char type;      /* 'I', 'P', 'B', … */
    int segment;
    struct picture_place place;
    int64_t due_ns;  /* PTS at which it is due */
    int64_t next_ns; /* PTS of the picture that follows it, as far as known */
};

#endif
