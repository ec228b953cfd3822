/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes into the decoder and what comes out of it: plain data, so that both may be in another thread than the decoder.
 */
#ifndef PLAYER_DECODE_JOB_H
#define PLAYER_DECODE_JOB_H

#include "frame_record.h"
#include "policy_decode.h"

#include <libavcodec/packet.h>
#include <libavutil/frame.h>
#include <stdint.h>

/* A picture whose packet the decoder does not know. */
#define JOB_UNKNOWN INT64_C(-1)

/* The order to decode one packet. The packet stays the caller's; its `opaque` becomes the decoder's. */
struct decode_job {
    AVPacket *packet;       /* NULL: drain, give out what is held back */
    int64_t number;         /* >= 0 and never the same again; the packet's pictures carry it */
    struct decode_order order;
};

/* What the gate did with a droppable picture. */
struct gate_verdict {
    int64_t number;       /* the job of the picture; the second field of a picture has that of the first. JOB_UNKNOWN:
                             no droppable picture that is known came to the gate */
    enum verdict verdict; /* VERDICT_SKIPPED, VERDICT_ABORTED, or VERDICT_NONE: it was decoded */
};

/* What became of a job; its pictures come out of decoder_take, maybe after later jobs. */
struct decode_outcome {
    int64_t number;
    int64_t start_ns; /* CLOCK_MONOTONIC around the decode block */
    int64_t end_ns;
    int64_t cpu_ns;   /* of the decoding thread, within the decode block */
    int64_t deadline_ns; /* NO_DEADLINE: none was in force */
    int64_t fired_ns;    /* when the expiry reached the program: in the gate, or at the end of the protected section;
                            NS_UNKNOWN: it did not */
    struct gate_verdict gate;
    int error; /* 0; AVERROR_EOF: drained; or the decoder's error: playing may go on with the next packet */
};

/* A picture that came out. Flags of the frame say whether it is droppable and whether it was abandoned. */
struct decoded_picture {
    AVFrame *frame; /* the caller's, allocated once; what is in it is moved there, and the caller unreferences it */
    int64_t number; /* of its job, or JOB_UNKNOWN */
};

#endif
