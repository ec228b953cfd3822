/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codec_threads.h"

#include "thread_cpu.h"

#include <libavutil/opt.h>
#include <string.h>

static const char dav1d_name[] = "libdav1d";
/* FFmpeg's name for libdav1d's setting: how many frames it decodes at once. */
static const char dav1d_frames_option[] = "max_frame_delay";

/* Returns what libdav1d would choose by itself: the square root, rounded up. Its version 1.0 does not report it. */
static int dav1d_frames(int threads)
{
    int frames = 1;
    while (frames * frames < threads)
        frames++;
    return frames;
}

static bool is_dav1d(const AVCodec *codec)
{
    return !strcmp(codec->name, dav1d_name);
}

void codec_threads_ask(AVCodecContext *avctx, int count)
{
    avctx->thread_count = count;
    avctx->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
    if (is_dav1d(avctx->codec))
        av_opt_set_int(avctx->priv_data, dav1d_frames_option, dav1d_frames(count), 0);
}

static enum codec_thread_kind kind_in_use(const AVCodecContext *avctx, int count)
{
    if (count == 1)
        return CODEC_THREADS_NONE;
    if (avctx->active_thread_type & FF_THREAD_FRAME)
        return CODEC_THREADS_FRAME;
    if (avctx->active_thread_type & FF_THREAD_SLICE)
        return CODEC_THREADS_SLICE;
    return avctx->codec->capabilities & AV_CODEC_CAP_OTHER_THREADS ? CODEC_THREADS_OWN : CODEC_THREADS_NONE;
}

void codec_threads_describe(struct codec_threads *threads, const AVCodecContext *avctx, int count)
{
    threads->kind = kind_in_use(avctx, count);
    threads->count = threads->kind == CODEC_THREADS_NONE ? 1 : threads->kind == CODEC_THREADS_OWN ? count : avctx->thread_count;
    threads->beside = 0;
    if (threads->kind == CODEC_THREADS_FRAME)
        threads->beside = threads->count - 1;
    else if (threads->kind == CODEC_THREADS_OWN && is_dav1d(avctx->codec))
        threads->beside = dav1d_frames(count); /* all of them: a frame comes out when its thread needs room for the next */
}

bool codec_threads_overlap(const struct codec_threads *threads)
{
    return threads->kind == CODEC_THREADS_FRAME || threads->kind == CODEC_THREADS_OWN;
}

int64_t codec_threads_cpu_ns(const struct codec_threads *threads)
{
    return thread_cpu_ns() + helper_threads_cpu_ns(&threads->helpers);
}

const char *codec_thread_kind_name(enum codec_thread_kind kind)
{
    static const char *const names[] = {"none", "frame", "slice", "own"};
    return names[kind];
}

enum codec_thread_kind codec_thread_kind_of(const AVCodec *codec)
{
    if (codec->capabilities & AV_CODEC_CAP_FRAME_THREADS)
        return CODEC_THREADS_FRAME;
    if (codec->capabilities & AV_CODEC_CAP_SLICE_THREADS)
        return CODEC_THREADS_SLICE;
    return codec->capabilities & AV_CODEC_CAP_OTHER_THREADS ? CODEC_THREADS_OWN : CODEC_THREADS_NONE;
}
