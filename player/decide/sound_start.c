/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sound_start.h"

void sound_start_note_job(struct sound_start *start)
{
    start->idle_since_ns = 0;
}

int64_t sound_start_note_picture(struct sound_start *start, int64_t now_ns)
{
    const int64_t nothing_ns = start->nothing_since_ns ? now_ns - start->nothing_since_ns : 0;
    *start = (struct sound_start){0};
    return nothing_ns;
}

/* Sets the time since which something is so. */
static void note_since(int64_t *since_ns, bool is_so, int64_t now_ns)
{
    if (!is_so)
        *since_ns = 0;
    else if (!*since_ns)
        *since_ns = now_ns;
}

bool sound_start_without_picture(struct sound_start *start, bool decoder_waits, int64_t now_ns)
{
    note_since(&start->nothing_since_ns, true, now_ns);
    note_since(&start->idle_since_ns, decoder_waits, now_ns);
    return (start->idle_since_ns && now_ns - start->idle_since_ns > SOUND_START_IDLE_NS) ||
           now_ns - start->nothing_since_ns > SOUND_START_UNDECODED_NS;
}
