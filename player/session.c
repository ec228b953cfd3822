/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session.h"

#include "log.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <string.h>
#include <time.h>

enum {
    WHY_SIZE = 256,
    NS_PER_US = 1000,
    NS_PER_S = 1000000000,
    /* So much of a picture that began before the start must be left for it to be shown. */
    REST_MIN_NS = 100000000,
    QUEUE_LIMIT_BYTES = 64 << 20,
    /* With sound the queue must also hold what a badly interleaved file puts before the sound of the same time. */
    QUEUE_LIMIT_BESIDE_SOUND_BYTES = 512 << 20,
};

/* Where a seek lands between key frames: first so much earlier, then twice that; no further than to the second. */
static const int64_t SEEK_BACK_NS = INT64_C(3000000000);
static const int64_t SEEK_BACK_MAX_NS = INT64_C(60000000000);

/* A clip whose sound has no decoder still plays; a device that was named and is not there is the user's to mend. */
static int open_audio(struct session *session)
{
    const struct options *const options = session->setup->options;
    if (!session->clip.audio || options->untimed)
        return 0;
    char why[WHY_SIZE];
    const int ret = audio_track_create(&session->audio, &session->clip, options->audio_kind, why, sizeof why);
    if (ret == -ENODEV) {
        log_error("cannot play sound: %s; try --ao=null", why);
        session->no_device = true;
        return ret;
    }
    if (ret < 0)
        log_error("%s: its sound is not played: %s", session->setup->path, why);
    return 0;
}

static void note_useless_heuristic(const struct session *session)
{
    if (session->setup->options->policy.drop == DROP_HEURISTIC && !session->audio)
        log_note("the heuristic compares with the sound, and none is played: nothing will be dropped");
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
        session->no_device = true;
        return ret;
    }
    if (!decoder_has_gate(session->decoder) && setup->options->policy.drop != DROP_NONE) {
        char codec[WHY_SIZE];
        log_note("%s cannot be abandoned in the middle: each picture is decoded to the end, and late ones are not shown",
                 decoder_description(session->decoder, codec, sizeof codec));
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
    log_mute_ffmpeg(true); /* its sentence is in `why` */
    int ret = clip_open(&session->clip, setup->path, setup->signal_seen, why, sizeof why);
    log_mute_ffmpeg(false);
    if (ret < 0) {
        log_error("%s: %s", setup->path, why);
        return ret;
    }
    ret = open_video(session);
    if (ret < 0)
        goto fail;
    ret = open_audio(session);
    if (ret < 0)
        goto fail;
    note_useless_heuristic(session);
    if (!session->decoder && !session->audio) {
        ret = -ENOTSUP;
        if (session->clip.audio && setup->options->untimed)
            log_error("%s: %s, and --untimed plays no sound", setup->path,
                      session->clip.video ? "only its sound is left" : "it has no pictures");
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

bool session_can_seek(const struct session *session)
{
    const AVFormatContext *const format = session->clip.format;
    if ((format->ctx_flags & AVFMTCTX_UNSEEKABLE) || (format->iformat->flags & AVFMT_NOTIMESTAMPS))
        return false;
    return !format->pb || (format->pb->seekable & AVIO_SEEKABLE_NORMAL);
}

bool session_sound_plays(const struct session *session)
{
    return session->audio && !audio_track_is_over(session->audio);
}

bool session_is_before_start(const struct session *session, int64_t pts_ns, int64_t duration_ns)
{
    if (session->from_ns == INT64_MIN || pts_ns >= session->from_ns)
        return false;
    /* A picture of common length that began before is over: only what stays for long is worth showing late. */
    const int64_t frame_ns = session->frame_duration_ns;
    const int64_t rest_ns = pts_ns + (duration_ns > 0 ? duration_ns : frame_ns) - session->from_ns;
    return rest_ns < (frame_ns < REST_MIN_NS ? frame_ns : REST_MIN_NS);
}

static int seek_not_after(AVFormatContext *format, int64_t target_ns)
{
    const int64_t target_us = target_ns / NS_PER_US;
    const int ret = avformat_seek_file(format, -1, INT64_MIN, target_us, target_us, 0);
    return ret < 0 ? av_seek_frame(format, -1, target_us, AVSEEK_FLAG_BACKWARD) : ret;
}

/* Reads on from here: whether a key frame comes, not later than the target. Leaves the file somewhere behind it. */
static bool key_frame_comes(struct session *session, int64_t target_ns)
{
    AVPacket *packet = av_packet_alloc();
    bool found = false;
    bool passed = !packet;
    while (!found && !passed && av_read_frame(session->clip.format, packet) >= 0) {
        if (packet->stream_index == session->clip.video->index) {
            const int64_t pts_ns = clip_pts_ns(session->clip.video, packet->pts);
            passed = pts_ns != AV_NOPTS_VALUE && pts_ns > target_ns;
            found = !passed && (packet->flags & AV_PKT_FLAG_KEY);
        }
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return found;
}

/*
 * Not later than the target, so that the pictures up to it can be decoded and passed over. Transport streams and their
 * like have no index, and a seek lands between key frames: then ever earlier, until a key frame lies before the target.
 */
static int seek_file(struct session *session, int64_t target_ns)
{
    AVFormatContext *const format = session->clip.format;
    if (!session->decoder || !(format->iformat->flags & AVFMT_TS_DISCONT))
        return seek_not_after(format, target_ns);
    const int64_t start_ns = clip_start_ns(&session->clip);
    for (int64_t back_ns = 0;; back_ns = back_ns ? 2 * back_ns : SEEK_BACK_NS) {
        const int64_t place_ns = target_ns - back_ns > start_ns ? target_ns - back_ns : start_ns;
        const int ret = seek_not_after(format, place_ns);
        if (ret < 0 || place_ns == start_ns || back_ns > SEEK_BACK_MAX_NS)
            return ret;
        if (key_frame_comes(session, target_ns))
            return seek_not_after(format, place_ns);
    }
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
    policy_restart(&session->policy);
    const bool stayed = session->segment == 0 && !session_can_seek(session);
    session->first_pts_ns = stayed ? clip_start_ns(&session->clip) : target_ns;
    session->next_pts_ns = session->fed_ns = FIELD_EMPTY;
    session->started = session->pictured = session->key_fed = session->jumped = false;
    session->clock_segment = ++session->segment;
}

/* Moves the file. Where that fails in the middle of playing, *target_ns becomes the present place. */
static int go_to(struct session *session, int64_t *target_ns)
{
    if (session->segment == 0 && !session_can_seek(session))
        return 0; /* what comes before the target is decoded and passed over */
    const int ret = seek_file(session, *target_ns);
    if (ret >= 0 || session->segment == 0)
        return ret;
    log_note("cannot seek in this file: %s; playing goes on where it was", av_err2str(ret));
    *target_ns = sync_media_ns(&session->sync, dlex_now_ns());
    seek_file(session, *target_ns); /* if this fails too, what has been read ahead is lost */
    return 0;
}

int session_start_at(struct session *session, int64_t position_ns)
{
    feeder_stop(&session->feeder);
    int64_t target_ns = clip_start_ns(&session->clip) + position_ns;
    const bool from_the_top = position_ns <= 0 && session->segment == 0;
    if (!from_the_top) {
        const int ret = go_to(session, &target_ns);
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

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
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
        .process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .main_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
        .placement = &session->placement,
    };
    placement_leave(&setup->options->placement);
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
