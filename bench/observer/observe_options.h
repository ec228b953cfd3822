/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of dlex-bench-observe. */
#ifndef OBSERVER_OBSERVE_OPTIONS_H
#define OBSERVER_OBSERVE_OPTIONS_H

#include <stdint.h>

struct observe_options {
    const char *screen_path;
    const char *media_path;
    const char *out_dir;
    const char *sound; /* name of a PulseAudio source; NULL: the sound is not listened to */
    int width;         /* of the picture, whose corner is the screen's; 0: the clip's */
    int height;
    double rate_hz;
    int64_t frames;       /* how many are to be played; 0: all */
    int64_t frame_ns;     /* what the caller believes; 0: nothing */
    int64_t first_pts_ns; /* the earliest picture to be played */
    int cpu;              /* -1: any */
};

/* Exits with 1 and a sentence on nonsense. */
void observe_options_parse(struct observe_options *options, int argc, char **argv);

#endif
