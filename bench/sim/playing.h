/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The player in virtual time: a decoder, a queue of pictures, a presenter, a screen and the CPU time that both threads get.
 * It does not decide what to decode. Its user does that for each packet, in decode order.
 *
 * It is modelled after player/decode/decode_thread.c, decoder.c and picture_queue.c, player/present/presenter.c and
 * player/serial_loop.c. Not modelled: reading the file, sound (its clock runs evenly), and how soon the kernel switches
 * threads. Both threads share one CPU, where the presenter comes first. If they have reservations of their own, neither
 * delays the other. On a whole machine (fair_share.h) there may be several codec threads (codec_work.h). There the decode thread,
 * which gives them packets, and the presenter wait for their first slice after each sleep.
 *
 * A struct playing is plain data: a copy goes on from the same state in its own way, except that copies share `rows`. Times
 * are in ns.
 *
 *     struct playing playing = playing_begin(&setting);
 *     for (int i = 0; i < film->count; i++) {
 *         playing_wait_for_room(&playing);
 *         const int64_t got_ns = playing_decode(&playing, cost_ns[i], INT64_MAX);
 *         playing_take_in(&playing, i, FATE_DECODED, false);
 *     }
 *     playing_end(&playing);
 */
#ifndef PLAYING_H
#define PLAYING_H

#include "codec_work.h"
#include "cpu_supply.h"
#include "frame_record.h"
#include "policy_present.h"
#include "sim_film.h"
#include "sync.h"

#include <stdbool.h>
#include <stdint.h>

/* CPU time of a packet whose picture is refused, and of one that does not go to the decoder. */
struct lesser_costs {
    int64_t refusing_ns;
    int64_t passing_ns;
};

/* A decode without the loop filter. Its picture differs from the whole one, as do pictures that refer to it. */
struct degraded_decode {
    double part;     /* of the CPU time of a whole decode; 0: the decoder has no such decode */
    double rmse_q16; /* of each of these pictures, in 16-bit units */
};

struct playing_setting {
    const struct sim_film *film;
    const int64_t *cost_ns;     /* of each packet's decode in this run */
    struct lesser_costs lesser;
    struct degraded_decode degraded;
    struct policy_settings policy; /* for the decision to present a picture … */
    int64_t tolerance_ns;       /* … unless this is >= 0: then exactly the pictures that come at most so late are presented */
    int64_t queue;              /* pictures that may wait; 0: one thread decodes and presents in turns */
    int head_start;             /* with a queue: the clock waits for so many pictures, … */
    int64_t head_start_max_ns;  /* … but not longer */
    int64_t draw_ahead_ns;      /* with a queue: pictures are drawn so long before they are due */
    int64_t draw_cpu_ns;        /* CPU time of drawing a picture, and of flipping the drawn picture to the screen */
    int64_t flip_cpu_ns;
    struct cpu_supply decoding;
    struct cpu_supply presenting; /* if presents_apart: both threads have their own; otherwise they share `decoding` */
    bool presents_apart;
    struct fair_machine machine; /* cpus > 0: all threads run there, and the supplies are not used */
    int threads;                 /* with a machine: codec threads, > 0; several need a queue */
    struct codec_order codec_order;
};

enum picture_fate {
    FATE_NONE,     /* it has not been decoded yet */
    FATE_DECODED,
    FATE_UNWANTED, /* decoded, and not to be presented */
    FATE_ABORTED,
    FATE_SKIPPED,
};

/* What the presenter is doing. */
enum presenter_phase {
    PRESENTER_IDLE,        /* no picture is there */
    PRESENTER_FIRST_DRAW,  /* draws the first picture, before the clock starts */
    PRESENTER_HEAD_START,  /* sleeps, until the decoder is a little ahead */
    PRESENTER_AHEAD,       /* sleeps, until it is time to draw */
    PRESENTER_DRAWS,
    PRESENTER_WAITS,       /* sleeps, until the picture is due */
    PRESENTER_SHOWS,
};

/* The figures of the pictures that were presented or given up so far. */
struct playing_tally {
    int shown;
    int aborted;
    int skipped;
    int late;
    int last_shown;          /* place; < 0: none */
    double rmse_q16;         /* sum over the dropped pictures */
    int64_t wasted_cpu_ns;   /* decodes of droppable pictures that were dropped all the same */
};

