/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectrum.h"

#include "ns.h"

#include <math.h>

static const double golden_section = 0.61803398874989485;
static const double summit_precision_hz = 1e-5;

/*
 * Adds an event at time t. Its phasor turns by the same angle from each point to the next, so that sine and cosine are
 * computed once an event and not once a point. Rounding grows to 8192 * 1e-16 at most.
 */
static void add_event(struct spectrum *spectrum, double t_s)
{
    const double first = -2 * M_PI * spectrum->from_hz * t_s, turn = -2 * M_PI * spectrum->step_hz * t_s;
    const double turn_re = cos(turn), turn_im = sin(turn);
    double re = cos(first), im = sin(first);
    for (int k = 0; k < spectrum->count; k++) {
        spectrum->power[k] += re;
        spectrum->scratch[k] += im;
        const double turned_re = re * turn_re - im * turn_im;
        im = re * turn_im + im * turn_re;
        re = turned_re;
    }
}

void spectrum_sample(struct spectrum *spectrum, const int64_t *times_ns, int64_t count, double from_hz, double step_hz,
                     int points)
{
    spectrum->from_hz = from_hz;
    spectrum->step_hz = step_hz;
    spectrum->count = points;
    for (int k = 0; k < points; k++)
        spectrum->power[k] = spectrum->scratch[k] = 0;
    for (int64_t i = 0; i < count; i++)
        add_event(spectrum, ns_to_s(times_ns[i] - times_ns[0]));
    for (int k = 0; k < points; k++)
        spectrum->power[k] = spectrum->power[k] * spectrum->power[k] + spectrum->scratch[k] * spectrum->scratch[k];
}

double spectrum_hz(const struct spectrum *spectrum, int point)
{
    return spectrum->from_hz + point * spectrum->step_hz;
}

int spectrum_point(const struct spectrum *spectrum, double hz)
{
    const double point = floor((hz - spectrum->from_hz) / spectrum->step_hz + 0.5);
    return (int)fmax(0, fmin(point, spectrum->count - 1));
}

double spectrum_power_at(const int64_t *times_ns, int64_t count, double hz)
{
    double re = 0, im = 0;
    for (int64_t i = 0; i < count; i++) {
        const double angle = 2 * M_PI * hz * ns_to_s(times_ns[i] - times_ns[0]);
        re += cos(angle);
        im += sin(angle);
    }
    return re * re + im * im;
}

double spectrum_summit_hz(const int64_t *times_ns, int64_t count, double hz, double within_hz)
{
    double low = hz - within_hz, high = hz + within_hz;
    double left = high - golden_section * (high - low), right = low + golden_section * (high - low);
    double power_left = spectrum_power_at(times_ns, count, left);
    double power_right = spectrum_power_at(times_ns, count, right);
    while (high - low > summit_precision_hz) {
        if (power_left < power_right) {
            low = left;
            left = right;
            power_left = power_right;
            right = low + golden_section * (high - low);
            power_right = spectrum_power_at(times_ns, count, right);
        } else {
            high = right;
            right = left;
            power_right = power_left;
            left = high - golden_section * (high - low);
            power_left = spectrum_power_at(times_ns, count, left);
        }
    }
    return (low + high) / 2;
}
