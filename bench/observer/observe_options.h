/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of dlex-bench-observe. */
#ifndef OBSERVER_OBSERVE_OPTIONS_H
#define OBSERVER_OBSERVE_OPTIONS_H

#include <stdint.h>

struct observe_options {
    const char *screen_path;
    const char *media_path;
    const char *out_dir;
    const char *sound; /* name of a PulseAudio source; NULL: do not listen to the sound */
    int width;         /* of the picture, whose upper left corner is the screen's; 0: as in the clip */
    int height;
    double rate_hz;
    int64_t frames;       /* how many pictures are to be played; 0: all */
    int64_t frame_ns;     /* duration of a picture that the caller expects; 0: not checked */
    int64_t first_pts_ns; /* the earliest picture to be played */
    int cpu;              /* -1: any */
};

/* Parses the command line. Exits with 1 and an error message when an option is bad. */
void observe_options_parse(struct observe_options *options, int argc, char **argv);

#endif
