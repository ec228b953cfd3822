/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Positions of 32-bit big-endian numbers in the header of an XWD file; colours of 12 bytes follow
 * the header.
 */
enum {
    HEADER_SIZE = 0,
    WIDTH = 4,
    HEIGHT = 5,
    BITS_PER_PIXEL = 11,
    BYTES_PER_LINE = 12,
    COLOURS = 19
};
enum { COLOUR_SIZE = 12 };

static uint32_t number_at(const uint8_t *file, int index)
{
    const uint8_t *const b = file + 4 * index;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int map_file(struct screen *screen, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct stat facts;
    int ret = fstat(fd, &facts) < 0 ? -errno : 0;
    if (ret == 0) {
        screen->map_size = facts.st_size;
        screen->map = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, fd, 0);
        ret = screen->map == MAP_FAILED ? -errno : 0;
    }
    close(fd);
    return ret;
}

int screen_open(struct screen *screen)
{
    const char *const path = getenv("DLEX_TEST_SCREEN");
    const int ret = path ? map_file(screen, path) : -ENOENT;
    if (ret < 0)
        return ret;
    const uint8_t *const file = screen->map;
    screen->width = (int)number_at(file, WIDTH);
    screen->height = (int)number_at(file, HEIGHT);
    screen->bytes_per_line = (int)number_at(file, BYTES_PER_LINE);
    screen->pixels = file + number_at(file, HEADER_SIZE) + COLOUR_SIZE * number_at(file, COLOURS);
    return number_at(file, BITS_PER_PIXEL) == 32 ? 0 : -ENOTSUP;
}

void screen_close(struct screen *screen)
{
    munmap(screen->map, (size_t)screen->map_size);
}

uint32_t screen_pixel(const struct screen *screen, int x, int y)
{
    const uint8_t *const pixel = screen->pixels + (int64_t)y * screen->bytes_per_line + 4 * x;
    return (uint32_t)pixel[2] << 16 | (uint32_t)pixel[1] << 8 | pixel[0];
}
