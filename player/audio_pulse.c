/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sound by PulseAudio. The server holds the second of sound; libpulse's own thread talks to it.
 *
 * The clock: libpulse's thread gets a report from the server (often at first, then every 1.5 s) and puts the playout
 * model right by it. audio_sink_heard asks the model only, so main never waits for the mainloop lock, which libpulse's
 * thread may hold while it is preempted. pa_stream_get_time would want that lock, and its smoothed time is wrong for
 * a while after cork and flush; the raw report is not.
 *
 * Locks: the mainloop's lock guards the pa_ objects and `flushing`; sink->lock (audio_driver.h) is taken under it.
 */
#include <errno.h>
#include <pulse/pulseaudio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "audio_driver.h"
#include "dlex/dlex.h"

/* Local servers answer in milliseconds. Three seconds allow for a loaded machine, and are bearable if it hangs. */
static const pa_usec_t connect_limit_us = 3000000;

/* How much the server holds: decoding one picture may take long, and the feeder may not run meanwhile. */
static const pa_usec_t buffer_us = 1000000;

/* A report older than this was delayed by something else than scheduling: a suspend, or a step of the wall clock. */
static const int64_t old_report_ns = 2000000000;

struct audio_pulse {
    struct audio_sink sink;
    pa_threaded_mainloop *loop;
    pa_context *context;
    pa_stream *stream;
    pa_time_event *limit;
    bool limit_passed;
    int flushing; /* flushes on their way: reports meanwhile are about the sound before them */
};

static struct audio_pulse *pulse_of(struct audio_sink *sink)
{
    return (struct audio_pulse *)sink;
}

static void wake(struct audio_pulse *pulse)
{
    pa_threaded_mainloop_signal(pulse->loop, 0);
}

static void forget(pa_operation *operation)
{
    if (operation)
        pa_operation_unref(operation);
}

static void lose(struct audio_pulse *pulse)
{
    char cause[100];
    snprintf(cause, sizeof cause, "PulseAudio went away: %s", pa_strerror(pa_context_errno(pulse->context)));
    audio_sink_fail(&pulse->sink, cause);
    wake(pulse);
}

static void context_changed(pa_context *context, void *opaque)
{
    if (!PA_CONTEXT_IS_GOOD(pa_context_get_state(context)))
        lose(opaque);
    wake(opaque);
}

static void stream_changed(pa_stream *stream, void *opaque)
{
    if (pa_stream_get_state(stream) == PA_STREAM_FAILED || pa_stream_get_state(stream) == PA_STREAM_TERMINATED)
        lose(opaque);
    wake(opaque);
}

static void room_came(pa_stream *stream, size_t bytes, void *opaque)
{
    (void)stream;
    (void)bytes;
    wake(opaque);
}

/* The report carries wall clock time; what counts is how long ago that was. */
static int64_t report_taken_ns(const pa_timing_info *timing)
{
    struct timeval now;
    pa_gettimeofday(&now);
    const int64_t age_ns = 1000 * ((now.tv_sec - timing->timestamp.tv_sec) * INT64_C(1000000) + now.tv_usec -
                                   timing->timestamp.tv_usec);
    return dlex_now_ns() - (age_ns > 0 && age_ns < old_report_ns ? age_ns : 0);
}

/*
 * Heard is what the server has read from our buffer, less what still waits in the device's. Both indexes are counted
 * by the server, so only their difference is used: it stays right over a flush.
 *
 * While the server has run dry (not playing) the device's buffer holds silence behind our last samples, and the
 * difference says nothing. The model then runs to the end by itself, which is right.
 */
