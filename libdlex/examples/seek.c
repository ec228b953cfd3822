/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A player that seeks: the picture that is being decoded is of no use any more, so the thread that
 * decodes abandons it at once, and goes on at the new position. Every seek is followed, however fast
 * they come.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <dlex/dlex.h>

enum { SEEKS = 20, END = 1000000 };

static struct dlex_trigger seek;
static _Atomic int position;  /* the number of the next picture; END: the player quits */
static _Atomic int followed;  /* the last position that the decoder has seen */

/* A picture takes longer than the viewer waits: decoding must be abandoned. */
static void decode(volatile double *picture)
{
    for (double n = 1;; n++)
        *picture = *picture + 1 / n;
}

/* The order matters: the request is read after the reset. One that comes later finds the trigger reset
 * and fires it, and the next block is left at once. */
static void *decode_pictures(void *late_ns)
{
    for (;;) {
        volatile double picture = 0;
        dlex_trigger_reset(&seek);
        followed = position;
        if (followed == END)
            return NULL;
        dlex_try {
            dlex_trigger_bind(&seek);
            decode(&picture);
        } dlex_handle dlex_when(dlex_trigger_violation) {
            *(int64_t *)late_ns += dlex_expired_ns();
        } dlex_end
    }
}

static int seek_to(int where)
{
    position = where; /* before the firing */
    const int err = dlex_trigger_fire(&seek);
    for (int tries = 0; followed != where && tries < 10000; tries++)
        usleep(1000);
    return !err && followed == where;
}

int main(void)
{
    pthread_t decoder;
    int64_t late_ns = 0;
    int count = 0;
    if (pthread_create(&decoder, NULL, decode_pictures, &late_ns) != 0)
        return 1;
    for (int i = 1; i <= SEEKS; i++)
        count += seek_to(i * 100);
    const int has_quit = seek_to(END);
    pthread_join(decoder, NULL);
    printf("%d seeks, %d followed%s\n", SEEKS, count, has_quit ? ", then quit" : "");
    printf("a picture was left %.0f us after the seek on average\n", (double)late_ns / 1e3 / (SEEKS + 1));
    return count == SEEKS && has_quit ? 0 : 1;
}
