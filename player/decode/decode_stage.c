/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decode_stage.h"

#include "ns.h"

#include <dlex/dlex.h>
#include <libavutil/avutil.h>

/* Draining ends after this many errors, because a decoder may fail again and again when it is drained. */
enum { DRAIN_ERRORS_MAX = 64 };

void stage_init(struct decode_stage *stage, const struct clip *clip, struct decoder *decoder,
                const struct policy_settings *settings, bool may_jump)
{
    *stage = (struct decode_stage){.clip = clip, .decoder = decoder, .feed.may_jump = may_jump};
    decode_policy_init(&stage->policy, settings);
    if (decoder) {
        decode_policy_set_threads(&stage->policy, decoder_threads(decoder)->count);
        stage->look.decoder.beside = decoder_threads(decoder)->beside;
    }
    stage->leading_ns = INT64_MIN;
    for (int i = 0; i < STAGE_JOBS; i++)
        stage->known[i].number = JOB_UNKNOWN;
}

void stage_connect(struct decode_stage *stage, const struct stage_surroundings *around)
{
    stage->look.packets = around->packets;
    stage->look.pictures = around->pictures;
    stage->presenting_apart = around->presenting_apart;
}

void stage_finish(struct decode_stage *stage)
{
    decoder_close(&stage->decoder);
}

void stage_restart(struct decode_stage *stage, const struct part *part, int64_t first_ns)
{
    const bool is_first = stage->feed.segment == 0;
    if (stage->decoder && !is_first)
        decoder_flush(stage->decoder);
    feed_pace_restart(&stage->feed, part);
    show_pace_restart(&stage->show, part, stage->feed.segment, first_ns);
    decode_policy_restart(&stage->policy);
    look_ahead_restart(&stage->look);
    loss_history_clear(&stage->look.past);
    drift_restart(&stage->drift);
    picture_stamps_clear(&stage->stamps);
    stage->passing_over = stage->wants_drain = stage->awaits_picture = false;
    stage->leading_ns = INT64_MIN;
    stage->drain_errors = 0;
}

static struct packet_times times_of(const struct decode_stage *stage, const AVPacket *packet)
{
    const AVStream *const video = stage->clip->video;
    return (struct packet_times){
        .dts_ns = clip_pts_ns(video, packet->dts),
        .pts_ns = clip_pts_ns(video, packet->pts),
        .duration_ns = packet->duration > 0 ? clip_pts_ns(video, packet->duration) : 0,
        .key = packet->flags & AV_PKT_FLAG_KEY,
        .discarded = packet->flags & AV_PKT_FLAG_DISCARD,
    };
}

/* A PTS that only repeats the DTS (picture_stamps.c) does not say that the picture is shown before the part. */
static struct packet_place place_of(struct decode_stage *stage, const AVPacket *packet, struct packet_times times)
{
    if (!stage->stamps.has_pts && packet->pts == packet->dts && stage->clip->video->codecpar->video_delay)
        times.pts_ns = NS_UNKNOWN;
    return feed_pace_packet(&stage->feed, &times);
}

/*
 * What rule plan sees; NULL for other rules, and until the first picture has come out: the clock may stand as long, and a decoder
 * that holds back many pictures would seem to be late.
 */
static const struct outlook *outlook_of(struct decode_stage *stage, const AVPacket *packet, enum picture_class picture_class,
                                        int64_t media_ns, bool untimed)
{
    const struct policy_settings *const settings = &stage->policy.settings;
    if (settings->drop != DROP_DEADLINE || settings->rule != RULE_PLAN || untimed ||
        stage->show.next_ns == NS_UNKNOWN)
        return NULL;
    return look_ahead_from(&stage->look, packet, picture_class, media_ns, stage->feed.part.frame_duration,
                           decoder_delay(stage->decoder));
}

/*
 * Returns whether the presenter has not yet reached the last jump back of the time stamps. By its clock every picture behind the
 * jump would be late by the size of the jump.
 */
static bool is_clock_before_jump_back(const struct decode_stage *stage, const struct stage_clock *clock)
{
    return stage->feed.back_segment > clock->segment;
}

