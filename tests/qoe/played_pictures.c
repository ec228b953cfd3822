/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * played_pictures DIR FILE: writes the pictures that the recorded run in DIR showed, as dlex-qoe decodes them, in the form of
 * dlex-play --framemd5. test_qoe_degraded.py compares both.
 */
#include "clip.h"
#include "framemd5.h"
#include "played.h"

#include <stdio.h>
#include <stdlib.h>

/* The time stamps are in the time base of the film's stream. */
static int begin(struct framemd5 *md5, const char *path, char *why, size_t why_size)
{
    struct clip clip;
    const int ret = clip_open(&clip, path, NULL, why, why_size);
    if (!ret)
        framemd5_begin(md5, clip.video);
    clip_close(&clip);
    return ret;
}

static int write_shown(struct played *played, const struct recorded_run *run, struct framemd5 *md5)
{
    for (int64_t i = 0; i < run->count; i++) {
        const struct frame_record *const row = &run->rows[i];
        const AVFrame *picture;
        if (row->verdict != VERDICT_SHOWN)
            continue;
        if (played_find(played, row, &picture))
            return -1;
        framemd5_add(md5, picture, row->pts_ns);
    }
    return 0;
}

int main(int argc, char **argv)
{
    char why[4096] = "usage: played_pictures DIR FILE, with a run in which a picture was degraded";
    struct recorded_run run = {0};
    struct played *played = NULL;
    struct framemd5 *md5 = NULL;
    int ret = argc != 3;
    if (!ret)
        ret = recorded_run_read(&run, argv[1], why, sizeof why) || played_open(&played, run.media_path, &run, why, sizeof why);
    if (!ret)
        ret = !played || framemd5_create(&md5, argv[2]) || begin(md5, run.media_path, why, sizeof why) ||
              write_shown(played, &run, md5);
    ret |= framemd5_close(&md5);
    if (ret)
        fprintf(stderr, "played_pictures: %s\n", why);
    played_close(&played);
    recorded_run_finish(&run);
    return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
