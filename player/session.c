/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session.h"

#include "log.h"
#include "memory.h"
#include "ns.h"
#include "session_limits.h"
#include "session_seek.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <inttypes.h>
#include <libavutil/imgutils.h>
#include <string.h>

enum {
    WHY_SIZE = 256,
    /*
     * How far the file is read is limited by time, see read_ahead.h. These limits are for badly interleaved files, and for those in
     * which one stream is much shorter. The first is an hour of most sound.
     */
    QUEUE_LIMIT_BYTES = 128 << 20,
    QUEUE_LIMIT_BESIDE_SOUND_BYTES = 512 << 20, /* the pictures before the sound of the same time */
    SOUND_PACKET_NS = 20 * NS_PER_MS, /* where the file does not say it */
};

static int open_packet_queue(const struct session *session, struct packet_queue **out, enum read_stream stream)
{
    const bool is_video = stream == READ_VIDEO;
    const struct packet_queue_settings settings = {
        .limit_bytes = is_video && session->clip.audio ? QUEUE_LIMIT_BESIDE_SOUND_BYTES : QUEUE_LIMIT_BYTES,
        .ahead = session->ahead,
        .stream = stream,
        .source = is_video ? session->clip.video : session->clip.audio,
        .packet_ns = is_video ? frame_duration_ns(clip_frame_duration(&session->clip)) : SOUND_PACKET_NS,
    };
    return queue_create(out, &settings);
}

/*
 * A clip whose sound has no decoder still plays. If a requested device is missing, this fails, and the user must fix
 * it.
 */
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
    if (ret < 0) {
        log_error("%s: its sound is not played: %s", session->setup->path, why);
        return 0;
    }
    return open_packet_queue(session, &session->sound_queue, READ_SOUND);
}

static void note_useless_heuristic(const struct session *session)
{
    if (session->setup->options->policy.drop == DROP_HEURISTIC && !session->audio)
        log_note("--drop=heuristic needs sound, and no sound is played: nothing will be dropped");
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
    log_note("no window (%s); pictures go to an ideal screen that shows nothing", why);
    return video_sink_create(screen, "null", path, why, why_size);
}

/* options.c has refused too short a time. */
static int check_queue_for_vlc(struct session *session)
{
    const struct options *const options = session->setup->options;
    const struct queue_wish *const wish = &options->queue;
    if (options->policy.drop != DROP_VLC || wish->kind != QUEUE_PICTURES ||
        wish->value * frame_duration_ns(clip_frame_duration(&session->clip)) >= OPTIONS_VLC_QUEUE_MIN_NS)
        return 0;
    log_error("--drop=vlc needs a queue of at least 200 ms of pictures; give a larger --queue");
    session->no_device = true; /* so that the program ends as after any wrong option */
    return -EINVAL;
}

static struct picture_size picture_size_of(const struct session *session)
{
    const AVCodecParameters *const video = session->clip.video->codecpar;
    const int bytes = av_image_get_buffer_size(video->format, video->width, video->height, 1);
    return (struct picture_size){.duration_ns = frame_duration_ns(clip_frame_duration(&session->clip)), .bytes = bytes > 0 ? bytes : 0};
}

/* Two pictures are always decoded ahead, even if they are larger than the queue may be. */
static void note_large_pictures(const struct session *session, const struct queue_limit *limit)
{
    const AVCodecParameters *const video = session->clip.video->codecpar;
    const int64_t bytes = 2 * picture_size_of(session).bytes;
    if (bytes > limit->bytes)
        log_note("two pictures of %dx%d need %" PRId64 " MiB, and the queue may have %" PRId64 " MiB; it takes the two",
                 video->width, video->height, bytes >> 20, limit->bytes >> 20);
}

