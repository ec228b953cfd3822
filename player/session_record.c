/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session_record.h"

#include "log.h"
#include "ns.h"
#include "run_record.h"
#include "thread_cpu.h"

#include <dlex/dlex.h>
#include <string.h>

enum { CODEC_SIZE = 256 };

static struct run_settings run_settings_of(const struct options *options, char threads[THREADS_WISH_TEXT_SIZE])
{
    return (struct run_settings){
        .drop = drop_policy_name(options->policy.drop),
        .deadline_rule = deadline_rule_name(options->policy.rule),
        .deadline_base_ns = options->policy.base_ns,
        .deadline_gain = options->policy.gain,
        .strict = options->policy.strict,
        .skip_to_key = options->policy.never_skips_to_key ? "never" : "auto",
        .window = options->policy.window,
        .degrade = options->policy.degrades ? "auto" : "never",
        .threads = threads_wish_text(&options->threads, threads),
        .audio_kind = options->audio_kind,
        .video_kind = options->video_kind,
        .start_ns = options->start_ns,
        .length_ns = options->length_ns,
        .untimed = options->untimed,
        .placement = &options->placement,
    };
}

static struct decoding_facts decoding_facts_of(const struct session *session)
{
    struct decoding_facts facts = {.threads_max = session->threads_max};
    if (!session->stage.decoder)
        return facts;
    const struct codec_threads *const threads = decoder_threads(session->stage.decoder);
    facts.threads = threads->count;
    facts.kind = codec_thread_kind_name(threads->kind);
    return facts;
}

static struct queue_facts queue_facts_of(const struct session *session, char asked[QUEUE_WISH_TEXT_SIZE])
{
    struct queue_facts facts = {.asked = queue_wish_text(&session->setup->options->queue, asked)};
    if (!session->pictures)
        return facts;
    const struct queue_use use = picture_queue_use(session->pictures);
    facts.is_used = true;
    facts.pictures_mean = use.pictures_mean;
    facts.pictures_max = use.pictures_max;
    facts.bytes_max = use.bytes_max;
    return facts;
}

int session_write_record(struct session *session, const char *ended)
{
    const struct playback_setup *const setup = session->setup;
    session_stop_decoding(session);
    if (!setup->record_dir)
        return 0;
    placement_note_again(&setup->options->placement, &session->placement);
    char codec[CODEC_SIZE];
    char asked[QUEUE_WISH_TEXT_SIZE];
    char threads[THREADS_WISH_TEXT_SIZE];
    const struct run_settings settings = run_settings_of(setup->options, threads);
    const struct run_facts facts = {
        .settings = &settings,
        .media_path = setup->path,
        .clip = &session->clip,
        .decoder = session->stage.decoder ? decoder_description(session->stage.decoder, codec, sizeof codec) : NULL,
        .has_gate = session->stage.decoder && decoder_has_gate(session->stage.decoder),
        .audio_sink = session->audio ? audio_sink_kind(audio_track_sink(session->audio)) : NULL,
        .video_sink = session->stage.decoder ? video_sink_kind(*setup->screen) : NULL,
        .clock = session->audio ? "audio" : "monotonic",
        .ended = ended,
        .started_ns = session->started_ns,
        .ended_ns = dlex_now_ns(),
        .process_cpu_ns = program_cpu_ns(),
        .held_cpu_ns = thread_role_cpu_ns(PLACEMENT_ROLES),
        .placement = &session->placement,
        .decoding = decoding_facts_of(session),
        .queue = queue_facts_of(session, asked),
        .limits = &session->limits,
    };
    placement_leave(&setup->options->placement);
    const int ret = run_record_write(setup->record_dir, &facts, session->log);
    if (ret < 0)
        log_error("the record could not be written to %s: %s; nothing was left there", setup->record_dir,
                  strerror(-ret));
    return ret;
}
