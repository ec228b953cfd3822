/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sound_thread.h"

#include <signal.h>

/* Returns a negative code when the sink is gone or the thread is to end. */
static int play_packet(const struct sound_thread *thread, AVPacket *packet)
{
    const int ret = audio_track_feed(thread->track, packet);
    av_packet_free(&packet);
    return ret;
}

static void *run(void *arg)
{
    const struct sound_thread *const thread = arg;
    pthread_setname_np(pthread_self(), "sound");
    AVPacket *packet;
    enum queue_status status;
    while ((status = queue_pop(thread->packets, &packet, QUEUE_WAIT_FOR_EVER)) == QUEUE_PACKET)
        if (play_packet(thread, packet) < 0) {
            queue_cancel(thread->packets); /* the feeder reads on without the sound */
            return NULL;
        }
    if (status == QUEUE_DRAINED) {
        audio_track_feed(thread->track, NULL);
        audio_track_end(thread->track);
    }
    return NULL;
}

int sound_thread_start(struct sound_thread *thread)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int ret = pthread_create(&thread->handle, NULL, run, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    thread->running = ret == 0;
    return -ret;
}

void sound_thread_stop(struct sound_thread *thread)
{
    if (!thread->running)
        return;
    queue_stop_reading(thread->packets, true);
    audio_sink_interrupt(audio_track_sink(thread->track), true);
    pthread_join(thread->handle, NULL);
    thread->running = false;
    audio_sink_interrupt(audio_track_sink(thread->track), false);
    queue_stop_reading(thread->packets, false);
}