/* Makes the queue of pictures, and the thread that fills it, if pictures are to be decoded ahead. */
static int open_queue(struct session *session)
{
    const struct playback_setup *const setup = session->setup;
    const struct queue_wish *const wish = &setup->options->queue;
    const int checked = check_queue_for_vlc(session);
    if (checked < 0 || wish->kind == QUEUE_NONE)
        return checked;
    if (!*setup->decode_thread) {
        const int ret = decode_thread_create(setup->decode_thread, setup->options->placement.cpu);
        if (ret < 0) {
            log_error("there is no thread that could decode ahead: %s; try --queue=0", strerror(-ret));
            return ret;
        }
    }
    const struct queue_limit limit = queue_limit_of(wish, memory_available_bytes());
    note_large_pictures(session, &limit);
    const struct picture_size size = picture_size_of(session);
    const struct queue_limit rest = queue_limit_less(&limit, decoder_threads(session->stage.decoder)->beside, &size);
    return picture_queue_create(&session->pictures, &rest);
}

/* Returns how many threads are to decode the film. */
static int count_threads(const struct session *session)
{
    const struct playback_setup *const setup = session->setup;
    const struct queue_limit limit = queue_limit_of(&setup->options->queue, memory_available_bytes());
    const struct picture_size size = picture_size_of(session);
    return threads_wish_fit(&setup->options->threads, &setup->threads_place, queue_limit_pictures(&limit, &size));
}

static int open_video(struct session *session)
{
    const struct playback_setup *const setup = session->setup;
    session->threads_max = session->clip.video ? count_threads(session) : 0;
    struct decoder *decoder = NULL;
    const bool may_jump = session->clip.format->iformat->flags & AVFMT_TS_DISCONT;
    const struct decoder_settings settings = {
        .threads = session->threads_max,
        .may_jump = setup->options->queue.kind == QUEUE_NONE,
        .x264_build = session->clip.x264_build,
    };
    char why[WHY_SIZE];
    int ret = session->clip.video ? decoder_open(&decoder, session->clip.video, &settings, why, sizeof why) : 0;
    stage_init(&session->stage, &session->clip, decoder, &setup->options->policy, may_jump);
    if (!session->clip.video)
        return 0;
    if (ret < 0) {
        const bool may_be_threads = settings.threads > 1 && (ret == AVERROR(EAGAIN) || ret == AVERROR(ENOMEM));
        log_error("%s: its pictures are not played: %s%s", setup->path, why, may_be_threads ? "; try --threads=1" : "");
        return session->clip.audio ? 0 : ret;
    }
    ret = open_screen(setup->screen, setup->options->video_kind, setup->path, why, sizeof why);
    if (ret < 0) {
        log_error("cannot show pictures: %s; try --vo=null", why);
        session->no_device = true;
        return ret;
    }
    if (!decoder_has_gate(decoder) && !decoder_withholds(decoder) && setup->options->policy.drop != DROP_NONE) {
        char codec[WHY_SIZE];
        log_note("decodes of %s cannot be aborted in the middle: each is finished, and late pictures are not shown",
                 decoder_description(decoder, codec, sizeof codec));
    }
    session->picture.frame = av_frame_alloc();
    if (!session->picture.frame)
        return -ENOMEM;
    ret = open_queue(session);
    if (ret < 0)
        return ret;
    session_limits_watch(session);
    return open_packet_queue(session, &session->queue, READ_VIDEO);
}

/* Sound is read even if it is not played: its time stamps say which of the pictures' time stamps are wrong. */
static void discard_unplayed(struct session *session)
{
    if (session->clip.video && !session->stage.decoder)
        session->clip.video->discard = AVDISCARD_ALL;
}

/* Reserves the picture's row before it queues the packet, so that the main thread need not allocate. */
static int take_video(void *opaque, AVPacket *packet)
{
    struct session *const session = opaque;
    const int ret = frame_log_reserve(session->log);
    return ret < 0 ? ret : queue_push(session->queue, packet);
}

static void end_video(void *opaque)
{
    const struct session *const session = opaque;
    queue_push_end(session->queue);
}

static void interrupt_video(void *opaque, bool on)
{
    const struct session *const session = opaque;
    if (on)
        queue_cancel(session->queue);
}

static int take_audio(void *opaque, AVPacket *packet)
{
    struct session *const session = opaque;
    const bool stalls = session->queue && queue_has_no_room_for(session->sound_queue, packet);
    if (stalls)
        queue_note_stall(session->queue, true);
    const int ret = queue_push(session->sound_queue, packet);
    if (stalls)
        queue_note_stall(session->queue, false);
    return ret;
}

static void end_audio(void *opaque)
{
    const struct session *const session = opaque;
    queue_push_end(session->sound_queue);
}

