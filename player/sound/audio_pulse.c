/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sound by PulseAudio. The server holds the second of buffered sound; libpulse's own thread talks
 * to the server.
 *
 * The clock: libpulse's thread gets a report from the server (often at first, then every 1.5 s) and
 * corrects the playout model with it. audio_sink_heard asks only the model, so main never waits for
 * the mainloop lock, which libpulse's thread may hold while it is preempted. pa_stream_get_time
 * would need that lock, and its smoothed time is wrong for a while after cork and flush; the raw
 * report is not.
 *
 * Locks: the mainloop's lock (pulse_server.h) guards the pa_ objects and the fields of struct
 * audio_pulse; sink->lock (audio_driver.h) is taken under it.
 */
#include <dlex/dlex.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "audio_driver.h"
#include "pulse_server.h"

/*
 * How much the server holds. Decoding one picture may take long, and the sound thread may not run
 * meanwhile.
 */
static const pa_usec_t buffer_us = 1000000;

/*
 * The server asks for this much at a time. It gives the device the second of sound less twice this:
 * 200 ms. With the usual 20 ms the device takes 960 ms in advance, and a seek was heard only after
 * up to 880 ms (null sink, PulseAudio 16); with 400 ms, after at most 160 ms.
 */
static const pa_usec_t request_us = 400000;

/* Reports come every 1.5 s. A server hangs if it answers none of several requests in this time. */
static const pa_usec_t watch_us = 4000000;

struct audio_pulse {
    struct audio_sink sink;
    struct pulse_server server;
    pa_stream *stream;
    pa_time_event *watch;
    bool answered; /* the server has answered since the watch last checked */
    int flushing;  /* flushes in flight; reports meanwhile are about the sound before them */
};

static struct audio_pulse *pulse_of(struct audio_sink *sink)
{
    return (struct audio_pulse *)sink;
}

static void lose_by(struct audio_pulse *pulse, const char *cause)
{
    char sentence[100];
    snprintf(sentence, sizeof sentence, "the connection to PulseAudio was lost: %s", cause);
    audio_sink_fail(&pulse->sink, sentence);
    pulse_server_wake(&pulse->server);
}

static void lose(void *opaque)
{
    struct audio_pulse *const pulse = opaque;
    lose_by(pulse, pulse_server_cause(&pulse->server));
}

static void stream_changed(pa_stream *stream, void *opaque)
{
    struct audio_pulse *const pulse = opaque;
    const pa_stream_state_t state = pa_stream_get_state(stream);
    if (state == PA_STREAM_FAILED || state == PA_STREAM_TERMINATED)
        lose(pulse);
    pulse_server_wake(&pulse->server);
}

static void room_came(pa_stream *stream, size_t bytes, void *opaque)
{
    (void)stream;
    (void)bytes;
    pulse_server_wake(&((struct audio_pulse *)opaque)->server);
}

/*
 * The sound heard is what the server has read from our buffer, less what still waits in the
 * device's buffer. The server counts both indexes, so only their difference is used: it stays right
 * over a flush.
 *
 * While the server has run dry (not playing), the device's buffer holds silence behind our last
 * samples, and the difference means nothing. The model then runs to the end by itself, which is
 * correct.
 *
 * A device that does not know what it holds reports 0: a combined sink in its first second, a null
 * sink of PipeWire always. It holds no more than it is configured for.
 */
static void report_came(pa_stream *stream, void *opaque)
{
    struct audio_pulse *const pulse = opaque;
    struct playout *const playout = &pulse->sink.playout;
    const pa_timing_info *const timing = pa_stream_get_timing_info(stream);
    pulse->answered = true;
    if (!timing || !timing->playing || timing->read_index_corrupt || timing->write_index_corrupt ||
        pulse->flushing || pa_stream_is_suspended(stream) > 0)
        return;
    const int64_t frame_size = (int64_t)pa_frame_size(pa_stream_get_sample_spec(stream));
    const int64_t unread = (timing->write_index - timing->read_index) / frame_size;
    const int64_t in_device = playout_frames(playout, 1000 * (int64_t)timing->sink_usec);
    const int64_t most = playout_frames(playout, 1000 * (int64_t)timing->configured_sink_usec);
    pthread_mutex_lock(&pulse->sink.lock);
    const int64_t last = playout->written - unread - in_device;
    const int64_t first = in_device > 0 ? last : last - most;
    if (!pulse->sink.paused)
        playout_run_between(playout, first, last, pulse_server_report_ns(timing));
    pthread_mutex_unlock(&pulse->sink.lock);
}

static void ask_for_report(struct audio_pulse *pulse)
{
    pulse_server_forget(pa_stream_update_timing_info(pulse->stream, NULL, NULL));
}

