/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_file.h"

#include "ns.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Elements of Matroska and of EBML, its form (RFC 8794). */
enum element {
    EBML = 0x1a45dfa3, EBML_VERSION = 0x4286, EBML_READ_VERSION = 0x42f7, EBML_MAX_ID = 0x42f2, EBML_MAX_SIZE = 0x42f3,
    DOC_TYPE = 0x4282, DOC_VERSION = 0x4287, DOC_READ_VERSION = 0x4285,
    SEGMENT = 0x18538067, INFO = 0x1549a966, TIMESTAMP_SCALE = 0x2ad7b1, DATE = 0x4461, MUXING_APP = 0x4d80, WRITING_APP = 0x5741,
    TRACKS = 0x1654ae6b, TRACK_ENTRY = 0xae, TRACK_NUMBER = 0xd7, TRACK_UID = 0x73c5, TRACK_TYPE = 0x83, LACING = 0x9c,
    CODEC_ID = 0x86, CODEC_PRIVATE = 0x63a2, VIDEO = 0xe0, PIXEL_WIDTH = 0xb0, PIXEL_HEIGHT = 0xba,
    CLUSTER = 0x1f43b675, TIMESTAMP = 0xe7, SIMPLE_BLOCK = 0xa3,
};
enum { HEADER_SIZE_MAX = 512, NUMBER_SIZE = 8, TRACK = 1, TYPE_VIDEO = 1, KEYFRAME = 0x80, BITMAP_HEADER_SIZE = 40, BITS = 24 };

static const uint64_t unknown_size = 0x01ffffffffffffff;
static const int64_t year_2001_s = 978307200; /* dates count from then */

struct bytes {
    size_t size;
    size_t date_at; /* where the date of the film is */
    uint8_t data[HEADER_SIZE_MAX];
};

static void put(struct bytes *bytes, const void *data, size_t size)
{
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void put_big_endian(struct bytes *bytes, uint64_t value, int size)
{
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
        bytes->data[bytes->size++] = (uint8_t)(value >> shift);
}

static void put_little_endian(struct bytes *bytes, uint64_t value, int size)
{
    for (int shift = 0; shift < 8 * size; shift += 8)
        bytes->data[bytes->size++] = (uint8_t)(value >> shift);
}

/* The first bits of an id say how long it is. */
static void put_id(struct bytes *bytes, uint32_t id)
{
    put_big_endian(bytes, id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
}

/* data: less than 127 bytes, for which the size has one byte. */
static void put_data(struct bytes *bytes, enum element id, const void *data, size_t size)
{
    put_id(bytes, id);
    put_big_endian(bytes, 0x80 | size, 1);
    put(bytes, data, size);
}

static void put_text(struct bytes *bytes, enum element id, const char *text)
{
    put_data(bytes, id, text, strlen(text));
}

static void put_number(struct bytes *bytes, enum element id, uint64_t value)
{
    put_id(bytes, id);
    put_big_endian(bytes, 0x80 | NUMBER_SIZE, 1);
    put_big_endian(bytes, value, NUMBER_SIZE);
}

/* A size of seven bytes, after a byte that says so. */
static void put_size(struct bytes *bytes, uint64_t size)
{
    put_big_endian(bytes, (UINT64_C(1) << 56) | size, NUMBER_SIZE);
}

/* Begins an element with other elements inside. Returns what master_end needs. */
static size_t master_begin(struct bytes *bytes, enum element id)
{
    put_id(bytes, id);
    put_size(bytes, 0);
    return bytes->size;
}

/* more: bytes that follow what is here. */
static void master_end_with(struct bytes *bytes, size_t begin, size_t more)
{
    const size_t end = bytes->size;
    bytes->size = begin - NUMBER_SIZE;
    put_size(bytes, end - begin + more);
    bytes->size = end;
}

static void master_end(struct bytes *bytes, size_t begin)
{
    master_end_with(bytes, begin, 0);
}

static void put_ebml(struct bytes *bytes)
{
    const size_t begin = master_begin(bytes, EBML);
    put_number(bytes, EBML_VERSION, 1);
    put_number(bytes, EBML_READ_VERSION, 1);
    put_number(bytes, EBML_MAX_ID, 4);
    put_number(bytes, EBML_MAX_SIZE, 8);
    put_text(bytes, DOC_TYPE, "matroska");
    put_number(bytes, DOC_VERSION, 4);
    put_number(bytes, DOC_READ_VERSION, 2);
    master_end(bytes, begin);
}

static void put_info(struct bytes *bytes, int64_t begun_ms)
{
    const size_t begin = master_begin(bytes, INFO);
    put_number(bytes, TIMESTAMP_SCALE, NS_PER_MS);
    put_number(bytes, DATE, (uint64_t)((begun_ms - 1000 * year_2001_s) * NS_PER_MS));
    bytes->date_at = bytes->size - NUMBER_SIZE;
    put_text(bytes, MUXING_APP, "dlex");
    put_text(bytes, WRITING_APP, "dlex-pictures");
    master_end(bytes, begin);
}

/* Matroska has no name of its own for PNG. Files with a bitmap header have that of AVI. */
static void put_codec(struct bytes *bytes, int width, int height)
{
    struct bytes header = {0};
    put_little_endian(&header, BITMAP_HEADER_SIZE, 4);
    put_little_endian(&header, (uint64_t)width, 4);
    put_little_endian(&header, (uint64_t)height, 4);
    put_little_endian(&header, 1, 2);
    put_little_endian(&header, BITS, 2);
    put(&header, "MPNG", 4);
    header.size = BITMAP_HEADER_SIZE; /* the rest may be 0 */
    put_text(bytes, CODEC_ID, "V_MS/VFW/FOURCC");
    put_data(bytes, CODEC_PRIVATE, header.data, header.size);
}

static void put_tracks(struct bytes *bytes, int width, int height)
{
    const size_t begin = master_begin(bytes, TRACKS), entry = master_begin(bytes, TRACK_ENTRY);
    put_number(bytes, TRACK_NUMBER, TRACK);
    put_number(bytes, TRACK_UID, TRACK);
    put_number(bytes, TRACK_TYPE, TYPE_VIDEO);
    put_number(bytes, LACING, 0);
    put_codec(bytes, width, height);
    const size_t video = master_begin(bytes, VIDEO);
    put_number(bytes, PIXEL_WIDTH, (uint64_t)width);
    put_number(bytes, PIXEL_HEIGHT, (uint64_t)height);
    master_end(bytes, video);
    master_end(bytes, entry);
    master_end(bytes, begin);
}

/* What comes before the first picture. The segment, which holds all others, ends with the file. */
static void put_beginning(struct bytes *bytes, int64_t begun_ms, int width, int height)
{
    put_ebml(bytes);
    put_id(bytes, SEGMENT);
    put_big_endian(bytes, unknown_size, NUMBER_SIZE);
    put_info(bytes, begun_ms);
    put_tracks(bytes, width, height);
}

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return ns_from_timespec(time) / NS_PER_MS;
}

static int write_all(struct picture_file *file, const void *data, size_t size)
{
    return fwrite(data, 1, size, file->stream) == size ? 0 : -errno;
}

static bool has_content(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode) && status.st_size > 0;
}

