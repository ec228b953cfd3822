/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "monitor_source.h"

#include "pulse_server.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The size of each portion of sound that arrives. Without PA_STREAM_ADJUST_LATENCY it changes nothing at the sink. */
static const pa_usec_t portion_us = 50000;

/* The time between two reports. Several reports fall around each tone, and each costs the server some microseconds. */
static const pa_usec_t report_period_us = 125000;

/* Not longer than a caller waits between its request to end and its SIGKILL. */
static const int64_t longest_rest_us = 2500000;

static const double extra_s = 600;
enum { TONES_PER_S = 8, REPORTS_PER_S = 10 };

/* A report that was on its way for longer than this gives its time too roughly. */
static const int64_t old_report_ns = 2000000000;

struct monitor_source {
    struct pulse_server server;
    pa_stream *stream;
    pa_time_event *next_report;
    struct burst_finder finder;
    bool listening; /* the finder is ready */
    int64_t held_back_us; /* by the server, according to its last answer */
    bool timed;           /* the server has reported the timing since that answer */
    int64_t timing_ns;    /* the time at which `timing` was true */
    pa_timing_info timing;
    atomic_bool lost;
    char cause[128];
    atomic_bool *stop;
    struct burst *burst;
    size_t burst_room;
    struct heard_report *report;
    size_t report_room;
    struct monitor_record record;
};

static void server_lost(void *opaque)
{
    struct monitor_source *const source = opaque;
    if (!source->lost)
        snprintf(source->cause, sizeof source->cause, "%s", pulse_server_cause(&source->server));
    source->lost = true;
    atomic_store_explicit(source->stop, true, memory_order_relaxed);
}

static void stream_changed(pa_stream *stream, void *opaque)
{
    struct monitor_source *const source = opaque;
    if (pa_stream_get_state(stream) == PA_STREAM_FAILED || pa_stream_get_state(stream) == PA_STREAM_TERMINATED)
        server_lost(source);
    pulse_server_wake(&source->server);
}

static void tone_found(void *opaque, const struct burst *burst)
{
    struct monitor_source *const source = opaque;
    if (source->record.burst_count < source->burst_room)
        source->burst[source->record.burst_count++] = *burst;
    else
        source->record.lost++;
}

static void sound_came(pa_stream *stream, size_t bytes, void *opaque)
{
    struct monitor_source *const source = opaque;
    const void *data;
    while (source->listening && !pa_stream_peek(stream, &data, &bytes) && bytes) {
        const size_t frames = bytes / sizeof(float);
        if (!data)
            source->record.holes_frames += (int64_t)frames;
        burst_finder_feed(&source->finder, data, frames);
        pa_stream_drop(stream);
    }
}

/* The report carries wall clock time. What is needed is its age. */
static int64_t report_age_ns(const pa_timing_info *timing)
{
    struct timeval now;
    pa_gettimeofday(&now);
    return 1000 * ((now.tv_sec - timing->timestamp.tv_sec) * INT64_C(1000000) + now.tv_usec -
                   timing->timestamp.tv_usec);
}

/*
 * A report is made of three answers that are requested together: the amount held back, the timing, and the amount held
 * back again. The server holds back as much of a monitor's sound as its sink could take back (PulseAudio 16: about 175
 * ms beside dlex-play; it changes with the sink's latency). The timing does not include this amount. Where the two
 * amounts differ, sound came in between, and the report is discarded.
 */
static void timing_came(pa_stream *stream, void *opaque)
{
    struct monitor_source *const source = opaque;
    const pa_timing_info *const timing = pa_stream_get_timing_info(stream);
    source->timed = false;
    if (!timing || timing->write_index_corrupt || !source->listening)
        return;
    const int64_t age_ns = report_age_ns(timing);
    if (age_ns < 0 || age_ns > old_report_ns)
        return;
    source->timed = true;
    source->timing_ns = dlex_now_ns() - age_ns;
    source->timing = *timing;
}

