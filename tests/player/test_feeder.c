/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that reads a file: however reading ends, each output has its end, and what was lost is known. The file is in memory, and
 * its device can fail. Not covered: what the player makes of it (tests/input/test_reading.py).
 */
#include "feeder.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clip_path.h"
#include "clip_read.h"
#include "suite.h"

enum { BUFFER_BYTES = 4096, FAILS_NEVER = INT_MAX };

struct file {
    uint8_t *data;
    int64_t size;
    int64_t at;
    int64_t fails_at; /* reads from here on fail */
};

struct output {
    int packets;
    int ends;
    int taken_before_failure;
    int failure;
};

static struct file file;
static struct clip clip;
static struct feeder feeder;
static struct output video, sound;

static int read_file(void *opaque, uint8_t *buffer, int size)
{
    (void)opaque;
    if (file.at >= file.fails_at)
        return AVERROR(EIO);
    const int64_t end = file.size < file.fails_at ? file.size : file.fails_at;
    const int64_t left = end - file.at;
    if (left <= 0)
        return AVERROR_EOF;
    const int count = size < left ? size : (int)left;
    memcpy(buffer, file.data + file.at, (size_t)count);
    file.at += count;
    return count;
}

static int take(void *opaque, AVPacket *packet)
{
    (void)packet;
    struct output *const output = opaque;
    ck_assert_int_eq(output->ends, 0);
    if (output->packets >= output->taken_before_failure)
        return output->failure;
    output->packets++;
    return 0;
}

static void end(void *opaque)
{
    ((struct output *)opaque)->ends++;
}

static void interrupt(void *opaque, bool on)
{
    (void)opaque, (void)on;
}

static void load(const char *path)
{
    FILE *const in = fopen(path, "rb");
    ck_assert_ptr_nonnull(in);
    fseek(in, 0, SEEK_END);
    file = (struct file){.size = ftell(in), .fails_at = INT64_MAX};
    rewind(in);
    file.data = malloc((size_t)file.size);
    ck_assert_uint_eq(fread(file.data, 1, (size_t)file.size, in), (size_t)file.size);
    fclose(in);
}

/* Opens a transport stream with pictures and sound. Returns false if it cannot be made on this machine. */
static bool open_file(void)
{
    char path[4096];
    const int missing = clip_path(path, sizeof path, "mpegts_h264");
    ck_assert_int_ge(missing, 0);
    if (missing)
        return false;
    load(path);
    clip.format = avformat_alloc_context();
    clip.format->pb = avio_alloc_context(av_malloc(BUFFER_BYTES), BUFFER_BYTES, 0, NULL, read_file, NULL, NULL);
    clip.format->probesize = file.size / 4;
    ck_assert_int_eq(avformat_open_input(&clip.format, "film", NULL, NULL), 0);
    ck_assert_int_ge(avformat_find_stream_info(clip.format, NULL), 0);
    for (unsigned i = 0; i < clip.format->nb_streams; i++)
        if (clip.format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO)
            clip.video = clip.format->streams[i];
        else
            clip.audio = clip.format->streams[i];
    ck_assert_ptr_nonnull(clip.video);
    ck_assert_int_eq(clip_begin(&clip), 0);
    video = sound = (struct output){.taken_before_failure = FAILS_NEVER};
    feeder = (struct feeder){
        .clip = &clip,
        .video = {&video, take, end, interrupt},
        .audio = {clip.audio ? &sound : NULL, clip.audio ? take : NULL, end, interrupt},
        .end_ns = INT64_MAX,
    };
    ck_assert_int_eq(read_ahead_create(&feeder.ahead), 0);
    return true;
}

static void close_file(void)
{
    clip_forget_all(&clip);
    if (clip.format) {
        AVIOContext *pb = clip.format->pb;
        avformat_close_input(&clip.format);
        av_freep(&pb->buffer);
        avio_context_free(&pb);
    }
    read_ahead_destroy(&feeder.ahead);
    free(file.data);
}

/* Reads until reading ends by itself. */
static void feed(void)
{
    ck_assert_int_eq(feeder_start(&feeder), 0);
    while (sem_wait(&feeder.ended) < 0)
        ;
    sem_post(&feeder.ended);
    feeder_stop(&feeder);
    ck_assert_int_eq(video.ends, 1);
    ck_assert_int_eq(sound.ends, clip.audio ? 1 : 0);
}

START_TEST(whole_file_is_read_without_error)
{
    if (!open_file())
        return;
    feed();
    ck_assert_int_eq(feeder.error, 0);
    ck_assert_int_gt(video.packets, 20);
}
END_TEST

START_TEST(file_that_is_cut_off_has_an_end)
{
    if (!open_file())
        return;
    file.size = file.size * 2 / 3;
    feed();
    ck_assert_int_eq(feeder.error, 0);
    ck_assert_int_gt(video.packets, 10);
}
END_TEST

/* The demuxer reports the end of the file then. */
START_TEST(device_that_fails_is_an_error)
{
    if (!open_file())
        return;
    file.fails_at = file.size * 2 / 3;
    feed();
    ck_assert_int_eq(feeder.error, AVERROR(EIO));
    ck_assert_int_gt(video.packets, 10);
}
END_TEST

START_TEST(video_without_memory_ends_both_outputs)
{
    if (!open_file())
        return;
    video.taken_before_failure = 5;
    video.failure = -ENOMEM;
    feed();
    ck_assert_int_eq(feeder.error, -ENOMEM);
}
END_TEST

START_TEST(sound_without_memory_ends_both_outputs)
{
    if (!open_file())
        return;
    if (clip.audio) {
        sound.taken_before_failure = 5;
        sound.failure = -ENOMEM;
        feed();
        ck_assert_int_eq(feeder.error, -ENOMEM);
    }
}
END_TEST

START_TEST(sound_whose_device_is_gone_ends_alone)
{
    if (!open_file())
        return;
    if (clip.audio) {
        sound.taken_before_failure = 5;
        sound.failure = -ECANCELED;
        feed();
        ck_assert_int_eq(feeder.error, 0);
        ck_assert_int_gt(video.packets, 20);
    }
}
END_TEST

int main(void)
{
    TCase *const cases = tcase_create("feeder");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, NULL, close_file);
    const TTest *const tests[] = {
        whole_file_is_read_without_error,
        file_that_is_cut_off_has_an_end,
        device_that_fails_is_an_error,
        video_without_memory_ends_both_outputs,
        sound_without_memory_ends_both_outputs,
        sound_whose_device_is_gone_ends_alone,
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    return suite_run_case("feeder", cases, CK_FORK_GETENV);
}