static void started(pa_stream *stream, void *opaque)
{
    (void)stream;
    ask_for_report(opaque);
}

/*
 * The device is another one, or was suspended, or goes on. A suspended device plays nothing and
 * reports that it plays. When it goes on, its report starts the model again.
 */
static void device_changed(pa_stream *stream, void *opaque)
{
    struct audio_pulse *const pulse = opaque;
    if (pa_stream_is_suspended(stream) > 0) {
        pthread_mutex_lock(&pulse->sink.lock);
        playout_hold(&pulse->sink.playout, dlex_now_ns());
        pthread_mutex_unlock(&pulse->sink.lock);
    }
    ask_for_report(pulse);
}

/* A short sound may be over before the first report. It then began at about this time. */
static void ran_dry(pa_stream *stream, void *opaque)
{
    (void)stream;
    struct audio_pulse *const pulse = opaque;
    struct playout *const playout = &pulse->sink.playout;
    pthread_mutex_lock(&pulse->sink.lock);
    if (!playout->running && !pulse->sink.paused && !pulse->flushing)
        playout_run(playout, playout->anchor_frame, dlex_now_ns());
    pthread_mutex_unlock(&pulse->sink.lock);
}

static void watch_came(pa_mainloop_api *api, pa_time_event *event, const struct timeval *at,
                       void *opaque)
{
    (void)api;
    (void)at;
    struct audio_pulse *const pulse = opaque;
    if (!pulse->answered) {
        lose_by(pulse, "it does not answer any more");
        return;
    }
    pulse->answered = false;
    ask_for_report(pulse);
    pa_context_rttime_restart(pulse->server.context, event, pa_rtclock_now() + watch_us);
}

static int new_stream(struct audio_pulse *pulse)
{
    const pa_sample_spec spec = {
        .format = PA_SAMPLE_FLOAT32NE,
        .rate = (uint32_t)pulse->sink.format.rate,
        .channels = (uint8_t)pulse->sink.format.channels,
    };
    pulse->stream = pa_stream_new(pulse->server.context, "sound", &spec, NULL);
    if (!pulse->stream)
        return -1;
    pa_stream_set_state_callback(pulse->stream, stream_changed, pulse);
    pa_stream_set_write_callback(pulse->stream, room_came, pulse);
    pa_stream_set_latency_update_callback(pulse->stream, report_came, pulse);
    pa_stream_set_started_callback(pulse->stream, started, pulse);
    pa_stream_set_underflow_callback(pulse->stream, ran_dry, pulse);
    pa_stream_set_suspended_callback(pulse->stream, device_changed, pulse);
    pa_stream_set_moved_callback(pulse->stream, device_changed, pulse);
    return 0;
}

/*
 * prebuf is one frame, so the sound starts with the first data, even for a file shorter than any
 * usual prebuf, and the server need not be informed of the end of the data.
 */
static int connect_stream(struct audio_pulse *pulse)
{
    const pa_sample_spec *const spec = pa_stream_get_sample_spec(pulse->stream);
    const pa_buffer_attr buffer = {
        .maxlength = (uint32_t)-1,
        .tlength = (uint32_t)pa_usec_to_bytes(buffer_us, spec),
        .prebuf = (uint32_t)pa_frame_size(spec),
        .minreq = (uint32_t)pa_usec_to_bytes(request_us, spec),
        .fragsize = (uint32_t)-1,
    };
    const pa_stream_flags_t flags = PA_STREAM_AUTO_TIMING_UPDATE;
    if (pa_stream_connect_playback(pulse->stream, NULL, &buffer, flags, NULL, NULL) < 0)
        return -1;
    while (pa_stream_get_state(pulse->stream) != PA_STREAM_READY)
        if (!PA_STREAM_IS_GOOD(pa_stream_get_state(pulse->stream)) ||
            !pulse_server_wait(&pulse->server))
            return -1;
    return 0;
}

static int connect_server(struct audio_pulse *pulse)
{
    if (pulse_server_open(&pulse->server, "dlex-play", lose, pulse) < 0)
        return -ENODEV;
    const int ret = new_stream(pulse) < 0 || connect_stream(pulse) < 0 ? -ENODEV : 0;
    if (ret == 0) {
        pulse->answered = true;
        pulse->watch = pa_context_rttime_new(pulse->server.context, pa_rtclock_now() + watch_us,
                                             watch_came, pulse);
    }
    pulse_server_settle(&pulse->server);
    return ret;
}