static struct decode_order order_of(struct decode_stage *stage, const AVPacket *packet, const struct packet_facts *facts,
                                    const struct stage_clock *clock)
{
    if (facts->unwanted)
        return (struct decode_order){.give_up = true, .deadline_ns = NO_DEADLINE};
    const int beside = decoder_threads(stage->decoder)->beside;
    const int64_t due_ns = show_pace_first_waiting_ns(&stage->show, facts->segment, facts->pts_ns, beside);
    if (due_ns == NS_UNKNOWN || is_clock_before_jump_back(stage, clock))
        return (struct decode_order){.deadline_ns = NO_DEADLINE};
    const int64_t now_ns = dlex_now_ns();
    const struct decode_view view = {
        .now_ns = now_ns,
        .skew_ns = sync_skew_ns(&clock->sync, due_ns, now_ns),
        .frame_duration = stage->feed.part.frame_duration,
        .sound_plays = clock->sound_plays,
        .until_due_ns = -sync_skew_ns(&clock->sync, facts->pts_ns == NS_UNKNOWN ? due_ns : facts->pts_ns, now_ns),
        .presenting_ns = clock->presenting_ns,
        .presenting_cpu_ns = stage->presenting_apart ? 0 : clock->presenting_cpu_ns,
        .outlook = outlook_of(stage, packet, facts->picture_class, sync_media_ns(&clock->sync, now_ns),
                              clock->sync.untimed),
        .may_skip = !stage->awaits_picture,
        .can_degrade = decoder_can_degrade(stage->decoder),
    };
    return decode_policy_decide(&stage->policy, &view);
}

static void remember(struct decode_stage *stage, int64_t number, const struct packet_facts *packet)
{
    stage->known[number % STAGE_JOBS] = (struct stage_job){
        .number = number,
        .segment = packet->segment,
        .picture_class = packet->picture_class,
        .size_bytes = packet->size_bytes,
        .degraded = packet->degraded == DEGRADED_ITSELF,
    };
}

static enum decode_end end_by(enum verdict verdict)
{
    return verdict == VERDICT_NONE ? DECODE_WHOLE : verdict == VERDICT_SKIPPED ? DECODE_REFUSED : DECODE_ABANDONED;
}

static enum decode_end end_of(enum picture_class picture_class, const struct decode_outcome *outcome)
{
    if (picture_class == CLASS_DROPPABLE && outcome->gate.number != outcome->number)
        return DECODE_UNKNOWN; /* the second field of a picture */
    return outcome->gate.number != outcome->number ? DECODE_WHOLE : end_by(outcome->gate.verdict);
}

/* Returns the CPU time that presenting has used so far out of the decoder's supply. */
static int64_t presenting_all_ns(const struct decode_stage *stage, const struct stage_clock *clock)
{
    return stage->presenting_apart ? 0 : clock->presenting_all_cpu_ns;
}

/* What the decode of one picture took, among others that were decoded at the same time. */
static void learn_one_of_several(struct decode_stage *stage, const struct stage_job *job, enum verdict verdict, int64_t cpu_ns)
{
    const struct decode_use use = {
        .picture_class = job->picture_class,
        .size_bytes = job->size_bytes,
        .end = end_by(verdict),
        .cpu_ns = cpu_ns,
        .wall_ns = cpu_ns, /* at least; nobody sees when its thread ends */
        .overlapped = true,
        .degraded = job->degraded,
    };
    decode_policy_learn(&stage->policy, &use, stage->feed.part.frame_duration);
}

/*
 * Codec threads still decode it: only what all of them received is known. Threads that are not FFmpeg's cannot be seen to
 * change from one picture to the next. There, what was used from one packet to the next stands for what the first one costs.
 * While the decode thread waits for the quota, codec threads go on with what they have.
 */
static void learn_pending(struct decode_stage *stage, const struct decode_outcome *outcome, int64_t presenting_ns,
                          const struct queue_saving *saving)
{
    const int64_t saving_cpu_ns = saving->wall_ns > 0 ? outcome->between_ns + saving->presenting_cpu_ns : 0;
    decode_policy_learn_supply(&stage->policy, outcome->wall_ns + saving->wall_ns,
                               outcome->received_ns + presenting_ns + saving_cpu_ns);
    const struct stage_job *const last = &stage->known[(outcome->number + STAGE_JOBS - 1) % STAGE_JOBS];
    const bool follows = last->number == outcome->number - 1 && outcome->since_last_ns != NS_UNKNOWN;
    if (decoder_threads(stage->decoder)->kind == CODEC_THREADS_OWN && follows && !last->was_refused)
        learn_one_of_several(stage, last, VERDICT_NONE, outcome->since_last_ns);
}

