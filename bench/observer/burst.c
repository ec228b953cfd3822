/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "burst.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const int64_t burst_period_ns = 250000000;
const int64_t burst_offset_ns = 100000000;

static const double lowest_hz = 1000;
static const double step_hz = 50;
static const double length_s = 0.040;

/* -40 dB. The tone is at -6 dB; an encoder's echoes and dithered silence are below this threshold. */
static const float loud = 0.01F;

/* A pause of this length ends a tone. Each tone's frequency crosses zero more often than that. */
static const double pause_s = 0.010;

/*
 * The window of the envelope. It holds whole periods of twice every tone's frequency, so that only the tone's level
 * remains.
 */
static const double window_s = 0.010;

/* How much of the energy must be in one frequency, and how far the length may be off. */
static const double purity = 0.7;
static const double length_tolerance_s = 0.0015;
static const double longest_s = 0.080;

static int64_t frames_of(const struct burst_finder *finder, double seconds)
{
    return (int64_t)lround(seconds * finder->rate);
}

int burst_finder_init(struct burst_finder *finder, int rate, void (*found)(void *, const struct burst *), void *opaque)
{
    *finder = (struct burst_finder){.rate = rate, .found = found, .opaque = opaque, .first_loud = -1};
    if (rate < 16000 || rate > 768000)
        return -EINVAL;
    finder->ring_size = 1;
    while (finder->ring_size < rate / 4)
        finder->ring_size *= 2;
    finder->level_room = finder->ring_size;
    finder->ring = calloc((size_t)finder->ring_size, sizeof *finder->ring);
    finder->level = calloc((size_t)finder->level_room, sizeof *finder->level);
    if (finder->ring && finder->level)
        return 0;
    burst_finder_finish(finder);
    return -ENOMEM;
}

void burst_finder_finish(struct burst_finder *finder)
{
    free(finder->ring);
    free(finder->level);
    *finder = (struct burst_finder){0};
}

static double sample_at(const struct burst_finder *finder, int64_t frame)
{
    return frame < 0 ? 0 : (double)finder->ring[frame & (finder->ring_size - 1)];
}

static double omega_of(const struct burst_finder *finder, int tone)
{
    return 2 * M_PI * (lowest_hz + step_hz * tone) / finder->rate;
}

/* Returns |sum of x e^(-i w n)|^2 over the frames, computed with a rotating pointer in the complex plane. */
static double power_at(const struct burst_finder *finder, double omega, int64_t begin, int64_t end)
{
    const double turn_re = cos(omega), turn_im = -sin(omega);
    double re = 0, im = 0, pointer_re = 1, pointer_im = 0;
    for (int64_t i = begin; i < end; i++) {
        const double x = sample_at(finder, i);
        re += x * pointer_re;
        im += x * pointer_im;
        const double next_re = pointer_re * turn_re - pointer_im * turn_im;
        pointer_im = pointer_re * turn_im + pointer_im * turn_re;
        pointer_re = next_re;
    }
    return re * re + im * im;
}

/* Returns the tone that holds at least 0.7 (purity) of the energy of these frames, or -1. */
static int tone_of(const struct burst_finder *finder, int64_t begin, int64_t end)
{
    double energy = 0, greatest = 0;
    int tone = -1;
    for (int64_t i = begin; i < end; i++)
        energy += sample_at(finder, i) * sample_at(finder, i);
    for (int i = 0; i < BURST_TONES; i++) {
        const double power = power_at(finder, omega_of(finder, i), begin, end);
        if (power > greatest) {
            greatest = power;
            tone = i;
        }
    }
    return greatest > 0 && greatest >= purity * energy * (double)(end - begin) / 2 ? tone : -1;
}

/* Sets level[i] to the magnitude of the tone in the window centred on begin + i. */
static void fill_envelope(struct burst_finder *finder, int tone, int64_t begin, int64_t count)
{
    const double omega = omega_of(finder, tone);
    const int64_t window = frames_of(finder, window_s);
    double re = 0, im = 0;
    for (int64_t i = -window; i < count; i++) {
        const int64_t in = begin + i + window / 2;
        const int64_t out = in - window;
        re += sample_at(finder, in) * cos(omega * (double)(in - begin));
        im += sample_at(finder, in) * sin(omega * (double)(in - begin));
        if (i < 0)
            continue;
        re -= sample_at(finder, out) * cos(omega * (double)(out - begin));
        im -= sample_at(finder, out) * sin(omega * (double)(out - begin));
        finder->level[i] = hypot(re, im);
    }
}

/*
 * Returns where the envelope crosses half its greatest level, searching from `from` in steps of `step`. The place is
 * interpolated between frames.
 */
static double half_crossing(const double *level, int64_t count, int64_t from, int step, double half)
{
    for (int64_t i = from; i >= 0 && i < count; i += step) {
        if (level[i] < half)
            continue;
        const int64_t before = i - step;
        if (before < 0 || before >= count)
            return (double)i;
        return (double)before + step * (half - level[before]) / (level[i] - level[before]);
    }
    return (double)from;
}

static void judge(struct burst_finder *finder, int64_t begin, int64_t end)
{
    const int64_t margin = frames_of(finder, pause_s) - 1;
    const int64_t from = begin - margin, count = end + margin - from;
    const int tone = end - begin < frames_of(finder, longest_s) && end - begin > frames_of(finder, length_s / 2)
                         ? tone_of(finder, begin, end) : -1;
    if (tone < 0) {
        finder->odd++;
        return;
    }
    fill_envelope(finder, tone, from, count);
    double greatest = 0;
    for (int64_t i = 0; i < count; i++)
        greatest = fmax(greatest, finder->level[i]);
    const double rise = half_crossing(finder->level, count, 0, 1, greatest / 2);
    const double fall = half_crossing(finder->level, count, count - 1, -1, greatest / 2);
    if (fabs((fall - rise) / finder->rate - length_s) > length_tolerance_s) {
        finder->odd++;
        return;
    }
    const double begin_frame = (double)from + (rise + fall) / 2 - length_s * finder->rate / 2;
    finder->found(finder->opaque, &(struct burst){.begin_frame = begin_frame, .tone = tone});
}

void burst_finder_feed(struct burst_finder *finder, const float *samples, size_t count)
{
    /* The envelope needs the margin and half a window after the last loud frame. */
    const int64_t pause = frames_of(finder, pause_s + window_s);
    for (size_t i = 0; i < count; i++) {
        const float x = samples ? samples[i] : 0;
        const int64_t frame = finder->frames++;
        finder->ring[frame & (finder->ring_size - 1)] = x;
        if (fabsf(x) >= loud) {
            finder->last_loud = frame;
            if (finder->first_loud < 0)
                finder->first_loud = frame;
        } else if (finder->first_loud >= 0 && frame - finder->last_loud >= pause) {
            judge(finder, finder->first_loud, finder->last_loud + 1);
            finder->first_loud = -1;
        }
    }
}
