/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether other pictures refer to the picture that a packet of VP8 or VP9 shows, from the frame headers.
 *
 * Pure, and without a state: each frame's header says everything.
 */
#ifndef PLAYER_VPX_FRAMES_H
#define PLAYER_VPX_FRAMES_H

#include "bits.h"

/*
 * Returns true if the frame is shown and becomes no reference. A frame that updates the segmentation map, which the next
 * one may inherit, counts as a reference, because the decoder does not give it up.
 */
bool vp8_packet_is_droppable(struct bytes packet);

/* Returns true if the packet shows a frame, and no frame that it shows becomes a reference. */
bool vp9_packet_is_droppable(struct bytes packet);

#endif
