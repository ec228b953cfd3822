/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectrum.h"

#include "ns.h"

#include <math.h>

static const double golden_section = 0.61803398874989485;
static const double summit_precision_hz = 1e-5;

/* So many events are added at once: one alone would wait for the result of each step before the next. */
enum { TOGETHER = 8 };

/*
 * Of each event, the phasor at the present point, and by which angle it turns from each point to the next: so sine and cosine are
 * computed once an event and not once a point. Rounding grows to 8192 * 1e-16 at most. Zeros are no event.
 */
struct phasors {
    double re[TOGETHER], im[TOGETHER];
    double turn_re[TOGETHER], turn_im[TOGETHER];
};

static void phasors_set(struct phasors *phasors, int place, const struct spectrum *spectrum, double t_s)
{
    const double first = -2 * M_PI * spectrum->from_hz * t_s, turn = -2 * M_PI * spectrum->step_hz * t_s;
    phasors->re[place] = cos(first);
    phasors->im[place] = sin(first);
    phasors->turn_re[place] = cos(turn);
    phasors->turn_im[place] = sin(turn);
}

static void add_phasors(struct spectrum *spectrum, struct phasors *phasors)
{
    double *const re = phasors->re, *const im = phasors->im;
    const double *const turn_re = phasors->turn_re, *const turn_im = phasors->turn_im;
    for (int k = 0; k < spectrum->count; k++) {
        double sum_re = 0, sum_im = 0;
        for (int i = 0; i < TOGETHER; i++) {
            sum_re += re[i];
            sum_im += im[i];
            const double turned_re = re[i] * turn_re[i] - im[i] * turn_im[i];
            im[i] = re[i] * turn_im[i] + im[i] * turn_re[i];
            re[i] = turned_re;
        }
        spectrum->power[k] += sum_re;
        spectrum->scratch[k] += sum_im;
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
    for (int64_t first = 0; first < count; first += TOGETHER) {
        struct phasors phasors = {0};
        for (int i = 0; i < TOGETHER && first + i < count; i++)
            phasors_set(&phasors, i, spectrum, ns_to_s(times_ns[first + i] - times_ns[0]));
        add_phasors(spectrum, &phasors);
    }
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
