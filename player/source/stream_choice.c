/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream_choice.h"

#include <libavcodec/avcodec.h>
#include <stdbool.h>

enum { NOT_FOR_EVERYBODY = AV_DISPOSITION_COMMENT | AV_DISPOSITION_LYRICS | AV_DISPOSITION_KARAOKE |
                           AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED |
                           AV_DISPOSITION_CLEAN_EFFECTS | AV_DISPOSITION_TIMED_THUMBNAILS | AV_DISPOSITION_NON_DIEGETIC |
                           AV_DISPOSITION_DESCRIPTIONS | AV_DISPOSITION_DEPENDENT | AV_DISPOSITION_STILL_IMAGE };

static bool has_stream(const AVProgram *program, const AVStream *stream)
{
    for (unsigned i = 0; i < program->nb_stream_indexes; i++)
        if ((int)program->stream_index[i] == stream->index)
            return true;
    return false;
}

/* Returns 2 for a stream of the same program, 1 if one of both is in no program, 0 for a stream of another program. */
static int program_rank(const AVFormatContext *format, const AVStream *stream, const AVStream *beside)
{
    bool is_in_one = false;
    bool beside_is_in_one = false;
    for (unsigned i = 0; beside && i < format->nb_programs; i++) {
        const bool has_it = has_stream(format->programs[i], stream);
        const bool has_beside = has_stream(format->programs[i], beside);
        if (has_it && has_beside)
            return 2;
        is_in_one |= has_it;
        beside_is_in_one |= has_beside;
    }
    return is_in_one && beside_is_in_one ? 0 : 1;
}

static bool was_found(const AVStream *stream)
{
    const AVCodecParameters *const parameters = stream->codecpar;
    const bool is_described = parameters->codec_type == AVMEDIA_TYPE_AUDIO
                                  ? parameters->sample_rate > 0 && parameters->ch_layout.nb_channels > 0
                                  : parameters->width > 0 && parameters->height > 0;
    return is_described && stream->start_time != AV_NOPTS_VALUE;
}

/* Returns the properties 1 to 5 as one number: an earlier property outweighs all later ones. */
static int rank_of(const AVFormatContext *format, const AVStream *stream, const AVStream *beside)
{
    return program_rank(format, stream, beside) << 4 |
           (avcodec_find_decoder(stream->codecpar->codec_id) ? 1 << 3 : 0) |
           (stream->disposition & AV_DISPOSITION_DEFAULT ? 1 << 2 : 0) |
           (stream->disposition & NOT_FOR_EVERYBODY ? 0 : 1 << 1) |
           (was_found(stream) ? 1 : 0);
}

AVStream *stream_choose(const AVFormatContext *format, enum AVMediaType type, const AVStream *beside)
{
    AVStream *best = NULL;
    int best_rank = -1;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        AVStream *const stream = format->streams[i];
        if (stream->codecpar->codec_type != type || (stream->disposition & AV_DISPOSITION_ATTACHED_PIC))
            continue;
        const int rank = rank_of(format, stream, beside);
        if (rank > best_rank) {
            best_rank = rank;
            best = stream;
        }
    }
    return best;
}
