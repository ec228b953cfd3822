/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "coded_stream.h"

#include <libavformat/avformat.h>

int stream_append(struct coded_stream *stream, const AVPacket *packet)
{
    const size_t count = stream->packet_count;
    AVPacket **packets = av_realloc_array(stream->packets, count + 1, sizeof(*packets));
    if (!packets)
        return AVERROR(ENOMEM);
    stream->packets = packets;
    packets[count] = av_packet_clone(packet);
    if (!packets[count])
        return AVERROR(ENOMEM);
    stream->packet_count++;
    return 0;
}

static int read_packets(struct coded_stream *stream, AVFormatContext *file, int index,
                        size_t most_packets)
{
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        return AVERROR(ENOMEM);
    int ret = 0;
    while (stream->packet_count < most_packets && (ret = av_read_frame(file, packet)) >= 0) {
        if (packet->stream_index == index)
            ret = stream_append(stream, packet);
        av_packet_unref(packet);
        if (ret < 0)
            break;
    }
    av_packet_free(&packet);
    return ret == AVERROR_EOF ? 0 : ret;
}

int stream_load(struct coded_stream *stream, const char *path, size_t most_packets)
{
    *stream = (struct coded_stream){0};
    AVFormatContext *file = NULL;
    int ret = avformat_open_input(&file, path, NULL, NULL);
    if (ret < 0)
        return ret;
    ret = avformat_find_stream_info(file, NULL);
    if (ret < 0)
        goto out;
    const int index = ret = av_find_best_stream(file, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (ret < 0)
        goto out;
    stream->parameters = avcodec_parameters_alloc();
    if (!stream->parameters) {
        ret = AVERROR(ENOMEM);
        goto out;
    }
    ret = avcodec_parameters_copy(stream->parameters, file->streams[index]->codecpar);
    if (ret >= 0)
        ret = read_packets(stream, file, index, most_packets);
out:
    avformat_close_input(&file);
    if (ret < 0)
        stream_finish(stream);
    return ret < 0 ? ret : 0;
}

void stream_finish(struct coded_stream *stream)
{
    for (size_t i = 0; i < stream->packet_count; i++)
        av_packet_free(&stream->packets[i]);
    av_freep(&stream->packets);
    avcodec_parameters_free(&stream->parameters);
    stream->packet_count = 0;
}

int stream_open_decoder(AVCodecContext **out, const struct coded_stream *stream,
                        void (*prepare)(AVCodecContext *avctx, void *opaque), void *opaque)
{
    const AVCodec *codec = avcodec_find_decoder(stream->parameters->codec_id);
    AVCodecContext *avctx = *out = avcodec_alloc_context3(codec);
    if (!codec || !avctx)
        return codec ? AVERROR(ENOMEM) : AVERROR_DECODER_NOT_FOUND;
    const int ret = avcodec_parameters_to_context(avctx, stream->parameters);
    if (ret < 0)
        return ret;
    avctx->thread_count = 1;
    if (prepare)
        prepare(avctx, opaque);
    return avcodec_open2(avctx, codec, NULL);
}

int stream_decode_packet(AVCodecContext *avctx, const AVPacket *packet, AVFrame *frame,
                         int (*take)(void *opaque, const AVFrame *frame), void *opaque)
{
    int ret = avcodec_send_packet(avctx, packet);
    while (ret >= 0 && (ret = avcodec_receive_frame(avctx, frame)) >= 0) {
        const int taken = take ? take(opaque, frame) : 0;
        av_frame_unref(frame);
        if (taken < 0)
            return taken;
    }
    return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}