static void interrupt_audio(void *opaque, bool on)
{
    const struct session *const session = opaque;
    if (on)
        queue_cancel(session->sound_queue);
}

/* Gives each part what it needs from the others. The parts are open. */
static void wire(struct session *session)
{
    const struct playback_setup *const setup = session->setup;
    session->feeder = (struct feeder){.clip = &session->clip, .ahead = session->ahead, .end_ns = INT64_MAX};
    session->sound_thread = (struct sound_thread){.track = session->audio, .packets = session->sound_queue};
    if (session->queue)
        session->feeder.video = (struct feeder_output){session, take_video, end_video, interrupt_video};
    if (session->audio)
        session->feeder.audio = (struct feeder_output){session, take_audio, end_audio, interrupt_audio};
    session->clock = (struct media_clock){
        .audio = session->audio,
        .queue = session->queue,
        .sound_queue = session->sound_queue,
        .ahead = session->ahead,
        .pictures = session->pictures,
    };
    if (session->stage.decoder)
        stage_connect(&session->stage, &(struct stage_surroundings){
            .packets = session->queue,
            .pictures = session->pictures,
            .presenting_apart = session->pictures && placement_is_reservation(&setup->options->placement),
        });
    session->steering = (struct steering){
        .clock = &session->clock,
        .screen = setup->screen,
        .clip = &session->clip,
        .presented = &session->presenter.presented,
        .signal_seen = setup->signal_seen,
        .has_video = session->stage.decoder,
    };
    session->presenter = (struct presenter){
        .clock = &session->clock,
        .steering = &session->steering,
        .screen = setup->screen,
        .log = session->log,
        .framemd5 = setup->framemd5,
        .ticks = setup->ticks,
        .pictures = session->pictures,
        .can_abandon = session->stage.decoder && decoder_has_gate(session->stage.decoder),
    };
    presenter_init(&session->presenter, &setup->options->policy);
}

int session_open(struct session *session, const struct playback_setup *setup)
{
    *session = (struct session){.setup = setup};
    char why[WHY_SIZE];
    log_mute_ffmpeg(true); /* `why` has FFmpeg's sentence */
    int ret = clip_open(&session->clip, setup->path, setup->signal_seen, why, sizeof why);
    log_mute_ffmpeg(false);
    if (ret < 0) {
        log_error("%s: %s", setup->path, why);
        return ret;
    }
    ret = read_ahead_create(&session->ahead);
    if (ret < 0)
        goto fail;
    ret = open_video(session);
    if (ret < 0)
        goto fail;
    ret = open_audio(session);
    if (ret < 0)
        goto fail;
    note_useless_heuristic(session);
    if (!session->stage.decoder && !session->audio) {
        ret = -ENOTSUP;
        if (session->clip.audio && setup->options->untimed)
            log_error("%s: %s, and --untimed plays no sound", setup->path,
                      session->clip.video ? "only its sound can be played" : "it has no pictures");
        goto fail;
    }
    discard_unplayed(session);
    ret = frame_log_create(&session->log, setup->record_dir != NULL);
    if (ret < 0)
        goto fail;
    wire(session);
    session->started_ns = dlex_now_ns();
    return 0;
fail:
    session_close(session);
    return ret;
}

void session_starve(struct session *session)
{
    const bool waits = queue_lacks_packets(session->queue);
    if (sound_start_without_picture(&session->sound_start, waits, dlex_now_ns()) && session->audio)
        media_clock_start(&session->clock);
    steering_poll(&session->steering);
}

void session_stop_decoding(struct session *session)
{
    if (session->pictures)
        decode_thread_end(*session->setup->decode_thread);
}

void session_close(struct session *session)
{
    session_stop_decoding(session);
    session_stop_reading(session);
    limits_watch_destroy(&session->limits_watch);
    audio_track_destroy(&session->audio);
    stage_finish(&session->stage);
    queue_destroy(&session->queue);
    queue_destroy(&session->sound_queue);
    read_ahead_destroy(&session->ahead);
    picture_queue_destroy(&session->pictures);
    av_frame_free(&session->picture.frame);
    frame_log_destroy(&session->log);
    clip_close(&session->clip);
}
