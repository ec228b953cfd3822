/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "down_mix.h"

#include <math.h>
#include <stdbool.h>

struct levels {
    double left;
    double right;
};

static struct levels named_levels(enum AVChannel channel)
{
    switch (channel) {
    case AV_CHAN_FRONT_LEFT:
    case AV_CHAN_FRONT_LEFT_OF_CENTER:
    case AV_CHAN_WIDE_LEFT:
    case AV_CHAN_STEREO_LEFT: return (struct levels){1, 0};
    case AV_CHAN_FRONT_RIGHT:
    case AV_CHAN_FRONT_RIGHT_OF_CENTER:
    case AV_CHAN_WIDE_RIGHT:
    case AV_CHAN_STEREO_RIGHT: return (struct levels){0, 1};
    case AV_CHAN_BACK_LEFT:
    case AV_CHAN_SIDE_LEFT:
    case AV_CHAN_SURROUND_DIRECT_LEFT:
    case AV_CHAN_SIDE_SURROUND_LEFT:
    case AV_CHAN_TOP_FRONT_LEFT:
    case AV_CHAN_TOP_SIDE_LEFT:
    case AV_CHAN_TOP_BACK_LEFT:
    case AV_CHAN_TOP_SURROUND_LEFT:
    case AV_CHAN_BOTTOM_FRONT_LEFT: return (struct levels){M_SQRT1_2, 0};
    case AV_CHAN_BACK_RIGHT:
    case AV_CHAN_SIDE_RIGHT:
    case AV_CHAN_SURROUND_DIRECT_RIGHT:
    case AV_CHAN_SIDE_SURROUND_RIGHT:
    case AV_CHAN_TOP_FRONT_RIGHT:
    case AV_CHAN_TOP_SIDE_RIGHT:
    case AV_CHAN_TOP_BACK_RIGHT:
    case AV_CHAN_TOP_SURROUND_RIGHT:
    case AV_CHAN_BOTTOM_FRONT_RIGHT: return (struct levels){0, M_SQRT1_2};
    case AV_CHAN_LOW_FREQUENCY:
    case AV_CHAN_LOW_FREQUENCY_2:
    case AV_CHAN_UNUSED: return (struct levels){0, 0};
    case AV_CHAN_FRONT_CENTER: return (struct levels){M_SQRT1_2, M_SQRT1_2};
    default: return (struct levels){0.5, 0.5}; /* behind, above or below the middle, or not known */
    }
}

/* Ambisonic channels are numbered (ACN): 0 has the sound of all directions, 1 the difference of left and right. */
static struct levels ambisonic_levels(int number)
{
    if (number > 1)
        return (struct levels){0, 0};
    return (struct levels){0.5, number == 0 ? 0.5 : -0.5};
}

/* Returns the number of an ambisonic channel, or -1 for another channel. */
static int ambisonic_number(const AVChannelLayout *layout, int index)
{
    const enum AVChannel channel = av_channel_layout_channel_from_index(layout, (unsigned)index);
    return channel >= AV_CHAN_AMBISONIC_BASE && channel <= AV_CHAN_AMBISONIC_END ? (int)channel - AV_CHAN_AMBISONIC_BASE : -1;
}

static struct levels alternating_levels(int index, int count)
{
    if (index == count - 1 && count % 2)
        return (struct levels){M_SQRT1_2, M_SQRT1_2};
    return (struct levels){index % 2 == 0, index % 2};
}

static struct levels levels_of(const AVChannelLayout *layout, int index)
{
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC)
        return alternating_levels(index, layout->nb_channels);
    const int number = ambisonic_number(layout, index);
    return number >= 0 ? ambisonic_levels(number)
                       : named_levels(av_channel_layout_channel_from_index(layout, (unsigned)index));
}

/* Returns the sum of the louder loudspeaker. */
static double fill(struct down_mix *mix, const AVChannelLayout *layout)
{
    double left = 0;
    double right = 0;
    for (int i = 0; i < layout->nb_channels; i++) {
        const struct levels levels = levels_of(layout, i);
        mix->level[LEFT][i] = levels.left;
        mix->level[RIGHT][i] = levels.right;
        left += fabs(levels.left);
        right += fabs(levels.right);
    }
    return fmax(left, right);
}

/* One channel is heard from both sides, whatever its name. So is a set of channels that would be silent otherwise. */
static double fill_evenly(struct down_mix *mix, int count)
{
    for (int i = 0; i < count; i++)
        mix->level[LEFT][i] = mix->level[RIGHT][i] = 1;
    return count;
}

void down_mix_make(struct down_mix *mix, const AVChannelLayout *layout)
{
    const int count = layout->nb_channels;
    *mix = (struct down_mix){0};
    AVChannelLayout named = *layout; /* a copy that owns nothing */
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&named, count);
    double sum = count > 1 ? fill(mix, &named) : 0;
    if (sum == 0)
        sum = fill_evenly(mix, count);
    for (int i = 0; i < count; i++) {
        mix->level[LEFT][i] /= sum;
        mix->level[RIGHT][i] /= sum;
    }
}
