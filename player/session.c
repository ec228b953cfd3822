/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session.h"

#include "log.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <string.h>

enum {
    WHY_SIZE = 256,
    NS_PER_US = 1000,
    QUEUE_LIMIT_BYTES = 64 << 20,
    /* With sound the queue must also hold what a badly interleaved file puts before the sound of the same time. */
    QUEUE_LIMIT_BESIDE_SOUND_BYTES = 512 << 20,
};

static void open_audio(struct session *session)
{
    const struct options *const options = session->setup->options;
    if (!session->clip.audio || options->untimed)
        return;
    char why[WHY_SIZE];
    if (audio_track_create(&session->audio, &session->clip, options->audio_kind, why, sizeof why) < 0)
        log_error("%s: its sound is not played: %s", session->setup->path, why);
}

static int open_screen(struct video_sink **screen, const char *kind, const char *path, char *why, size_t why_size)
{
    if (*screen) {
        video_sink_set_title(*screen, path);
        return 0;
    }
    if (strcmp(kind, "auto"))
        return video_sink_create(screen, kind, path, why, why_size);
    const int ret = video_sink_create(screen, "sdl", path, why, why_size);
    if (!ret)
        return 0;
    log_note("no window (%s); pictures go to an ideal screen that nobody sees", why);
    return video_sink_create(screen, "null", path, why, why_size);
}

static int open_video(struct session *session)
{
    if (!session->clip.video)
        return 0;
    const struct playback_setup *const setup = session->setup;
    char why[WHY_SIZE];
    int ret = decoder_open(&session->decoder, session->clip.video, why, sizeof why);
    if (ret < 0) {
        log_error("%s: its pictures are not played: %s", setup->path, why);
        return session->clip.audio ? 0 : ret;
    }
    ret = open_screen(setup->screen, setup->options->video_kind, setup->path, why, sizeof why);
    if (ret < 0) {
        log_error("cannot show pictures: %s; try --vo=null", why);
        return ret;
    }
    if (!decoder_has_gate(session->decoder) && setup->options->policy.drop != DROP_NONE) {
        char codec[WHY_SIZE];
        log_note("%s cannot be abandoned in the middle: each picture is decoded to the end, and late ones are not shown",
                 decoder_description(session->decoder, codec, sizeof codec));
        session->no_screen = true;
    }
    const int64_t limit = session->clip.audio ? QUEUE_LIMIT_BESIDE_SOUND_BYTES : QUEUE_LIMIT_BYTES;
    return queue_create(&session->queue, limit);
}

static void discard_unplayed(struct session *session)
{
    if (session->clip.video && !session->decoder)
        session->clip.video->discard = AVDISCARD_ALL;
    if (session->clip.audio && !session->audio)
        session->clip.audio->discard = AVDISCARD_ALL;
}

int session_open(struct session *session, const struct playback_setup *setup)
{
    *session = (struct session){.setup = setup, .last_skew_ns = FIELD_EMPTY, .end_ns = INT64_MAX};
    char why[WHY_SIZE];
    int ret = clip_open(&session->clip, setup->path, why, sizeof why);
    if (ret < 0) {
        log_error("%s: %s", setup->path, why);
        return ret;
    }
    ret = open_video(session);
    if (ret < 0)
        goto fail;
    open_audio(session);
    if (!session->decoder && !session->audio) {
        ret = -ENOTSUP;
        if (session->clip.audio && setup->options->untimed)
            log_error("%s: it has no pictures, and --untimed plays no sound", setup->path);
        goto fail;
    }
    discard_unplayed(session);
    ret = frame_log_create(&session->log, setup->record_dir != NULL);
    if (ret < 0)
        goto fail;
    policy_init(&session->policy, &setup->options->policy);
    session->frame_duration_ns = clip_frame_duration_ns(&session->clip);
    session->started_ns = dlex_now_ns();
    return 0;
fail:
    session_close(session);
    return ret;
}

static int seek_file(struct session *session, int64_t target_ns)
{
    AVFormatContext *const format = session->clip.format;
    const int64_t target_us = target_ns / NS_PER_US;
    /* Not later than the target, so that the pictures up to it can be decoded and passed over. */
    int ret = avformat_seek_file(format, -1, INT64_MIN, target_us, target_us, 0);
    if (ret < 0)
        ret = av_seek_frame(format, -1, target_us, AVSEEK_FLAG_BACKWARD);
    return ret;
}

static void rewind_parts(struct session *session, int64_t target_ns)
{
    if (session->decoder && session->segment > 0)
        decoder_flush(session->decoder);
    if (session->audio) {
        audio_sink_pause(audio_track_sink(session->audio), true);
        audio_track_restart(session->audio, target_ns);
    }
    sync_init(&session->sync, target_ns, session->setup->options->untimed);
    session->next_pts_ns = FIELD_EMPTY;
    session->started = false;
    session->segment++;
}

int session_start_at(struct session *session, int64_t position_ns)
{
    feeder_stop(&session->feeder);
    const int64_t target_ns = clip_start_ns(&session->clip) + position_ns;
    const bool from_the_top = position_ns <= 0 && session->segment == 0;
    if (!from_the_top) {
        const int ret = seek_file(session, target_ns);
        if (ret < 0)
            return ret;
    }
    /* From the top nothing is cut: a picture may stand a little before what the container says is the start. */
    session->from_ns = position_ns <= 0 ? INT64_MIN : target_ns;
    if (session->setup->options->length_ns && session->end_ns == INT64_MAX)
        session->end_ns = target_ns + session->setup->options->length_ns;
    rewind_parts(session, target_ns);
    session->feeder = (struct feeder){
        .clip = &session->clip,
        .queue = session->queue,
        .audio = session->audio,
        .log = session->log,
        .end_ns = session->end_ns,
    };
    return feeder_start(&session->feeder);
}

int session_write_record(struct session *session, const char *ended)
{
    const struct playback_setup *const setup = session->setup;
    if (!setup->record_dir)
        return 0;
    char codec[WHY_SIZE];
    const struct run_facts facts = {
        .options = setup->options,
        .media_path = setup->path,
        .clip = &session->clip,
        .decoder = session->decoder ? decoder_description(session->decoder, codec, sizeof codec) : NULL,
        .has_gate = session->decoder && decoder_has_gate(session->decoder),
        .audio_sink = session->audio ? audio_sink_kind(audio_track_sink(session->audio)) : NULL,
        .video_sink = session->decoder ? video_sink_kind(*setup->screen) : NULL,
        .clock = session->audio ? "audio" : "monotonic",
        .ended = ended,
        .started_ns = session->started_ns,
        .ended_ns = dlex_now_ns(),
        .totals = session->totals,
    };
    const int ret = run_record_write(setup->record_dir, &facts, session->log);
    if (ret < 0)
        log_error("the record could not be written to %s: %s; nothing was left there", setup->record_dir,
                  strerror(-ret));
    return ret;
}

void session_close(struct session *session)
{
    feeder_stop(&session->feeder);
    audio_track_destroy(&session->audio);
    decoder_close(&session->decoder);
    queue_destroy(&session->queue);
    frame_log_destroy(&session->log);
    clip_close(&session->clip);
}