/*
 * The sound heard now is what the sink has mixed so far, less what it has not played yet. dlex-play's clock is made
 * from the same latency of the same sink (audio_pulse.c). Before the first sound there is nothing to report.
 */
static void note_report(struct monitor_source *source, int64_t held_back_us)
{
    const pa_timing_info *const timing = &source->timing;
    if (timing->write_index + held_back_us <= 0)
        return;
    if (source->record.report_count == source->report_room) {
        source->record.lost++;
        return;
    }
    const double ahead_us = (double)held_back_us + (double)timing->source_usec - (double)timing->sink_usec;
    source->report[source->record.report_count++] = (struct heard_report){
        .time_ns = source->timing_ns,
        .frame = (double)timing->write_index / sizeof(float) + ahead_us * source->finder.rate / 1e6,
    };
}

static void stream_described(pa_context *context, const pa_source_output_info *info, int end, void *opaque)
{
    (void)context;
    struct monitor_source *const source = opaque;
    if (end || !source->listening)
        return;
    const int64_t held_back_us = (int64_t)info->buffer_usec;
    if (source->timed && held_back_us == source->held_back_us)
        note_report(source, held_back_us);
    source->timed = false;
    source->held_back_us = held_back_us;
}

static void ask_what_is_held(struct monitor_source *source)
{
    const uint32_t index = pa_stream_get_index(source->stream);
    pulse_server_forget(pa_context_get_source_output_info(source->server.context, index, stream_described, source));
}

static void report_is_due(pa_mainloop_api *api, pa_time_event *event, const struct timeval *at, void *opaque)
{
    (void)api;
    (void)at;
    struct monitor_source *const source = opaque;
    ask_what_is_held(source);
    pulse_server_forget(pa_stream_update_timing_info(source->stream, NULL, NULL));
    ask_what_is_held(source);
    pa_context_rttime_restart(source->server.context, event, pa_rtclock_now() + report_period_us);
}

static int new_stream(struct monitor_source *source)
{
    /* PA_STREAM_FIX_RATE replaces the rate with the source's own, so the recording is not resampled. */
    const pa_sample_spec spec = {.format = PA_SAMPLE_FLOAT32NE, .rate = 48000, .channels = 1};
    source->stream = pa_stream_new(source->server.context, "observer", &spec, NULL);
    if (!source->stream)
        return -1;
    pa_stream_set_state_callback(source->stream, stream_changed, source);
    pa_stream_set_read_callback(source->stream, sound_came, source);
    pa_stream_set_latency_update_callback(source->stream, timing_came, source);
    return 0;
}

static int connect_stream(struct monitor_source *source, const char *name)
{
    const pa_sample_spec *const spec = pa_stream_get_sample_spec(source->stream);
    const pa_buffer_attr buffer = {
        .maxlength = (uint32_t)-1,
        .fragsize = (uint32_t)pa_usec_to_bytes(portion_us, spec),
    };
    const pa_stream_flags_t flags = PA_STREAM_FIX_RATE | PA_STREAM_DONT_MOVE;
    if (pa_stream_connect_record(source->stream, name, &buffer, flags) < 0)
        return -1;
    while (pa_stream_get_state(source->stream) != PA_STREAM_READY)
        if (!PA_STREAM_IS_GOOD(pa_stream_get_state(source->stream)) || !pulse_server_wait(&source->server))
            return -1;
    return 0;
}

/* Must be called under the server's lock. */
static int listen_to_stream(struct monitor_source *source)
{
    const int rate = (int)pa_stream_get_sample_spec(source->stream)->rate;
    const int ret = burst_finder_init(&source->finder, rate, tone_found, source);
    if (ret < 0)
        return ret;
    source->record.rate = rate;
    source->listening = true;
    source->next_report =
        pa_context_rttime_new(source->server.context, pa_rtclock_now() + report_period_us, report_is_due, source);
    return source->next_report ? 0 : -ENOMEM;
}

