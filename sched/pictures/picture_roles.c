/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_roles.h"

#include "ns.h"
#include "png_packet.h"

#include <time.h>

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

/* Packs what both filters have made. */
static int encode(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    const struct png_planes planes = {
        .width = store->width, .height = store->height,
        .whole = picture_store_blurred(store), .halved = picture_store_halved(store),
    };
    store->packet_size = 0; /* if this process is killed meanwhile, nothing is written */
    const int64_t size = png_packet_write(picture_store_packet(store), &planes, store->number, store->level);
    if (size > 0)
        store->packet_size = size;
    if (store->number % 32 == 0 && store->level < LEVEL_MAX)
        store->level++; /* tries harder again, until recovery says no */
    return size < 0 ? (int)size : 0;
}

static int write_packet(struct picture_job *job)
{
    struct picture_store *const store = job->store;
    const int64_t size = store->packet_size;
    store->packet_size = 0; /* each picture once, also if the encoder is killed before the next one */
    return size ? picture_file_add(job->file, picture_store_packet(store), (size_t)size) : 0;
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
    {"encode", encode, true, "pack what blur and halve have made as one picture (PNG)"},
    {"write", write_packet, true, "append the packed picture to a film (--to=FILE, Matroska)"},
    {"hurry", hurry, true, "recovery: the encoder tries less hard from now on"},
    {"work", work, false, "use CPU time (--work=MS)"},
    {NULL, NULL, false, NULL},
};
