/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct read_ahead {
    pthread_mutex_t lock;   /* guards everything below; taken by all threads */
    pthread_cond_t changed; /* a stream has little now, is no longer wanted, or waiting was cancelled */
    int64_t length_ns[READ_STREAMS];
    int64_t without_ns[READ_STREAMS];  /* of the other stream, read since the last packet of this one */
    int64_t longest_ns[READ_STREAMS];  /* the most of that, up to that packet */
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
    ahead->without_ns[stream] = 0;
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

static void note_packet(struct read_ahead *ahead, enum read_stream stream, int64_t length_ns)
{
    if (ahead->without_ns[stream] > ahead->longest_ns[stream])
        ahead->longest_ns[stream] = ahead->without_ns[stream];
    ahead->without_ns[stream] = 0;
    for (int i = 0; i < READ_STREAMS; i++)
        if (i != (int)stream)
            ahead->without_ns[i] += length_ns;
}

void read_ahead_add(struct read_ahead *ahead, enum read_stream stream, int64_t length_ns)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->length_ns[stream] += length_ns;
    if (length_ns > 0)
        note_packet(ahead, stream, length_ns);
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

bool read_ahead_misses(struct read_ahead *ahead, enum read_stream stream)
{
    pthread_mutex_lock(&ahead->lock);
    const bool misses = ahead->wanted[stream] && ahead->without_ns[stream] >= READ_AHEAD_LITTLE_NS + ahead->longest_ns[stream];
    pthread_mutex_unlock(&ahead->lock);
    return misses;
}

void read_ahead_cancel(struct read_ahead *ahead, bool on)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->cancelled = on;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}
