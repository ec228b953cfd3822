/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feeder.h"

#include "log.h"
#include "ns.h"
#include "thread_role.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <signal.h>
#include <time.h>

enum {
    PATIENCE_NS = 100 * NS_PER_MS, /* a spinning disk answers sooner */
    WAKING_STEP_NS = 20 * NS_PER_MS,
    WAKING_SIGNAL = SIGUSR2,
};

/* Which outputs get no more packets, because their stream has ended or is past the part that is played. */
struct progress {
    bool video_done;
    bool audio_done;
};

static bool is_stopped(const struct feeder *feeder)
{
    return atomic_load_explicit(&feeder->stop, memory_order_relaxed);
}

static bool is_past_end(const struct feeder *feeder, const AVStream *stream, const AVPacket *packet)
{
    /* Use the decode time stamp: a picture before the end may still need a reference picture after it. */
    const int64_t ts = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    return ts != AV_NOPTS_VALUE && clip_pts_ns(stream, ts) >= feeder->end_ns;
}

static void end_output(struct feeder *feeder, enum read_stream stream, bool *done)
{
    if (*done)
        return;
    const struct feeder_output *const output = stream == READ_VIDEO ? &feeder->video : &feeder->audio;
    *done = true;
    read_ahead_want(feeder->ahead, stream, false);
    output->end(output->opaque);
}

static int hand_over_video(struct feeder *feeder, AVPacket *packet, struct progress *progress)
{
    if (progress->video_done)
        return 0;
    if (!is_past_end(feeder, feeder->clip->video, packet))
        return feeder->video.take(feeder->video.opaque, packet);
    end_output(feeder, READ_VIDEO, &progress->video_done); /* now, because the sound may go on for longer */
    return 0;
}

static int hand_over_audio(struct feeder *feeder, AVPacket *packet, struct progress *progress)
{
    if (progress->audio_done)
        return 0;
    const bool past_end = is_past_end(feeder, feeder->clip->audio, packet);
    const int ret = past_end ? 0 : feeder->audio.take(feeder->audio.opaque, packet);
    if (past_end || ret < 0)
        end_output(feeder, READ_SOUND, &progress->audio_done);
    return ret == -ECANCELED ? 0 : ret; /* the device is gone: the pictures go on; or the feeder is stopping */
}

static int hand_over(struct feeder *feeder, AVPacket *packet, struct progress *progress)
{
    const AVStream *const stream = feeder->clip->format->streams[packet->stream_index];
    int ret = 0;
    if (feeder->video.take && stream == feeder->clip->video)
        ret = hand_over_video(feeder, packet, progress);
    else if (feeder->audio.take && stream == feeder->clip->audio)
        ret = hand_over_audio(feeder, packet, progress);
    av_packet_unref(packet);
    return ret;
}

/* Reads the next packet and hands it over. Returns a negative code when reading ends: AVERROR_EOF at the end of the file. */
static int feed_next(struct feeder *feeder, AVPacket *packet, struct progress *progress)
{
    read_ahead_wait(feeder->ahead);
    const int ret = clip_read(feeder->clip, packet);
    return ret < 0 ? ret : hand_over(feeder, packet, progress);
}

/* The main thread's wish to end is no error. */
static void note_error(struct feeder *feeder, int error)
{
    if (error >= 0 || error == AVERROR_EOF || error == -ECANCELED || error == AVERROR_EXIT || is_stopped(feeder))
        return;
    const char *path = feeder->clip->format->url;
    av_strstart(path, "file:", &path);
    if (!feeder->error)
        log_error("%s: reading stopped before the end of the file: %s", path, av_err2str(error));
    feeder->error = error;
}

static void *feed(void *arg)
{
    struct feeder *const feeder = arg;
    pthread_setname_np(pthread_self(), "feeder");
    thread_role_take(ROLE_FEED); /* if it fails, only the record lacks it */
    struct progress progress = {.video_done = !feeder->video.take, .audio_done = !feeder->audio.take};
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? 0 : AVERROR(ENOMEM);
    while (ret >= 0 && !is_stopped(feeder) && !(progress.video_done && progress.audio_done))
        ret = feed_next(feeder, packet, &progress);
    note_error(feeder, ret);
    end_output(feeder, READ_VIDEO, &progress.video_done);
    end_output(feeder, READ_SOUND, &progress.audio_done);
    av_packet_free(&packet);
    thread_role_take(0);
    sem_post(&feeder->ended);
    return NULL;
}

static void do_nothing(int number)
{
    (void)number;
}

/* Installs the handler of a signal that ends a blocking system call of the feeder and does nothing else. */
static void prepare_waking(void)
{
    struct sigaction action = {.sa_handler = do_nothing};
    sigfillset(&action.sa_mask);
    sigaction(WAKING_SIGNAL, &action, NULL);
}

int feeder_start(struct feeder *feeder)
{
    atomic_store_explicit(&feeder->stop, false, memory_order_relaxed);
    read_ahead_want(feeder->ahead, READ_VIDEO, feeder->video.take);
    read_ahead_want(feeder->ahead, READ_SOUND, feeder->audio.take);
    prepare_waking();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, WAKING_SIGNAL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sem_init(&feeder->ended, 0, 0);
    const int ret = pthread_create(&feeder->thread, NULL, feed, feeder);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    feeder->running = ret == 0;
    return -ret;
}

/* Signals to the calling thread do not shorten the wait. */
static bool ends_within(struct feeder *feeder, int64_t wait_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const struct timespec until = ns_to_timespec(ns_from_timespec(now) + wait_ns);
    int ret;
    do {
        ret = sem_clockwait(&feeder->ended, CLOCK_MONOTONIC, &until);
    } while (ret < 0 && errno == EINTR);
    return ret == 0;
}

/*
 * Waits for a read that makes progress, so that the next read begins at a packet. Breaks off a read that hangs. The
 * signal is repeated, because it has no effect on a thread that is just about to enter the kernel.
 */
static void wait_for_end(struct feeder *feeder)
{
    if (ends_within(feeder, PATIENCE_NS))
        return;
    clip_break_off(feeder->clip, true);
    do {
        pthread_kill(feeder->thread, WAKING_SIGNAL);
    } while (!ends_within(feeder, WAKING_STEP_NS));
    clip_break_off(feeder->clip, false);
}

static void interrupt(const struct feeder_output *output, bool on)
{
    if (output->take)
        output->interrupt(output->opaque, on);
}

void feeder_stop(struct feeder *feeder)
{
    if (!feeder->running)
        return;
    atomic_store_explicit(&feeder->stop, true, memory_order_relaxed);
    interrupt(&feeder->video, true);
    interrupt(&feeder->audio, true);
    read_ahead_cancel(feeder->ahead, true);
    wait_for_end(feeder);
    pthread_join(feeder->thread, NULL);
    sem_destroy(&feeder->ended);
    feeder->running = false;
    read_ahead_cancel(feeder->ahead, false);
    interrupt(&feeder->audio, false);
    interrupt(&feeder->video, false);
}
