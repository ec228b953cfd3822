/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_seek.h"

#include "clip_read.h"
#include "droppable.h"
#include "ns.h"

/*
 * Where a demuxer cannot name the key packet before a place, the place is moved back by this much, then by twice that, and so on.
 * The second constant is the limit.
 */
static const int64_t SEEK_BACK_NS = 3 * NS_PER_S;
static const int64_t SEEK_BACK_MAX_NS = 768 * NS_PER_S;
/* Goes back from key packet to key packet. Pictures are not shown further behind their decoding than by so many key pictures. */
enum { KEY_STEPS_MAX = 16 };
/*
 * x264 says that pictures are exact after one intra refresh. In fact, some differ until the next one is over, in about one of ten
 * (B pictures, 48 to 352 samples wide).
 */
enum { REFRESHES = 2 };
/* Further before the start than the first packet's DTS, in every file. */
static const int64_t BEFORE_START_NS = 3600 * NS_PER_S;

/* What the packets behind a place say about a decoder that begins there. */
struct landing {
    struct droppable droppable;
    int64_t target_ns;
    bool begun;      /* decoding begins: a key packet came that is shown in time, or that is cut */
    bool shown;      /* since then a picture came that is shown in time */
    bool refreshing; /* the last key packet begins an intra refresh */
    int refreshes;   /* how many are over */
    int waits;       /* reference pictures that are to come until the refresh is over, or the key picture is shown */
    bool wants_pts;  /* the key packet has no PTS, and the film has others: pictures before the next PTS are of unknown time */
    bool whole;      /* pictures are whole from here on, and their times are known */
    bool passed;     /* a packet came whose picture is shown after the target */
    int64_t key_dts; /* of the first key packet, in the stream's unit; AV_NOPTS_VALUE: none came */
};

/* Times in this file are the file's time, in ns since the clip's origin. */
static int64_t stream_time(const struct clip *clip, const AVStream *stream, int64_t time_ns)
{
    const int64_t since = av_rescale_q_rnd(time_ns, (AVRational){1, NS_PER_S}, stream->time_base, AV_ROUND_DOWN);
    return since + clip_origin(clip, stream);
}

/* Without a PTS, the picture is shown at the DTS at the earliest. */
static int64_t shown_ns(const struct clip *clip, const AVPacket *packet)
{
    return clip_file_ns(clip, clip->video, packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts);
}

/* Decoding may begin with this key packet. */
static void begin(struct landing *landing, const struct clip *clip, const AVPacket *packet)
{
    landing->begun = true;
    landing->refreshing = landing->droppable.gradual > 0;
    landing->waits = landing->droppable.gradual;
    /* In program streams and transport streams, the PTS of some pictures are missing. AVI and others have none. */
    landing->wants_pts = packet->pts == AV_NOPTS_VALUE && (clip->format->iformat->flags & AVFMT_TS_DISCONT);
    if (packet->pts == AV_NOPTS_VALUE && packet->dts != AV_NOPTS_VALUE)
        landing->waits += clip->video->codecpar->video_delay; /* then the picture comes out, at the DTS of that packet */
    landing->whole = landing->waits == 0 && !landing->wants_pts;
}

/* A reference picture behind the place was read. */
static void go_on(struct landing *landing, const AVPacket *packet)
{
    if (landing->waits == 0 && !landing->wants_pts)
        return;
    landing->wants_pts = landing->wants_pts && packet->pts == AV_NOPTS_VALUE;
    if (landing->waits > 0 && --landing->waits == 0 && landing->refreshing)
        landing->refreshes++;
    const bool is_whole = !landing->refreshing || landing->refreshes == REFRESHES;
    landing->whole = landing->waits == 0 && is_whole && !landing->wants_pts;
}

static bool is_late(const struct landing *landing, int64_t time_ns)
{
    return time_ns != AV_NOPTS_VALUE && time_ns > landing->target_ns + CLIP_ROUNDING_NS;
}

/*
 * Behind cut pictures, the first ones that are shown may refer to later ones. Returns whether a picture may follow that is shown before
 * this one, and in time.
 */
static bool may_be_earlier(const struct landing *landing, const struct clip *clip, const AVPacket *packet)
{
    const int64_t dts_ns = clip_file_ns(clip, clip->video, packet->dts);
    return landing->begun && !landing->shown && dts_ns != AV_NOPTS_VALUE && !is_late(landing, dts_ns);
}

/*
 * The time of a cut picture says where it would be shown, so it shows only whether it is decoded for a picture that is shown in time. What an
 * edit shows follows its cut pictures, and later edits follow that: so everything from the target on follows, if the first picture that
 * is shown is in time.
 */