static void release_stream(struct audio_pulse *pulse)
{
    if (!pulse->stream)
        return;
    pa_threaded_mainloop_lock(pulse->server.loop);
    if (pulse->watch)
        pa_threaded_mainloop_get_api(pulse->server.loop)->time_free(pulse->watch);
    pa_stream_set_state_callback(pulse->stream, NULL, NULL);
    pa_stream_disconnect(pulse->stream);
    pa_stream_unref(pulse->stream);
    pa_threaded_mainloop_unlock(pulse->server.loop);
}

static void pulse_destroy(struct audio_sink *sink)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    release_stream(pulse);
    pulse_server_close(&pulse->server);
    audio_sink_finish(sink);
    free(pulse);
}

static int pulse_create(struct audio_sink **out, const struct audio_format *format, char *why,
                        size_t why_size)
{
    struct audio_pulse *const pulse = calloc(1, sizeof *pulse);
    if (!pulse) {
        snprintf(why, why_size, "out of memory");
        return -ENOMEM;
    }
    audio_sink_init(&pulse->sink, &audio_pulse, format);
    const int ret = connect_server(pulse);
    if (ret < 0) {
        snprintf(why, why_size, "PulseAudio cannot be reached: %s",
                 pulse_server_cause(&pulse->server));
        pulse_destroy(&pulse->sink);
        return ret;
    }
    *out = &pulse->sink;
    return 0;
}

static int blocked_code(struct audio_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    const int ret = sink->gone ? -EPIPE : sink->interrupted ? -ECANCELED : 0;
    pthread_mutex_unlock(&sink->lock);
    return ret;
}

/*
 * When the model has reached the end of the old sound, it must not run on into the new sound: the
 * server plays the new sound only after it gets it, and will report when that was.
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

/*
 * Under the mainloop's lock. Writes as much as the server wants now. Returns the number of frames
 * written, or a negative code.
 */
static int write_some(struct audio_pulse *pulse, const float *samples, int frames, int64_t pts_ns)
{
    const size_t frame_size = sizeof(float) * (size_t)pulse->sink.format.channels;
    const size_t room = pa_stream_writable_size(pulse->stream);
    if (room == (size_t)-1)
        return -EPIPE;
    const int taken = room / frame_size < (size_t)frames ? (int)(room / frame_size) : frames;
    if (taken == 0)
        return 0;
    const size_t bytes = (size_t)taken * frame_size;
    if (pa_stream_write(pulse->stream, samples, bytes, NULL, 0, PA_SEEK_RELATIVE) < 0)
        return -EPIPE;
    append(pulse, taken, pts_ns);
    return taken;
}

static int pulse_write(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    int ret = 0;
    pa_threaded_mainloop_lock(pulse->server.loop);
    while (frames > 0 && (ret = blocked_code(sink)) == 0) {
        const int taken = write_some(pulse, samples, frames, pts_ns);
        if (taken < 0) {
            lose(pulse);
        } else if (taken == 0) {
            pa_threaded_mainloop_wait(pulse->server.loop);
        } else {
            samples += taken * sink->format.channels;
            frames -= taken;
            pts_ns = AUDIO_PTS_UNKNOWN;
        }
    }
    pa_threaded_mainloop_unlock(pulse->server.loop);
    return ret;
}

/*
 * The model stands at once; the server follows. When the sound goes on, the server's report starts
 * the model again.
 */
static void pulse_pause(struct audio_sink *sink, bool paused)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    pa_threaded_mainloop_lock(pulse->server.loop);
    pthread_mutex_lock(&sink->lock);
    const bool changes = sink->paused != paused;
    if (changes)
        playout_hold(&sink->playout, dlex_now_ns());
    sink->paused = paused;
    pthread_mutex_unlock(&sink->lock);
    if (changes) {
        pulse_server_forget(pa_stream_cork(pulse->stream, paused, NULL, NULL));
        ask_for_report(pulse);
    }
    pa_threaded_mainloop_unlock(pulse->server.loop);
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
    pa_threaded_mainloop_lock(pulse->server.loop);
    pthread_mutex_lock(&sink->lock);
    playout_init(&sink->playout, sink->format.rate);
    pthread_mutex_unlock(&sink->lock);
    pa_operation *const operation = pa_stream_flush(pulse->stream, flushed, pulse);
    if (operation)
        pulse->flushing++;
    pulse_server_forget(operation);
    pa_threaded_mainloop_unlock(pulse->server.loop);
}

static void pulse_interrupt(struct audio_sink *sink, bool on)
{
    struct audio_pulse *const pulse = pulse_of(sink);
    pa_threaded_mainloop_lock(pulse->server.loop);
    pthread_mutex_lock(&sink->lock);
    sink->interrupted = on;
    pthread_mutex_unlock(&sink->lock);
    pulse_server_wake(&pulse->server);
    pa_threaded_mainloop_unlock(pulse->server.loop);
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
