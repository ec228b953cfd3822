/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the channels of a sound are mixed to two loudspeakers. Pure.
 *
 * libswresample does not do this alone. It keeps sums above 1 where the samples are floating point, so that a loud film in
 * 5.1 is clipped at the sound card. It leaves out most channels of 22.2, and refuses ambisonic sound, sound whose channels have no
 * names (except for usual numbers of them), and odd sets of loudspeakers.
 */
#ifndef PLAYER_DOWN_MIX_H
#define PLAYER_DOWN_MIX_H

#include <libavutil/channel_layout.h>

enum { DOWN_MIX_CHANNELS_MAX = 64 }; /* of libswresample */

enum { LEFT, RIGHT };

/* How much of each channel of the sound the left and the right loudspeaker get. */
struct down_mix {
    double level[2][DOWN_MIX_CHANNELS_MAX];
};

/*
 * Sets *mix for this layout of 1 to DOWN_MIX_CHANNELS_MAX channels. The levels are those of ITU-R BS.775: 0.707 for the centre and the channels
 * beside and behind the listener, above and below; nothing of the bass channel. All are then scaled by one factor: the louder loudspeaker gets 1 in sum, so
 * nothing can be clipped, and mono and stereo keep their level.
 *
 * Ambisonic sound becomes two cardioids that point to the left and to the right. Channels without a name are named as
 * av_channel_layout_default does for their number; where it knows no name, they alternate between left and right.
 */
void down_mix_make(struct down_mix *mix, const AVChannelLayout *layout);

#endif