static void learn(struct decode_stage *stage, const struct packet_facts *packet, const struct decode_outcome *outcome,
                  const struct stage_clock *before)
{
    struct picture_queue *const pictures = stage->look.pictures;
    const struct stage_clock after = pictures ? picture_queue_clock(pictures) : *before;
    const int64_t presenting_ns = presenting_all_ns(stage, &after) - presenting_all_ns(stage, before);
    /* Time in which decoding was wanted, and the quota did not allow it. */
    const struct queue_saving saving = pictures ? picture_queue_take_saving(pictures) : (struct queue_saving){0};
    if (outcome->error < 0)
        return;
    if (outcome->is_pending) {
        learn_pending(stage, outcome, presenting_ns, &saving);
        return;
    }
    const struct decode_use use = {
        .picture_class = packet->picture_class,
        .size_bytes = packet->size_bytes,
        .end = end_of(packet->picture_class, outcome),
        .cpu_ns = outcome->cpu_ns,
        .wall_ns = outcome->wall_ns,
        .presenting_ns = presenting_ns + (stage->presenting_apart ? 0 : saving.presenting_cpu_ns),
        .saved_ns = saving.wall_ns,
        .degraded = packet->degraded == DEGRADED_ITSELF,
    };
    decode_policy_learn(&stage->policy, &use, stage->feed.part.frame_duration);
}

static enum picture_class class_of(struct decode_stage *stage, const AVPacket *packet, int64_t pts_ns)
{
    const int64_t before_ns = stage->last_pts_ns;
    stage->last_pts_ns = pts_ns;
    const struct packet_glance glance = {
        .pts_ns = pts_ns,
        .key = packet_begins_whole(packet),
        .droppable = packet->flags & AV_PKT_FLAG_DISPOSABLE,
    };
    return look_ahead_class(&glance, before_ns);
}

/* Returns whether the picture is shown before a key picture at which decoding began, and refers to pictures before that. */
static bool is_leading(struct decode_stage *stage, const struct packet_facts *packet)
{
    if (packet->pts_ns == NS_UNKNOWN || packet->pts_ns >= stage->leading_ns || packet->picture_class == CLASS_KEY ||
        packet->segment != stage->leading_segment)
        stage->leading_ns = INT64_MIN;
    return stage->leading_ns != INT64_MIN;
}

/*
 * Returns whether nobody needs the picture: it is not shown, and no other refers to it. These two decoders keep nothing else of such a
 * packet. In a codec thread it would be refused, but it would take the place of one that must be decoded before the target of a seek.
 * In formats whose time stamps may jump, some are missing as well, and then the next picture's place follows from this one.
 */
static bool is_needless(const struct decode_stage *stage, const struct packet_facts *packet)
{
    const enum AVCodecID codec = stage->clip->video->codecpar->codec_id;
    const bool keeps_nothing = codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC;
    return packet->unwanted && packet->picture_class == CLASS_DROPPABLE && keeps_nothing && !stage->feed.may_jump;
}

/* Decoding begins again with a key picture. Nothing before it will come out. */
static void end_skip(struct decode_stage *stage, const struct packet_facts *packet)
{
    stage->passing_over = stage->wants_drain = false;
    decoder_flush(stage->decoder);
    picture_stamps_clear(&stage->stamps);
    look_ahead_restart(&stage->look);
    stage->leading_ns = packet->pts_ns;
    stage->leading_segment = packet->segment;
    stage->awaits_picture = true;
    stage->drain_errors = 0;
    decode_policy_end_skip(&stage->policy);
    if (packet->pts_ns != NS_UNKNOWN)
        stage->show.next_ns = packet->unwanted ? NS_UNKNOWN : packet->pts_ns;
}

