/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one file is played with: plain data that main.c fills in. */
#ifndef PLAYER_PLAYBACK_SETUP_H
#define PLAYER_PLAYBACK_SETUP_H

#include "decode_thread.h"
#include "framemd5.h"
#include "options.h"
#include "picture_ticks.h"
#include "video_sink.h"

#include <signal.h>

struct playback_setup {
    const struct options *options;
    const char *path;
    struct threads_place threads_place; /* where threads decode: what --threads=auto depends on */
    const char *record_dir;     /* NULL: no record. The caller has called run_record_prepare */
    struct framemd5 *framemd5;  /* NULL: not wanted */
    struct picture_ticks *ticks;
    struct decode_thread **decode_thread; /* created for the first file that is decoded ahead, kept for the next files */
    struct video_sink **screen; /* opened at the first file with video, kept for the next files */
    const volatile sig_atomic_t *signal_seen;
};

#endif
