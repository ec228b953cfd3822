/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_roles.h"

#include "ns.h"

#include <errno.h>
#include <time.h>
#include <zlib.h>

enum { LEVEL_MIN = 1, LEVEL_MAX = 9 };

static int classify(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    const struct picture_planes planes = picture_store_planes(store, store->number);
    const int rows = planes.height / 2;
    picture_classify(&planes, rows * job->part / job->parts, rows * (job->part + 1) / job->parts, picture_store_classes(store));
    return 0;
}

static int track(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    store->blob[job->object] = picture_track(picture_store_classes(store), store->width / 2, store->height / 2,
                                             (enum picture_object)job->object);
    return 0;
}

/* Turns to the ball, slower if there is much in the way. */
static int control(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    const struct picture_blob *const ball = &store->blob[OBJECT_BALL];
    const double samples = store->width / 2.0 * (store->height / 2.0);
    store->steering = ball->samples ? 4 * ball->x / store->width - 1 : 0;
    store->speed = ball->samples ? 1 - (double)store->blob[OBJECT_OBSTACLES].samples / samples : 0;
    return 0;
}

static int update(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    for (int i = 0; i < PICTURE_OBJECTS; i++)
        store->world[i] = store->blob[i];
    store->world_number = store->number;
    return 0;
}

static int blur(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    picture_blur(picture_store_luma(store, store->number), store->width, store->height, picture_store_blurred(store));
    return 0;
}

static int halve(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    picture_halve(picture_store_luma(store, store->number), store->width, store->height, picture_store_halved(store));
    return 0;
}

/* Packs what both filters have made. They are not side by side in memory, so in two steps. */
static int deflate_both(struct picture_store *store, z_stream *stream)
{
    const uInt luma = (uInt)(store->width * store->height);
    stream->next_out = picture_store_packet(store);
    stream->avail_out = (uInt)picture_store_packet_capacity(store);
    stream->next_in = picture_store_blurred(store);
    stream->avail_in = luma;
    if (deflate(stream, Z_NO_FLUSH) != Z_OK)
        return -EIO;
    stream->next_in = picture_store_halved(store);
    stream->avail_in = luma / 4;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? 0 : -EIO;
}

static int encode(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    z_stream stream = {0};
    if (deflateInit(&stream, store->level) != Z_OK)
        return -ENOMEM;
    const int error = deflate_both(store, &stream);
    if (!error) {
        store->packet_size = (int64_t)stream.total_out;
        store->packet_number = store->number;
    }
    deflateEnd(&stream);
    if (store->number % 32 == 0 && store->level < LEVEL_MAX)
        store->level++; /* tries harder again, until recovery says no */
    return error;
}

static int write_packet(struct picture_job *job)
{
    const struct picture_store *const store = job->store;
    const size_t size = (size_t)store->packet_size;
    const int64_t header[] = {store->packet_number, store->packet_size};
    fwrite(header, sizeof header, 1, job->out);
    fwrite(picture_store_packet(job->store), 1, size, job->out);
    return fflush(job->out) ? -errno : 0; /* a writer that is killed loses at most one */
}

/* The encoder has missed its deadline. */
static int hurry(struct picture_job *job)
{
    if (job->store->level > LEVEL_MIN)
        job->store->level--;
    job->store->hurried++;
    return 0;
}

static int64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return ns_from_timespec(time);
}

static int work(struct picture_job *job)
{
    const int64_t until_ns = cpu_ns() + (int64_t)(job->work_ms * (double)NS_PER_MS);
    while (cpu_ns() < until_ns)
        ;
    return 0;
}

const struct picture_role picture_roles[] = {
    {"classify", classify, true, "find the colour classes of a part of the picture (--part=0/4)"},
    {"track", track, true, "find an object by its class (--object=0 to 4: ball, obstacles, blue goal, yellow goal, lines)"},
    {"control", control, true, "decide how a robot steers"},
    {"update", update, true, "store where all objects are"},
    {"blur", blur, true, "filter the picture"},
    {"halve", halve, true, "scale the picture down"},
    {"encode", encode, true, "pack what blur and halve have made (zlib)"},
    {"write", write_packet, true, "append the packed picture to a file (--to=FILE)"},
    {"hurry", hurry, true, "recovery: the encoder tries less hard from now on"},
    {"work", work, false, "use CPU time (--work=MS)"},
    {NULL, NULL, false, NULL},
};