/* Returns whether the packet is passed over, and prepares the decoder for the change from one to the other. */
static bool passes_over(struct decode_stage *stage, const struct packet_facts *packet, const struct decode_order *order)
{
    const bool goes_on = stage->passing_over && packet->picture_class != CLASS_KEY;
    if (goes_on || order->pass_over) {
        stage->wants_drain |= !stage->passing_over;
        stage->passing_over = true;
        return true;
    }
    if (stage->passing_over)
        end_skip(stage, packet);
    return false;
}

static struct decode_outcome passed_over(int64_t number)
{
    return (struct decode_outcome){
        .number = number,
        .start_ns = NS_UNKNOWN,
        .end_ns = NS_UNKNOWN,
        .cpu_ns = NS_UNKNOWN,
        .deadline_ns = NO_DEADLINE,
        .fired_ns = NS_UNKNOWN,
        .gate = {.number = JOB_UNKNOWN, .verdict = VERDICT_NONE},
    };
}

static bool is_to_be_refused(const struct decode_job *job, const struct packet_facts *packet)
{
    return packet->picture_class == CLASS_DROPPABLE && (job->order.refuse || job->order.give_up);
}

/* Returns how the packet's picture differs from that of the file, if it is not given up. */
static enum degraded degraded_by(struct decode_stage *stage, const struct decode_job *job, const struct packet_facts *packet)
{
    const bool drifts = drift_add(&stage->drift, packet->picture_class, packet->pts_ns, job->order.degrade);
    return job->order.degrade ? DEGRADED_ITSELF : drifts ? DEGRADED_BY_OTHERS : DEGRADED_NOT;
}

/* Returns how the decode of the packet's picture ends, as far as that is known. */
static enum decode_end end_so_far(const struct decode_job *job, const struct packet_facts *packet,
                                  const struct decode_outcome *outcome)
{
    if (!outcome->is_pending)
        return end_of(packet->picture_class, outcome);
    return is_to_be_refused(job, packet) || outcome->is_withheld ? DECODE_REFUSED : DECODE_WHOLE;
}

static void note_packet(struct decode_stage *stage, int64_t number, const struct packet_facts *packet, enum decode_end end)
{
    look_ahead_note_packet(&stage->look, packet->pts_ns, !packet->unwanted && end == DECODE_WHOLE);
    if (!packet->unwanted && end != DECODE_UNKNOWN)
        look_ahead_note_fate(&stage->look, number, packet->pts_ns, end != DECODE_WHOLE);
}

static void run(struct decode_stage *stage, const struct decode_job *job, const struct stage_clock *clock, struct job_note *note)
{
    struct packet_facts *const packet = &note->packet;
    packet->degraded = degraded_by(stage, job, packet);
    remember(stage, job->number, packet);
    picture_stamps_add(&stage->stamps, stage->clip->video, job->packet);
    decoder_run(stage->decoder, job, &note->outcome);
    stage->known[job->number % STAGE_JOBS].was_refused = is_to_be_refused(job, packet) || note->outcome.is_withheld;
    learn(stage, packet, &note->outcome, clock);
    if (!(job->packet->flags & AV_PKT_FLAG_DISCARD)) /* libavcodec gives out no picture of it */
        note_packet(stage, job->number, packet, end_so_far(job, packet, &note->outcome));
}

static void pass_over(struct decode_stage *stage, int64_t number, struct job_note *note)
{
    note->outcome = passed_over(number);
    if (!note->packet.unwanted)
        look_ahead_note_fate(&stage->look, number, note->packet.pts_ns, true);
}

bool stage_decode(struct decode_stage *stage, AVPacket *packet, const struct stage_clock *clock, struct job_note *note)
{
    const struct packet_times times = times_of(stage, packet);
    const struct packet_place place = place_of(stage, packet, times);
    if (place.undecodable)
        return false;
    struct packet_facts *const facts = &note->packet;
    *facts = (struct packet_facts){
        .segment = place.segment,
        .pts_ns = times.pts_ns,
        .size_bytes = packet->size,
        .picture_class = class_of(stage, packet, times.pts_ns),
        .unwanted = place.unwanted,
    };
    struct decode_job job = {.packet = packet, .number = stage->jobs++, .order.deadline_ns = NO_DEADLINE};
    look_ahead_note_late(&stage->look, &clock->late);
    facts->passed_over = is_leading(stage, facts) || is_needless(stage, facts);
    if (!facts->passed_over) {
        job.order = order_of(stage, packet, facts, clock);
        facts->passed_over = passes_over(stage, facts, &job.order);
    }
    facts->given_up = job.order.give_up;
    facts->is_starting = decode_policy_is_starting(&stage->policy);
    if (facts->passed_over)
        pass_over(stage, job.number, note);
    else
        run(stage, &job, clock, note);
    return true;
}