/* Finds out when the film began. It must begin as one that is made here, apart from its date. */
static int continue_film(struct picture_file *file, const char *path, int width, int height)
{
    struct bytes expected = {0}, found = {0};
    put_beginning(&expected, 0, width, height);
    FILE *const stream = fopen(path, "re");
    if (!stream)
        return -errno;
    found.size = fread(found.data, 1, expected.size, stream);
    fclose(stream);
    int64_t date_ns = 0;
    for (int i = 0; i < NUMBER_SIZE; i++)
        date_ns = (int64_t)((uint64_t)date_ns << 8 | found.data[expected.date_at + (size_t)i]);
    memcpy(expected.data + expected.date_at, found.data + expected.date_at, NUMBER_SIZE);
    file->begun_ms = date_ns / NS_PER_MS + 1000 * year_2001_s;
    return found.size == expected.size && !memcmp(found.data, expected.data, expected.size) ? 0 : -EEXIST;
}

static int begin_film(struct picture_file *file, int width, int height)
{
    struct bytes beginning = {0};
    file->begun_ms = now_ms();
    put_beginning(&beginning, file->begun_ms, width, height);
    const int error = write_all(file, beginning.data, beginning.size);
    return error ? error : fflush(file->stream) ? -errno : 0;
}

int picture_file_open(struct picture_file *file, const char *path, int width, int height)
{
    const bool is_there = has_content(path);
    int error = is_there ? continue_film(file, path, width, height) : 0;
    if (error)
        return error;
    file->last_ms = -1;
    file->stream = fopen(path, "ae");
    if (!file->stream)
        return -errno;
    if (!is_there)
        error = begin_film(file, width, height);
    if (error)
        picture_file_close(file);
    return error;
}

/* What comes before the packet of a picture: a cluster with one block, which is the only one. */
static void put_cluster(struct bytes *bytes, int64_t at_ms, size_t packet_size)
{
    const size_t cluster = master_begin(bytes, CLUSTER);
    put_number(bytes, TIMESTAMP, (uint64_t)at_ms);
    const size_t block = master_begin(bytes, SIMPLE_BLOCK);
    put_big_endian(bytes, 0x80 | TRACK, 1);
    put_big_endian(bytes, 0, 2); /* ms after the cluster's time */
    put_big_endian(bytes, KEYFRAME, 1);
    master_end_with(bytes, block, packet_size);
    master_end_with(bytes, cluster, packet_size);
}

int picture_file_add(struct picture_file *file, const uint8_t *packet, size_t size)
{
    struct bytes cluster = {0};
    const int64_t at_ms = now_ms() - file->begun_ms;
    file->last_ms = at_ms > file->last_ms ? at_ms : file->last_ms + 1; /* the clock may have been set back */
    put_cluster(&cluster, file->last_ms, size);
    int error = write_all(file, cluster.data, cluster.size);
    if (!error)
        error = write_all(file, packet, size);
    return error ? error : fflush(file->stream) ? -errno : 0;
}

int picture_file_close(struct picture_file *file)
{
    FILE *const stream = file->stream;
    file->stream = NULL;
    return stream && fclose(stream) ? -errno : 0;
}
