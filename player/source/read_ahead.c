/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct read_ahead {
    pthread_mutex_t lock;   /* guards everything below; taken by all threads */
    pthread_cond_t changed; /* a stream has little now, is no longer wanted, or waiting was cancelled */
    int64_t length_ns[READ_STREAMS];
    bool wanted[READ_STREAMS];
    bool cancelled;
};

int read_ahead_create(struct read_ahead **out)
{
    struct read_ahead *const ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return -ENOMEM;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    *out = ahead;
    return 0;
}

void read_ahead_destroy(struct read_ahead **ahead)
{
    if (!*ahead)
        return;
    pthread_cond_destroy(&(*ahead)->changed);
    pthread_mutex_destroy(&(*ahead)->lock);
    free(*ahead);
    *ahead = NULL;
}

void read_ahead_want(struct read_ahead *ahead, enum read_stream stream, bool wanted)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->wanted[stream] = wanted;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

/* Returns whether every wanted stream has at least this much. */
static bool all_have(const struct read_ahead *ahead, int64_t length_ns)
{
    for (int i = 0; i < READ_STREAMS; i++)
        if (ahead->wanted[i] && ahead->length_ns[i] < length_ns)
            return false;
    return true;
}

void read_ahead_add(struct read_ahead *ahead, enum read_stream stream, int64_t length_ns)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->length_ns[stream] += length_ns;
    if (length_ns < 0 && !all_have(ahead, READ_AHEAD_LITTLE_NS))
        pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

void read_ahead_wait(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    if (all_have(ahead, READ_AHEAD_ENOUGH_NS))
        while (!ahead->cancelled && all_have(ahead, READ_AHEAD_LITTLE_NS))
            pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
}

void read_ahead_cancel(struct read_ahead *ahead, bool on)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->cancelled = on;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}