bool stage_wants_drain(const struct decode_stage *stage)
{
    return stage->wants_drain;
}

void stage_stall(struct decode_stage *stage)
{
    stage->wants_drain |= !stage->passing_over;
    stage->passing_over = true;
}

bool stage_drain(struct decode_stage *stage)
{
    const struct decode_job job = {.order = {.deadline_ns = NO_DEADLINE}};
    struct decode_outcome outcome;
    const int ret = decoder_run(stage->decoder, &job, &outcome);
    if (ret < 0 && ret != AVERROR_EOF)
        stage->drain_errors++;
    const bool goes_on = ret != AVERROR_EOF && stage->drain_errors < DRAIN_ERRORS_MAX;
    stage->wants_drain &= goes_on;
    return goes_on;
}

/*
 * Says of a picture whether it is the first of its packet. A picture whose packet the decoder does not know, or whose
 * packet is from before a seek, belongs to the segment that comes out now.
 */
static void find_packet(struct decode_stage *stage, struct decoded_picture *picture)
{
    struct stage_job *const job = &stage->known[picture->number < 0 ? 0 : picture->number % STAGE_JOBS];
    const bool known = picture->number >= 0 && job->number == picture->number;
    picture->is_first = known && !job->out && job->segment >= stage->show.segment;
    picture->segment = picture->is_first ? job->segment : stage->show.segment;
    if (picture->is_first)
        job->out = true;
}

/* If nobody measured the refusal of a picture, it counts, and what a refusal costs stays as it was learnt. */
static void learn_picture(struct decode_stage *stage, const struct decoded_picture *picture)
{
    const struct picture_decode *const decode = &picture->decode;
    const bool is_measured = decode->cpu_ns != NS_UNKNOWN;
    if (!picture->is_first || !decode->is_known || (!is_measured && decode->verdict != VERDICT_SKIPPED))
        return;
    const int64_t cpu_ns = is_measured ? decode->cpu_ns : (int64_t)stage->policy.learnt.refusing_ns;
    learn_one_of_several(stage, &stage->known[picture->number % STAGE_JOBS], decode->verdict, cpu_ns);
}

static int64_t duration_ns(const struct decode_stage *stage, const AVFrame *frame)
{
    const int64_t own_ns = frame->duration > 0 ? clip_pts_ns(stage->clip->video, frame->duration) : 0;
    return own_ns > 0 ? own_ns : 0;
}

bool stage_take(struct decode_stage *stage, struct decoded_picture *picture)
{
    AVFrame *const frame = picture->frame;
    struct taken_picture taken;
    if (!decoder_take(stage->decoder, frame, &taken))
        return false;
    clip_shape_apply(&stage->clip->shape, frame);
    picture->number = taken.number;
    picture->decode = taken.decode;
    stage->awaits_picture = false;
    find_packet(stage, picture);
    learn_picture(stage, picture);
    const int64_t pts_ns = picture_stamps_take(&stage->stamps, stage->clip->video, frame, decoder_delay(stage->decoder));
    picture->place = show_pace_picture(&stage->show, picture->segment, pts_ns, duration_ns(stage, frame));
    picture->due_ns = show_pace_due_ns(&stage->show, picture->place.pts_ns);
    picture->next_ns = stage->show.next_ns;
    if (pts_ns != NS_UNKNOWN)
        look_ahead_note_picture(&stage->look, pts_ns);
    if (frame->flags & AV_FRAME_FLAG_ABANDONED)
        look_ahead_note_loss(&stage->look, picture->number);
    picture->droppable = frame->flags & AV_FRAME_FLAG_DROPPABLE;
    picture->abandoned = frame->flags & AV_FRAME_FLAG_ABANDONED;
    picture->interlaced = frame->flags & AV_FRAME_FLAG_INTERLACED;
    picture->type = av_get_picture_type_char(frame->pict_type);
    return true;
}
