/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "framemd5.h"

#include "ns.h"
#include "whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <libavutil/imgutils.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>

struct framemd5 {
    struct whole_file file;
    uint8_t *pixels;
    unsigned int pixels_room;
    int error;
    AVRational time_base; /* that of the clip that is playing */
};

int framemd5_create(struct framemd5 **out, const char *path)
{
    struct framemd5 *md5 = av_mallocz(sizeof *md5);
    if (!md5)
        return -ENOMEM;
    const int ret = whole_file_open(&md5->file, path);
    if (ret < 0)
        av_freep(&md5);
    *out = md5;
    return ret;
}

void framemd5_begin(struct framemd5 *md5, const AVStream *stream)
{
    md5->time_base = stream->time_base;
    fprintf(md5->file.out, "#format: frame checksums\n#version: 2\n#hash: MD5\n#tb 0: %d/%d\n#media_type 0: video\n",
            stream->time_base.num, stream->time_base.den);
    fprintf(md5->file.out, "#codec_id 0: rawvideo\n#dimensions 0: %dx%d\n#stream#, dts, pts, duration, size, hash\n",
            stream->codecpar->width, stream->codecpar->height);
}

static int pack(struct framemd5 *md5, const AVFrame *picture)
{
    const int size = av_image_get_buffer_size(picture->format, picture->width, picture->height, 1);
    if (size < 0)
        return size;
    av_fast_malloc(&md5->pixels, &md5->pixels_room, (size_t)size);
    if (!md5->pixels)
        return -ENOMEM;
    return av_image_copy_to_buffer(md5->pixels, size, (const uint8_t *const *)picture->data, picture->linesize,
                                   picture->format, picture->width, picture->height, 1);
}

void framemd5_add(struct framemd5 *md5, const AVFrame *picture, int64_t pts_ns)
{
    const int size = pack(md5, picture);
    if (size < 0) {
        md5->error = size;
        return;
    }
    uint8_t digest[16];
    av_md5_sum(digest, md5->pixels, (size_t)size);
    const int64_t pts = av_rescale_q(pts_ns, (AVRational){1, NS_PER_S}, md5->time_base);
    fprintf(md5->file.out, "0, %10" PRId64 ", %10" PRId64 ", %8" PRId64 ", %8d, ", pts, pts, picture->duration, size);
    for (int i = 0; i < 16; i++)
        fprintf(md5->file.out, "%02x", digest[i]);
    fputc('\n', md5->file.out);
}

int framemd5_close(struct framemd5 **md5)
{
    if (!*md5)
        return 0;
    int ret = (*md5)->error;
    if (ret < 0)
        whole_file_abandon(&(*md5)->file);
    else
        ret = whole_file_commit(&(*md5)->file);
    av_freep(&(*md5)->pixels);
    av_freep(md5);
    return ret;
}