static int reserve(struct monitor_source *source, double length_s)
{
    source->burst_room = (size_t)((length_s + extra_s) * TONES_PER_S);
    source->report_room = (size_t)((length_s + extra_s) * REPORTS_PER_S);
    source->burst = malloc(source->burst_room * sizeof *source->burst);
    source->report = malloc(source->report_room * sizeof *source->report);
    if (!source->burst || !source->report)
        return -ENOMEM;
    memset(source->burst, 0, source->burst_room * sizeof *source->burst); /* no page fault comes later */
    memset(source->report, 0, source->report_room * sizeof *source->report);
    return 0;
}

static int open_parts(struct monitor_source *source, const char *name, char *why, size_t why_size)
{
    if (pulse_server_open(&source->server, "dlex-bench-observe", server_lost, source) < 0) {
        snprintf(why, why_size, "PulseAudio cannot be reached: %s", pulse_server_cause(&source->server));
        return -ENODEV;
    }
    int ret = new_stream(source) < 0 || connect_stream(source, name) < 0 ? -ENODEV : 0;
    if (ret < 0)
        snprintf(why, why_size, "it cannot be recorded: %s", pulse_server_cause(&source->server));
    else
        ret = listen_to_stream(source);
    pulse_server_settle(&source->server);
    return ret;
}

int monitor_source_open(struct monitor_source **out, const char *name, double length_s, atomic_bool *stop, char *why,
                        size_t why_size)
{
    snprintf(why, why_size, "out of memory");
    struct monitor_source *source = calloc(1, sizeof *source);
    *out = NULL;
    if (!source)
        return -ENOMEM;
    source->stop = stop;
    int ret = reserve(source, length_s);
    if (!ret)
        ret = open_parts(source, name, why, why_size);
    if (ret < 0)
        monitor_source_close(&source);
    *out = source;
    return ret;
}

static void release_stream(struct monitor_source *source)
{
    if (!source->stream)
        return;
    pa_threaded_mainloop_lock(source->server.loop);
    if (source->next_report)
        pa_threaded_mainloop_get_api(source->server.loop)->time_free(source->next_report);
    pa_stream_set_state_callback(source->stream, NULL, NULL);
    pa_stream_set_read_callback(source->stream, NULL, NULL);
    pa_stream_set_latency_update_callback(source->stream, NULL, NULL);
    pa_stream_disconnect(source->stream);
    pa_stream_unref(source->stream);
    source->stream = NULL;
    pa_threaded_mainloop_unlock(source->server.loop);
}

/* Waits for the sound that was mixed before now and that the server still holds back: 2 s at most for a null sink. */
static void hear_the_rest(struct monitor_source *source)
{
    pa_threaded_mainloop_lock(source->server.loop);
    const int64_t rest_us = source->held_back_us + (int64_t)portion_us;
    pa_threaded_mainloop_unlock(source->server.loop);
    const int64_t until_ns = dlex_now_ns() + 1000 * (rest_us < longest_rest_us ? rest_us : longest_rest_us);
    while (!source->lost && dlex_now_ns() < until_ns)
        usleep(portion_us);
}

int monitor_source_end(struct monitor_source *source, struct monitor_record *record, char *why, size_t why_size)
{
    hear_the_rest(source);
    release_stream(source);
    pulse_server_close(&source->server); /* its thread has ended, so its records can be read */
    source->record.burst = source->burst;
    source->record.report = source->report;
    source->record.odd_sounds = source->finder.odd;
    *record = source->record;
    if (!source->lost)
        return 0;
    snprintf(why, why_size, "the connection to PulseAudio was lost: %s", source->cause);
    return -EPIPE;
}

void monitor_source_close(struct monitor_source **source)
{
    if (!*source)
        return;
    release_stream(*source);
    pulse_server_close(&(*source)->server);
    burst_finder_finish(&(*source)->finder);
    free((*source)->burst);
    free((*source)->report);
    free(*source);
    *source = NULL;
}