static void report_came(pa_stream *stream, void *opaque)
{
    struct audio_pulse *const pulse = opaque;
    const pa_timing_info *const timing = pa_stream_get_timing_info(stream);
    if (!timing || !timing->playing || timing->read_index_corrupt || timing->write_index_corrupt || pulse->flushing)
        return;
    struct playout *const playout = &pulse->sink.playout;
    const int64_t frame_size = (int64_t)pa_frame_size(pa_stream_get_sample_spec(stream));
    const int64_t unread = (timing->write_index - timing->read_index) / frame_size;
    const int64_t in_device = playout_frames(playout, 1000 * (int64_t)timing->sink_usec);
    pthread_mutex_lock(&pulse->sink.lock);
    if (!pulse->sink.paused)
        playout_run(playout, playout->written - unread - in_device, report_taken_ns(timing));
    pthread_mutex_unlock(&pulse->sink.lock);
}

static void ask_for_report(struct audio_pulse *pulse)
{
    forget(pa_stream_update_timing_info(pulse->stream, NULL, NULL));
}

static void started(pa_stream *stream, void *opaque)
{
    (void)stream;
    ask_for_report(opaque);
}

/* A sound so short that it was over before the first report: it began just now, more or less. */
static void ran_dry(pa_stream *stream, void *opaque)
{
    (void)stream;
    struct audio_pulse *const pulse = opaque;
    pthread_mutex_lock(&pulse->sink.lock);
    if (!pulse->sink.playout.running && !pulse->sink.paused && !pulse->flushing)
        playout_run(&pulse->sink.playout, pulse->sink.playout.anchor_frame, dlex_now_ns());
    pthread_mutex_unlock(&pulse->sink.lock);
}

static void limit_came(pa_mainloop_api *api, pa_time_event *event, const struct timeval *at, void *opaque)
{
    (void)api;
    (void)event;
    (void)at;
    ((struct audio_pulse *)opaque)->limit_passed = true;
    wake(opaque);
}

/* The new thread inherits the mask: signals are for main. */
static int start_thread(struct audio_pulse *pulse)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int ret = pa_threaded_mainloop_start(pulse->loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ret;
}

/* From here to connect_stream: under the mainloop's lock. Each returns 0, or a negative number with pa_context_errno. */
static int connect_context(struct audio_pulse *pulse)
{
    pa_proplist *const properties = pa_proplist_new();
    pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, "dlex-play");
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, "video");
    pulse->context =
        pa_context_new_with_proplist(pa_threaded_mainloop_get_api(pulse->loop), "dlex-play", properties);
    pa_proplist_free(properties);
    if (!pulse->context)
        return -1;
    pa_context_set_state_callback(pulse->context, context_changed, pulse);
    pulse->limit =
        pa_context_rttime_new(pulse->context, pa_rtclock_now() + connect_limit_us, limit_came, pulse);
    if (pa_context_connect(pulse->context, NULL, PA_CONTEXT_NOAUTOSPAWN, NULL) < 0)
        return -1;
    while (PA_CONTEXT_IS_GOOD(pa_context_get_state(pulse->context)) && !pulse->limit_passed) {
        if (pa_context_get_state(pulse->context) == PA_CONTEXT_READY)
            return 0;
        pa_threaded_mainloop_wait(pulse->loop);
    }
    return -1;
}

static void listen_to_stream(struct audio_pulse *pulse)
{
    pa_stream_set_state_callback(pulse->stream, stream_changed, pulse);
    pa_stream_set_write_callback(pulse->stream, room_came, pulse);
    pa_stream_set_latency_update_callback(pulse->stream, report_came, pulse);
    pa_stream_set_started_callback(pulse->stream, started, pulse);
    pa_stream_set_underflow_callback(pulse->stream, ran_dry, pulse);
}

/*
 * prebuf is one frame: the sound starts with the first data, also that of a file shorter than any usual prebuf, and
 * never needs to be told that the end has come.
 */
