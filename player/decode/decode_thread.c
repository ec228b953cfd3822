/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decode_thread.h"

#include "log.h"
#include "thread_role.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

struct work {
    struct decode_stage *stage; /* NULL: there is no work */
    struct packet_queue *packets;
    struct picture_queue *pictures;
};

struct decode_thread {
    pthread_t handle;
    pthread_mutex_t lock;   /* guards everything below; taken by both threads */
    pthread_cond_t changed; /* work was begun or has ended, or the thread is to end */
    struct work work;
    struct decode_stop stop; /* requested by the main thread, so that the work ends soon; reset by the decode thread */
    bool started;   /* init_error is valid */
    bool ends;      /* the thread is to end */
    int init_error;
};

static bool send_pictures(const struct work *work, AVFrame *frame)
{
    struct decoded_picture picture = {.frame = frame};
    while (stage_take(work->stage, &picture))
        if (picture_queue_push_picture(work->pictures, &picture) < 0)
            return false;
    return true;
}

static bool drain(const struct work *work, AVFrame *frame)
{
    bool more = true;
    while (more && picture_queue_wait_for_room(work->pictures)) {
        more = stage_drain(work->stage);
        if (!send_pictures(work, frame))
            return false;
    }
    return true;
}

static bool decode_packet(const struct work *work, AVPacket *packet, AVFrame *frame)
{
    const struct stage_clock clock = picture_queue_clock(work->pictures);
    struct job_note note;
    if (stage_decode(work->stage, packet, &clock, &note) && picture_queue_push_job(work->pictures, &note) < 0)
        return false;
    return send_pictures(work, frame) && (!stage_wants_drain(work->stage) || drain(work, frame));
}

/* Decodes until everything is decoded, or the work is to end. Returns false when out of memory. */
static bool decode_all(const struct work *work, AVFrame *frame)
{
    while (picture_queue_wait_for_room(work->pictures)) {
        AVPacket *packet;
        switch (queue_pop(work->packets, &packet, QUEUE_WAIT_FOR_EVER)) {
        case QUEUE_PACKET: {
            const bool sent = decode_packet(work, packet, frame);
            av_packet_free(&packet);
            if (!sent)
                return false;
            break;
        }
        case QUEUE_EMPTY: return true; /* the work is to end */
        case QUEUE_STALLED:
            stage_stall(work->stage);
            if (!drain(work, frame))
                return false;
            break;
        case QUEUE_DRAINED: return drain(work, frame) && picture_queue_push_end(work->pictures) >= 0;
        }
    }
    return true;
}

static void pause_for_quota(void *pictures)
{
    picture_queue_wait_for_quota(pictures);
}

static void do_work(const struct work *work, struct decode_stop *stop)
{
    decode_stop_reset(stop); /* the queues are stopped before this is requested, so decode_all sees it all the same */
    decoder_stop_by(work->stage->decoder, stop);
    decoder_pause_by(work->stage->decoder, (struct decode_pause){pause_for_quota, work->pictures});
    AVFrame *frame = av_frame_alloc();
    if (frame && decode_all(work, frame)) {
        av_frame_free(&frame);
        return;
    }
    av_frame_free(&frame);
    log_error("decoding ends here: out of memory");
    work->stage->out_of_memory = true;
    picture_queue_push_end(work->pictures);
}

static void *run(void *arg)
{
    struct decode_thread *const thread = arg;
    pthread_setname_np(pthread_self(), "decoder");
    thread_role_take(ROLE_DECODE); /* if it fails, the thread is not placed; the start of the next file reports it */
    pthread_mutex_lock(&thread->lock);
    thread->init_error = dlex_thread_init();
    thread->started = true;
    pthread_cond_broadcast(&thread->changed);
    while (!thread->ends) {
        if (!thread->work.stage) {
            pthread_cond_wait(&thread->changed, &thread->lock);
            continue;
        }
        const struct work work = thread->work;
        pthread_mutex_unlock(&thread->lock);
        do_work(&work, &thread->stop);
        pthread_mutex_lock(&thread->lock);
        thread->work.stage = NULL;
        pthread_cond_broadcast(&thread->changed);
    }
    pthread_mutex_unlock(&thread->lock);
    thread_role_take(0);
    return NULL;
}

static int start(struct decode_thread *thread, int cpu)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (cpu >= 0) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(cpu, &cpus);
        pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
    }
    const int ret = pthread_create(&thread->handle, &attributes, run, thread);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ret)
        return -ret;
    pthread_mutex_lock(&thread->lock);
    while (!thread->started)
        pthread_cond_wait(&thread->changed, &thread->lock);
    pthread_mutex_unlock(&thread->lock);
    return thread->init_error;
}

int decode_thread_create(struct decode_thread **out, int cpu)
{
    struct decode_thread *const thread = calloc(1, sizeof *thread);
    if (!thread)
        return -ENOMEM;
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->changed, NULL);
    const int ret = start(thread, cpu);
    if (ret < 0 && !thread->started) {
        pthread_cond_destroy(&thread->changed);
        pthread_mutex_destroy(&thread->lock);
        free(thread);
        return ret;
    }
    *out = thread;
    if (ret < 0)
        decode_thread_destroy(out);
    return ret;
}

void decode_thread_destroy(struct decode_thread **thread)
{
    if (!*thread)
        return;
    decode_thread_end(*thread);
    pthread_mutex_lock(&(*thread)->lock);
    (*thread)->ends = true;
    pthread_cond_broadcast(&(*thread)->changed);
    pthread_mutex_unlock(&(*thread)->lock);
    pthread_join((*thread)->handle, NULL);
    pthread_cond_destroy(&(*thread)->changed);
    pthread_mutex_destroy(&(*thread)->lock);
    free(*thread);
    *thread = NULL;
}

void decode_thread_begin(struct decode_thread *thread, struct decode_stage *stage, struct packet_queue *packets,
                         struct picture_queue *pictures)
{
    decode_thread_end(thread);
    pthread_mutex_lock(&thread->lock);
    thread->work = (struct work){stage, packets, pictures};
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

void decode_thread_end(struct decode_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    const struct work work = thread->work;
    pthread_mutex_unlock(&thread->lock);
    if (!work.pictures)
        return;
    picture_queue_stop_writing(work.pictures, true);
    queue_stop_reading(work.packets, true);
    decode_stop_request(&thread->stop);
    pthread_mutex_lock(&thread->lock);
    while (thread->work.stage)
        pthread_cond_wait(&thread->changed, &thread->lock);
    thread->work = (struct work){0};
    pthread_mutex_unlock(&thread->lock);
    queue_stop_reading(work.packets, false);
    picture_queue_stop_writing(work.pictures, false);
}
