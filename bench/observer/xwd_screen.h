/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps the screen of an X server without hardware: Xvfb -fbdir=DIR keeps its pixels in DIR/Xvfb_screen0 (XWD).
 *
 * Reading pixels of a file that its owner truncates raises SIGBUS, so every reader must use xwd_screen_guard.
 */
#ifndef OBSERVER_XWD_SCREEN_H
#define OBSERVER_XWD_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xwd_screen {
    int width;
    int height;
    int line_pixels; /* distance from one line to the next */
    const volatile uint32_t *pixels;
    int fd;
    void *map;
    size_t map_size;
};

/*
 * Returns 0, or a negative errno with the cause in why, as a clause ("it cannot be mapped"). xwd_screen_close accepts a
 * screen of zeros, and one for which xwd_screen_open failed.
 */
int xwd_screen_open(struct xwd_screen *screen, const char *path, char *why, size_t why_size);
void xwd_screen_close(struct xwd_screen *screen);

/* Returns the first pixel of line y. */
const volatile uint32_t *xwd_screen_line(const struct xwd_screen *screen, int y);

/* Returns false once the file was removed or truncated, which means that its X server has ended. One system call. */
bool xwd_screen_is_there(const struct xwd_screen *screen);

/*
 * Calls read(opaque) on the calling thread. Returns 0, or -EIO when the file was truncated during the read. In that
 * case a jump leaves read where it was, so read must not hold anything that has to be released. Only one guarded read
 * may run in a process at a time.
 */
int xwd_screen_guard(void (*read)(void *opaque), void *opaque);

#endif