static int connect_stream(struct audio_pulse *pulse)
{
    const pa_sample_spec spec = {
        .format = PA_SAMPLE_FLOAT32NE,
        .rate = (uint32_t)pulse->sink.format.rate,
        .channels = (uint8_t)pulse->sink.format.channels,
    };
    const pa_buffer_attr buffer = {
        .maxlength = (uint32_t)-1,
        .tlength = (uint32_t)pa_usec_to_bytes(buffer_us, &spec),
        .prebuf = (uint32_t)pa_frame_size(&spec),
        .minreq = (uint32_t)-1,
        .fragsize = (uint32_t)-1,
    };
    pulse->stream = pa_stream_new(pulse->context, "sound", &spec, NULL);
    if (!pulse->stream)
        return -1;
    listen_to_stream(pulse);
    if (pa_stream_connect_playback(pulse->stream, NULL, &buffer, PA_STREAM_AUTO_TIMING_UPDATE, NULL, NULL) < 0)
        return -1;
    while (PA_STREAM_IS_GOOD(pa_stream_get_state(pulse->stream)) && !pulse->limit_passed) {
        if (pa_stream_get_state(pulse->stream) == PA_STREAM_READY)
            return 0;
        pa_threaded_mainloop_wait(pulse->loop);
    }
    return -1;
}

static void drop_limit(struct audio_pulse *pulse)
{
    if (pulse->limit)
        pa_threaded_mainloop_get_api(pulse->loop)->time_free(pulse->limit);
    pulse->limit = NULL;
}

static int connect_server(struct audio_pulse *pulse, char *why, size_t why_size)
{
    pa_threaded_mainloop_lock(pulse->loop);
    const int ret = connect_context(pulse) < 0 || connect_stream(pulse) < 0 ? -ENODEV : 0;
    if (ret < 0)
        snprintf(why, why_size, "PulseAudio cannot be reached: %s",
                 pulse->limit_passed ? "it does not answer"
                                     : pa_strerror(pulse->context ? pa_context_errno(pulse->context) : PA_ERR_INTERNAL));
    drop_limit(pulse);
    pa_threaded_mainloop_unlock(pulse->loop);
    return ret;
}

static void disconnect_server(struct audio_pulse *pulse)
{
    pa_threaded_mainloop_lock(pulse->loop);
    if (pulse->stream) {
        pa_stream_disconnect(pulse->stream);
        pa_stream_unref(pulse->stream);
    }
    if (pulse->context) {
        pa_context_disconnect(pulse->context);
        pa_context_unref(pulse->context);
    }
    pa_threaded_mainloop_unlock(pulse->loop);
}

static void pulse_destroy(struct audio_sink *sink)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    if (pulse->loop) {
        disconnect_server(pulse);
        pa_threaded_mainloop_stop(pulse->loop);
        pa_threaded_mainloop_free(pulse->loop);
    }
    audio_sink_finish(sink);
    free(pulse);
}

static int pulse_create(struct audio_sink **out, const struct audio_format *format, char *why, size_t why_size)
{
    struct audio_pulse *const pulse = calloc(1, sizeof *pulse);
    if (!pulse) {
        snprintf(why, why_size, "out of memory");
        return -ENOMEM;
    }
    audio_sink_init(&pulse->sink, &audio_pulse, format);
    pulse->loop = pa_threaded_mainloop_new();
    int ret = -ENOMEM;
    if (!pulse->loop || start_thread(pulse) < 0)
        snprintf(why, why_size, "PulseAudio's thread cannot be started");
    else
        ret = connect_server(pulse, why, why_size);
    if (ret < 0)
        pulse_destroy(&pulse->sink);
    else
        *out = &pulse->sink;
    return ret;
}

static int blocked_code(struct audio_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    const int ret = sink->gone ? -EPIPE : sink->interrupted ? -ECANCELED : 0;
    pthread_mutex_unlock(&sink->lock);
    return ret;
}

/*
 * When the model has come to the end of the old sound, it must not run on over the new: the server plays that only
 * from when it gets it, and will tell when that was.
 */