static void look_at_picture(struct landing *landing, const struct clip *clip, const AVPacket *packet)
{
    const bool droppable = droppable_packet(&landing->droppable, packet);
    const bool key = packet->flags & AV_PKT_FLAG_KEY;
    const int64_t time_ns = shown_ns(clip, packet);
    const bool cut = packet->flags & AV_PKT_FLAG_DISCARD;
    const bool late = is_late(landing, time_ns);
    landing->passed = late && !cut && !may_be_earlier(landing, clip, packet);
    if (key && landing->key_dts == AV_NOPTS_VALUE)
        landing->key_dts = packet->dts;
    if (late || (time_ns == AV_NOPTS_VALUE && !landing->begun))
        return; /* pictures without a time stamp follow on from others */
    if (key && (landing->waits == 0 || !landing->droppable.gradual))
        begin(landing, clip, packet);
    else if (!droppable)
        go_on(landing, packet);
    landing->shown |= landing->begun && !cut;
}

/* Packets of pictures before the first key packet are of no use. */
static int look_at_packet(struct landing *landing, struct clip *clip, AVPacket *packet)
{
    const bool is_picture = packet->stream_index == clip->video->index;
    if (is_picture)
        look_at_picture(landing, clip, packet);
    if (!is_picture || landing->begun)
        return clip_put_back(clip, packet);
    av_packet_unref(packet);
    return 0;
}

static bool is_usable(const struct landing *landing)
{
    return landing->whole && landing->shown;
}

/* Reads on until it is known whether the place is usable. If it is, keeps the packets that were read. */
static int look_around(struct landing *landing, struct clip *clip)
{
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? 0 : AVERROR(ENOMEM);
    while (ret >= 0 && !is_usable(landing) && !landing->passed && clip_read_frame(clip, packet) >= 0)
        ret = look_at_packet(landing, clip, packet);
    av_packet_free(&packet);
    if (!is_usable(landing) || ret < 0)
        clip_forget_read(clip);
    return ret;
}

static int move(struct clip *clip, const AVStream *stream, int64_t time)
{
    clip_forget_read(clip);
    return av_seek_frame(clip->format, stream->index, time, AVSEEK_FLAG_BACKWARD);
}

/* Goes to a place in the stream's unit and looks around. */
static int try_place(struct landing *landing, struct clip *clip, int64_t place, int64_t target_ns)
{
    *landing = (struct landing){.target_ns = target_ns, .key_dts = AV_NOPTS_VALUE};
    droppable_init(&landing->droppable, clip->video->codecpar);
    const int ret = move(clip, clip->video, place);
    return ret < 0 ? ret : look_around(landing, clip);
}

/*
 * Goes to the first packet of the file, which may be decoded long before the first picture is shown. Some demuxers refuse a place
 * before their first index entry, some know no index.
 */
static int go_to_first_packet(struct clip *clip)
{
    AVStream *const stream = clip->video;
    const AVIndexEntry *const entry = avformat_index_get_entry(stream, 0);
    const int64_t start_ns = time_stamps_file_ns(&clip->stamps, clip_start_ns(clip));
    const int64_t before = stream_time(clip, stream, start_ns - BEFORE_START_NS);
    const int64_t places[] = {before, entry ? entry->timestamp : before, stream_time(clip, stream, start_ns)};
    int ret = AVERROR(EINVAL);
    for (size_t i = 0; i < sizeof places / sizeof *places && ret < 0; i++)
        ret = move(clip, stream, places[i]);
    return ret < 0 ? av_seek_frame(clip->format, -1, 0, AVSEEK_FLAG_BYTE) : ret;
}

static int seek_pictures(struct clip *clip, int64_t target_ns)
{
    const AVStream *const stream = clip->video;
    const int64_t target = stream_time(clip, stream, target_ns + CLIP_ROUNDING_NS);
    const int64_t start_ns = time_stamps_file_ns(&clip->stamps, clip_start_ns(clip));
    int64_t place = target;
    int64_t back_ns = 0;
    int key_steps = 0;
    while (target_ns - back_ns > start_ns && back_ns <= SEEK_BACK_MAX_NS) {
        struct landing landing;
        const int ret = try_place(&landing, clip, place, target_ns);
        if (is_usable(&landing) || ret == AVERROR(ENOMEM))
            return ret;
        if (landing.key_dts != AV_NOPTS_VALUE && landing.key_dts <= place && key_steps++ < KEY_STEPS_MAX) {
            place = landing.key_dts - 1;
            continue;
        }
        back_ns = back_ns ? 2 * back_ns : SEEK_BACK_NS;
        const int64_t back = stream_time(clip, stream, target_ns - back_ns);
        place = back < place ? back : place - 1;
    }
    return target_ns - back_ns > start_ns ? move(clip, stream, target) : go_to_first_packet(clip);
}

static int seek_sound(struct clip *clip, int64_t target_ns)
{
    clip_forget_read(clip);
    return av_seek_frame(clip->format, -1, target_ns / NS_PER_US + clip->origin_us, AVSEEK_FLAG_BACKWARD);
}

int clip_seek(struct clip *clip, int64_t target_ns)
{
    const bool has_pictures = clip->video && clip->video->discard < AVDISCARD_ALL;
    const int64_t file_ns = time_stamps_file_ns(&clip->stamps, target_ns);
    const int ret = has_pictures ? seek_pictures(clip, file_ns) : seek_sound(clip, file_ns);
    if (ret >= 0)
        clip_begin_at(clip, target_ns);
    return ret;
}
