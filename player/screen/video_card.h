/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a graphics card would draw. Without one, Mesa emulates OpenGL with the CPU ("llvmpipe"). A 1080p picture then costs 27 ms
 * of CPU time more than with the CPU's own drawing (video_surface).
 */
#ifndef PLAYER_VIDEO_CARD_H
#define PLAYER_VIDEO_CARD_H

#include <stdbool.h>

/*
 * Returns false where the kernel offers no graphics card to this program, so that OpenGL could only be emulated. To find that out
 * by OpenGL itself would load Mesa and its compiler: 45 ms and 75 MB.
 */
bool video_card_is_offered(void);

/* Returns whether the OpenGL whose context is current in this thread is emulated. False if there is no context. */
bool video_card_is_emulated(void);

#endif