static void append(struct audio_pulse *pulse, int frames, int64_t pts_ns)
{
    struct audio_sink *const sink = &pulse->sink;
    pthread_mutex_lock(&sink->lock);
    const int64_t now_ns = dlex_now_ns();
    const bool starved = playout_buffered(&sink->playout, now_ns) == 0;
    if (starved)
        playout_hold(&sink->playout, now_ns);
    playout_append(&sink->playout, frames, pts_ns);
    pthread_mutex_unlock(&sink->lock);
    if (starved)
        ask_for_report(pulse);
}

/* Under the mainloop's lock. As much as the server wants now; frames taken, or a negative code. */
static int write_some(struct audio_pulse *pulse, const float *samples, int frames, int64_t pts_ns)
{
    const size_t frame_size = sizeof(float) * (size_t)pulse->sink.format.channels;
    const size_t room = pa_stream_writable_size(pulse->stream);
    if (room == (size_t)-1)
        return -EPIPE;
    const int taken = room / frame_size < (size_t)frames ? (int)(room / frame_size) : frames;
    if (taken == 0)
        return 0;
    if (pa_stream_write(pulse->stream, samples, (size_t)taken * frame_size, NULL, 0, PA_SEEK_RELATIVE) < 0)
        return -EPIPE;
    append(pulse, taken, pts_ns);
    return taken;
}

static int pulse_write(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    int ret = 0;
    pa_threaded_mainloop_lock(pulse->loop);
    while (frames > 0 && (ret = blocked_code(sink)) == 0) {
        const int taken = write_some(pulse, samples, frames, pts_ns);
        if (taken < 0)
            lose(pulse);
        else if (taken == 0)
            pa_threaded_mainloop_wait(pulse->loop);
        else
            pts_ns = AUDIO_PTS_UNKNOWN;
        samples += taken > 0 ? taken * sink->format.channels : 0;
        frames -= taken > 0 ? taken : 0;
    }
    pa_threaded_mainloop_unlock(pulse->loop);
    return ret;
}

/* The model stands at once; the server follows, and after going on its report starts the model again. */
static void pulse_pause(struct audio_sink *sink, bool paused)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    pa_threaded_mainloop_lock(pulse->loop);
    pthread_mutex_lock(&sink->lock);
    playout_hold(&sink->playout, dlex_now_ns());
    sink->paused = paused;
    pthread_mutex_unlock(&sink->lock);
    forget(pa_stream_cork(pulse->stream, paused, NULL, NULL));
    ask_for_report(pulse);
    pa_threaded_mainloop_unlock(pulse->loop);
}

static void flushed(pa_stream *stream, int success, void *opaque)
{
    (void)stream;
    (void)success;
    struct audio_pulse *const pulse = opaque;
    pulse->flushing--;
    ask_for_report(pulse);
}

static void pulse_flush(struct audio_sink *sink)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    pa_threaded_mainloop_lock(pulse->loop);
    pthread_mutex_lock(&sink->lock);
    playout_init(&sink->playout, sink->format.rate);
    pthread_mutex_unlock(&sink->lock);
    pa_operation *const operation = pa_stream_flush(pulse->stream, flushed, pulse);
    if (operation)
        pulse->flushing++;
    forget(operation);
    pa_threaded_mainloop_unlock(pulse->loop);
}

static void pulse_interrupt(struct audio_sink *sink, bool on)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    pa_threaded_mainloop_lock(pulse->loop);
    pthread_mutex_lock(&sink->lock);
    sink->interrupted = on;
    pthread_mutex_unlock(&sink->lock);
    wake(pulse);
    pa_threaded_mainloop_unlock(pulse->loop);
}

const struct audio_driver audio_pulse = {
    .kind = "pulse",
    .create = pulse_create,
    .destroy = pulse_destroy,
    .write = pulse_write,
    .pause = pulse_pause,
    .flush = pulse_flush,
    .interrupt = pulse_interrupt,
};
