/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xwd_screen.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The header of an XWD file: big-endian numbers of 32 bits. Colours of 12 bytes each follow it. */
enum header {
    HEADER_SIZE,
    FILE_VERSION,
    PIXMAP_FORMAT,
    DEPTH,
    WIDTH,
    HEIGHT,
    BYTE_ORDER_OF_PIXELS = 7,
    BITS_PER_PIXEL = 11,
    BYTES_PER_LINE = 12,
    COLOURS = 19,
    HEADER_NUMBERS = 25,
};

enum { XWD_VERSION = 7, Z_PIXMAP = 2, LSB_FIRST = 0, COLOUR_SIZE = 12, LONGEST_SIDE = 16384 };

/* Only pixels in the native byte order can be read without converting each one. */
static const uint32_t native_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? LSB_FIRST : 1;

__attribute__((format(printf, 4, 5)))
static int refuse(int code, char *why, size_t why_size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, why_size, format, args);
    va_end(args);
    return code;
}

static int map_file(struct xwd_screen *screen, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct stat facts;
    int ret = 0;
    if (fstat(fd, &facts) < 0)
        ret = -errno;
    else if (!S_ISREG(facts.st_mode) || facts.st_size < (off_t)(HEADER_NUMBERS * sizeof(uint32_t)))
        ret = -EINVAL;
    if (ret < 0)
        goto fail;
    void *const map = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (map == MAP_FAILED) {
        ret = -errno;
        goto fail;
    }
    *screen = (struct xwd_screen){.fd = fd, .map = map, .map_size = (size_t)facts.st_size};
    return 0;
fail:
    close(fd);
    return ret;
}

static void read_header(const struct xwd_screen *screen, uint32_t header[HEADER_NUMBERS])
{
    memcpy(header, screen->map, HEADER_NUMBERS * sizeof *header);
    for (int i = 0; i < HEADER_NUMBERS; i++)
        header[i] = be32toh(header[i]);
}

/*
 * An X server that has just created the file may not have written the header yet. That is reported as "not an XWD
 * file" as well.
 */
static int take_header(struct xwd_screen *screen, const uint32_t *header, char *why, size_t why_size)
{
    if (header[FILE_VERSION] != XWD_VERSION || header[PIXMAP_FORMAT] != Z_PIXMAP)
        return refuse(-EINVAL, why, why_size, "it is not an XWD file; name the Xvfb_screen0 of Xvfb -fbdir");
    if (header[BITS_PER_PIXEL] != 32 || header[DEPTH] != 24 || header[BYTE_ORDER_OF_PIXELS] != native_order)
        return refuse(-ENOTSUP, why, why_size,
                      "its pixels have depth %u, %u bits, byte order %u; start Xvfb here with -screen 0 WxHx24",
                      header[DEPTH], header[BITS_PER_PIXEL], header[BYTE_ORDER_OF_PIXELS]);
    const uint64_t begin = header[HEADER_SIZE] + (uint64_t)COLOUR_SIZE * header[COLOURS];
    const uint64_t size = (uint64_t)header[BYTES_PER_LINE] * header[HEIGHT];
    if (header[WIDTH] > LONGEST_SIDE || header[HEIGHT] > LONGEST_SIDE || header[BYTES_PER_LINE] % 4 || begin % 4 ||
        header[BYTES_PER_LINE] < 4 * header[WIDTH] || begin + size > screen->map_size)
        return refuse(-EINVAL, why, why_size, "its header does not fit its size; the X server may have died");
    screen->width = (int)header[WIDTH];
    screen->height = (int)header[HEIGHT];
    screen->line_pixels = (int)header[BYTES_PER_LINE] / 4;
    screen->pixels = (const volatile uint32_t *)((const char *)screen->map + begin);
    return 0;
}

int xwd_screen_open(struct xwd_screen *screen, const char *path, char *why, size_t why_size)
{
    *screen = (struct xwd_screen){0};
    int ret = map_file(screen, path);
    if (ret < 0) {
        refuse(ret, why, why_size, "it cannot be mapped: %s; name the Xvfb_screen0 of Xvfb -fbdir", strerror(-ret));
    } else {
        uint32_t header[HEADER_NUMBERS];
        read_header(screen, header);
        ret = take_header(screen, header, why, why_size);
    }
    if (ret < 0)
        xwd_screen_close(screen);
    return ret;
}

void xwd_screen_close(struct xwd_screen *screen)
{
    if (screen->map) {
        munmap(screen->map, screen->map_size);
        close(screen->fd);
    }
    *screen = (struct xwd_screen){0};
}

const volatile uint32_t *xwd_screen_line(const struct xwd_screen *screen, int y)
{
    return screen->pixels + (ptrdiff_t)screen->line_pixels * y;
}

bool xwd_screen_is_there(const struct xwd_screen *screen)
{
    struct stat facts;
    return !fstat(screen->fd, &facts) && facts.st_nlink > 0 && facts.st_size >= (off_t)screen->map_size;
}

static sigjmp_buf before_read;

static void on_bus_error(int signal_number)
{
    (void)signal_number;
    siglongjmp(before_read, 1);
}

int xwd_screen_guard(void (*read)(void *opaque), void *opaque)
{
    struct sigaction action = {.sa_handler = on_bus_error, .sa_flags = SA_NODEFER};
    struct sigaction before;
    sigaction(SIGBUS, &action, &before);
    int ret = -EIO;
    if (!sigsetjmp(before_read, 0)) {
        read(opaque);
        ret = 0;
    }
    sigaction(SIGBUS, &before, NULL);
    return ret;
}
