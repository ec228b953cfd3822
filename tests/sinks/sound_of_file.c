/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sound_of_file FILE   writes the samples that the player's sound output gets from this file, as interleaved float32, to standard
 *                      output, and the output's rate and number of channels as one line to standard error.
 *
 * This file is the sound output itself: it defines the functions of audio_sink.h, so no sound server and no time is needed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audio_sink.h"
#include "audio_track.h"
#include "clip.h"

static struct audio_sink {
    int channels;
} stdout_sink;

int audio_sink_create(struct audio_sink **out, const char *kind, const struct audio_format *format, char *why, size_t why_size)
{
    (void)kind;
    (void)why;
    (void)why_size;
    stdout_sink.channels = format->channels;
    fprintf(stderr, "%d %d\n", format->rate, format->channels);
    *out = &stdout_sink;
    return 0;
}

void audio_sink_destroy(struct audio_sink **sink)
{
    *sink = NULL;
}

int audio_sink_write(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns)
{
    (void)pts_ns;
    const size_t count = (size_t)frames * (size_t)sink->channels;
    return fwrite(samples, sizeof *samples, count, stdout) == count ? 0 : -EPIPE;
}

int audio_sink_heard(struct audio_sink *sink, int64_t *pts_ns)
{
    (void)sink;
    (void)pts_ns;
    return -EAGAIN;
}

int audio_sink_begins(struct audio_sink *sink, int64_t *pts_ns)
{
    return audio_sink_heard(sink, pts_ns);
}

bool audio_sink_answers_late(struct audio_sink *sink)
{
    (void)sink;
    return false;
}

void audio_sink_pause(struct audio_sink *sink, bool paused)
{
    (void)sink;
    (void)paused;
}

void audio_sink_flush(struct audio_sink *sink)
{
    (void)sink;
}

void audio_sink_interrupt(struct audio_sink *sink, bool on)
{
    (void)sink;
    (void)on;
}

int64_t audio_sink_buffered_ns(struct audio_sink *sink)
{
    (void)sink;
    return 0;
}

bool audio_sink_drained(struct audio_sink *sink)
{
    (void)sink;
    return true;
}

const char *audio_sink_error(struct audio_sink *sink)
{
    (void)sink;
    return NULL;
}

static int write_all(struct clip *clip, struct audio_track *track)
{
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? 0 : -ENOMEM;
    while (ret >= 0 && av_read_frame(clip->format, packet) >= 0) {
        if (packet->stream_index == clip->audio->index)
            ret = audio_track_feed(track, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return ret < 0 ? ret : audio_track_feed(track, NULL);
}

int main(int argc, char **argv)
{
    char why[256] = "give one file with sound";
    struct clip clip = {0};
    struct audio_track *track = NULL;
    int ret = argc == 2 ? clip_open(&clip, argv[1], NULL, why, sizeof why) : -EINVAL;
    if (ret >= 0)
        ret = clip.audio ? audio_track_create(&track, &clip, "stdout", why, sizeof why) : -EINVAL;
    if (ret >= 0) {
        audio_track_restart(track, clip_start_ns(&clip));
        ret = write_all(&clip, track);
    } else {
        fprintf(stderr, "%s\n", why);
    }
    audio_track_destroy(&track);
    clip_close(&clip);
    return ret < 0 ? 1 : 0;
}