enum {
    PICTURES_ON_THE_WAY_MAX = 1024,
    SIM_QUEUE_MIN = 2, /* a shorter queue has room for so many all the same: PICTURES_MIN in picture_queue.c */
};

struct playing {
    const struct playing_setting *setting; /* the caller's */
    struct frame_record *rows; /* NULL, or one for each place, filled in as far as the pictures got. The caller's */
    int64_t now_ns;
    struct cpu_supply decoding;
    struct cpu_supply presenting;
    bool ended; /* no packet follows */

    /* The decoder. */
    int held[SIM_DELAY_MAX + 1]; /* places of the pictures in it, ascending */
    int held_count;
    struct picture_on_the_way {
        uint8_t fate : 3;        /* enum picture_fate */
        uint8_t out : 1;         /* it came out of the decoder */
        uint8_t passed_over : 1; /* its packet did not go to the decoder */
        uint8_t is_starting : 1; /* see decode_policy_is_starting: of the packet that let it out, as in the player */
    } pictures[PICTURES_ON_THE_WAY_MAX]; /* by place modulo the length, from `next` on */
    bool job_is_starting; /* of the last packet */
    int out_end;          /* the pictures at all places before this one came out */
    int left_last;        /* place of the last picture that left the decoder; < 0: none has since it was flushed */
    int waiting;          /* pictures in the queue that can be shown */
    struct codec_work codec; /* what the codec threads do, on a whole machine */

    /* The presenter. */
    enum presenter_phase phase;
    int next;             /* place of the picture that it has, or of the one that it waits for */
    int64_t wake_ns;      /* until when it sleeps */
    int64_t work_ns;      /* the CPU time that it still wants now */
    int64_t began_ns;     /* when it began to draw, show or wait */
    int64_t drawing_ns;   /* what drawing the picture ahead took; 0: it was not drawn ahead */
    struct sync clock;
    struct present_policy policy;
    int64_t presenting_ns;     /* what presenting a picture takes, on average: wall time */
    int64_t presenting_cpu_ns; /* the CPU time of that */
    int64_t presenting_all_cpu_ns; /* of all pictures so far */
    struct playing_tally tally;
};

/* Begins at virtual time 0. The setting must outlive all copies. */
struct playing playing_begin(const struct playing_setting *setting);

/*
 * Decode thread: sleeps until the queue has room. Without a queue it has room at once. Where the presenter waits for a picture whose
 * packet is still to come (a skip began between reordered packets), the queue gets longer than its limit.
 */
void playing_wait_for_room(struct playing *playing);

/*
 * Decode thread: decodes until it has used cpu_ns, or until until_ns has come; the presenter works meanwhile. Returns the
 * CPU time that was used.
 */
int64_t playing_decode(struct playing *playing, int64_t cpu_ns, int64_t until_ns);

/*
 * Decode thread: the packet's picture is in the decoder, and those that this lets out go to the presenter. Without a queue
 * this returns when they have been presented.
 */
void playing_take_in(struct playing *playing, int packet, enum picture_fate fate, bool is_starting);

/*
 * With a machine, in place of playing_decode and playing_take_in: gives a packet to a codec thread. Then playing_take_decoded
 * must be called until it returns false.
 */
void playing_submit(struct playing *playing, const struct codec_job *job);

/*
 * Decode thread: waits for the first picture in the codec threads if all of them are busy, or if it wants `all`; then the picture is
 * in the decoder, which puts it in order. Returns false if there is none to wait for.
 */
bool playing_take_decoded(struct playing *playing, bool all, bool is_starting, struct codec_job *job);

/* Decode thread: the packet did not go to the decoder, which is empty, or holds nothing but the next key picture. */
void playing_pass_over(struct playing *playing, int packet);

/* Decode thread: lets all pictures out of the decoder, as far as the queue has room. */
void playing_drain(struct playing *playing);

/* Decode thread: no packet follows. Plays what is left. */
void playing_end(struct playing *playing);

/* Returns the PTS that is due now. */
int64_t playing_media_ns(const struct playing *playing);

#endif
