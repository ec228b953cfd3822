/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_store.h"

#include "png_packet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 96, TRIES = 1000, PAUSE_US = 10000, LEVEL = 6 };

static const uint32_t magic = 0x74636970;

static void name_of(const char *table, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "/dlex-pictures-%u-%s", (unsigned)geteuid(), table);
}

static size_t luma_size(const struct picture_store *store)
{
    return (size_t)store->width * (size_t)store->height;
}

size_t picture_store_picture_size(const struct picture_store *store)
{
    return luma_size(store) * 3 / 2;
}

size_t picture_store_packet_capacity(const struct picture_store *store)
{
    return png_packet_capacity(store->width, store->height);
}

/* Pictures, classes, blurred, halved, packet. */
static size_t offset_of_maps(const struct picture_store *store)
{
    return STORE_PICTURES * picture_store_picture_size(store);
}

static size_t size_of(const struct picture_store *store)
{
    return sizeof *store + offset_of_maps(store) + luma_size(store) * 3 / 2 + picture_store_packet_capacity(store);
}

static int map(int file, size_t size, struct picture_store **store)
{
    void *const memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return -errno;
    *store = memory;
    return 0;
}

static int try_to_open(struct picture_store **store, const char *name)
{
    struct stat status;
    const int file = shm_open(name, O_RDWR, 0);
    if (file < 0)
        return -errno;
    int error = fstat(file, &status) ? -errno : 0;
    if (!error && (size_t)status.st_size < sizeof **store)
        error = -ENOENT; /* it is being made */
    if (!error)
        error = map(file, (size_t)status.st_size, store);
    close(file);
    if (error)
        return error;
    if (picture_store_is_current(*store) && size_of(*store) == (size_t)status.st_size)
        return 0;
    munmap(*store, (size_t)status.st_size);
    return -ENOENT;
}

/* Processes that have opened the store notice that it is not the table's any more. */
static void retire(const char *name)
{
    struct picture_store *store;
    if (!try_to_open(&store, name)) {
        __atomic_store_n(&store->magic, 0, __ATOMIC_RELEASE); /* with picture_store_is_current */
        picture_store_close(store);
    }
    shm_unlink(name);
}

int picture_store_create(struct picture_store **store, const char *table, int width, int height)
{
    char name[NAME_SIZE];
    const struct picture_store shape = {.width = width, .height = height};
    if (width < 2 || height < 2 || width > STORE_SIDE_MAX || height > STORE_SIDE_MAX || width % 2 || height % 2)
        return -EINVAL;
    name_of(table, name);
    retire(name);
    const int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
    if (file < 0)
        return -errno;
    int error = -posix_fallocate(file, 0, (off_t)size_of(&shape));
    if (!error)
        error = map(file, size_of(&shape), store);
    close(file);
    if (error) {
        shm_unlink(name);
        return error;
    }
    (*store)->width = width;
    (*store)->height = height;
    (*store)->level = LEVEL;
    __atomic_store_n(&(*store)->magic, magic, __ATOMIC_RELEASE); /* with picture_store_is_current */
    return 0;
}

bool picture_store_is_current(const struct picture_store *store)
{
    return __atomic_load_n(&store->magic, __ATOMIC_ACQUIRE) == magic;
}

int picture_store_open(struct picture_store **store, const char *table)
{
    char name[NAME_SIZE];
    int error = -ENOENT;
    name_of(table, name);
    for (int i = 0; error == -ENOENT && i < TRIES; i++) {
        if (i)
            usleep(PAUSE_US);
        error = try_to_open(store, name);
    }
    return error;
}

void picture_store_close(struct picture_store *store)
{
    munmap(store, size_of(store));
}

void picture_store_remove(const char *table)
{
    char name[NAME_SIZE];
    name_of(table, name);
    shm_unlink(name);
}

uint8_t *picture_store_luma(struct picture_store *store, int64_t number)
{
    return store->planes + (size_t)(number % STORE_PICTURES) * picture_store_picture_size(store);
}

struct picture_planes picture_store_planes(struct picture_store *store, int64_t number)
{
    const uint8_t *const luma = picture_store_luma(store, number);
    return (struct picture_planes){
        .width = store->width, .height = store->height, .y = luma, .cb = luma + luma_size(store),
        .cr = luma + luma_size(store) * 5 / 4,
    };
}

uint8_t *picture_store_classes(struct picture_store *store)
{
    return store->planes + offset_of_maps(store);
}

uint8_t *picture_store_halved(struct picture_store *store)
{
    return picture_store_classes(store) + luma_size(store) / 4;
}

uint8_t *picture_store_blurred(struct picture_store *store)
{
    return picture_store_halved(store) + luma_size(store) / 4;
}

uint8_t *picture_store_packet(struct picture_store *store)
{
    return picture_store_blurred(store) + luma_size(store);
}
