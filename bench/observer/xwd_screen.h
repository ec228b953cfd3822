/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The screen of an X server without hardware, mapped: Xvfb -fbdir=DIR keeps its pixels in DIR/Xvfb_screen0 (XWD).
 *
 * Reading pixels of a file that its owner truncates is a SIGBUS: whoever reads them installs xwd_screen_guard.
 */
#ifndef OBSERVER_XWD_SCREEN_H
#define OBSERVER_XWD_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xwd_screen {
    int width;
    int height;
    int line_pixels; /* from one line to the next */
    const volatile uint32_t *pixels;
    int fd;
    void *map;
    size_t map_size;
};

/*
 * Returns 0, or a negative errno with a sentence's middle in why. xwd_screen_close accepts a screen of zeros, and one
 * that xwd_screen_open has refused.
 */
int xwd_screen_open(struct xwd_screen *screen, const char *path, char *why, size_t why_size);
void xwd_screen_close(struct xwd_screen *screen);

/* The first pixel of a line. */
const volatile uint32_t *xwd_screen_line(const struct xwd_screen *screen, int y);

/* False once the file was removed or cut: its X server has ended. One system call. */
bool xwd_screen_is_there(const struct xwd_screen *screen);

/*
 * Calls read(opaque) in this thread. Returns 0, or -EIO when the file was cut while it read; read is then left where it
 * was, so it holds nothing that would have to be given back. One guarded read in a process at a time.
 */
int xwd_screen_guard(void (*read)(void *opaque), void *opaque);

#endif
