/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectrum.h"

#include "ns.h"

#include <math.h>

static const double golden_section = 0.61803398874989485;
static const double summit_precision_hz = 1e-5;

/*
 * The sum over all events at each point would take most of the time of a detection. Instead, this is a nonuniform FFT (L. Greengard,
 * J.-Y. Lee: Accelerating the Nonuniform Fast Fourier Transform, SIAM Review 46, 2004): each event is spread over a grid in time by a
 * Gaussian, the grid is transformed, and the result is divided by the transform of the Gaussian.
 */
enum {
    SIDE = 16, /* grid points to either side of an event. With these and the oversampling, errors are below 1e-7 of `count`. */
    TAPS = 2 * SIDE + 1,
    GRID_MIN = 64,
};
static const double oversampling = 1.25; /* grid points for each point of the spectrum, at least */

struct grid {
    struct fourier_series *series;
    int size;          /* a power of 2. The grid is 1/step_hz long; later events are added from its beginning on. */
    double step_hz;
    double middle_hz;  /* the middle of the spectrum, which is moved to the grid's frequency 0 */
    double variance;   /* of the Gaussian, in squared grid points */
    double taps[TAPS]; /* the Gaussian around a grid point */
};

static double exp_of(double exponent)
{
    return exp2(exponent * M_LOG2E);
}

static int grid_size(int points)
{
    int size = GRID_MIN;
    while (size < oversampling * points)
        size *= 2;
    return size;
}

/* Returns the variance at which both errors are equal: that of cutting the Gaussian off, and that of aliasing. */
static double best_variance(int points, int size)
{
    const double highest = 0.5 * points / size;
    return SIDE / (2 * M_PI * (1 - highest));
}

static void grid_init(struct grid *grid, struct spectrum *spectrum)
{
    *grid = (struct grid){
        .series = &spectrum->fourier.series[0],
        .size = grid_size(spectrum->count),
        .step_hz = spectrum->step_hz,
        .middle_hz = spectrum_hz(spectrum, spectrum->count / 2),
    };
    grid->variance = best_variance(spectrum->count, grid->size);
    for (int tap = 0; tap < TAPS; tap++)
        grid->taps[tap] = exp_of(-(tap - SIDE) * (tap - SIDE) / (2 * grid->variance));
    for (int m = 0; m < grid->size; m++)
        grid->series->re[m] = grid->series->im[m] = 0;
}

/* Adds an event. From tap to tap, its distance to the nearest grid point changes the weight by one factor. */
static void grid_add(struct grid *grid, double t_s)
{
    const double rounds = grid->step_hz * t_s, angle = -2 * M_PI * grid->middle_hz * t_s;
    const double place = (rounds - floor(rounds)) * grid->size, nearest = floor(place + 0.5), off = place - nearest;
    const double factor = exp_of(off / grid->variance), re = cos(angle), im = sin(angle);
    double weight = exp_of(-(off / 2 + SIDE) * off / grid->variance);
    for (int tap = 0; tap < TAPS; tap++) {
        const int at = ((int)nearest - SIDE + tap) & (grid->size - 1);
        grid->series->re[at] += re * weight * grid->taps[tap];
        grid->series->im[at] += im * weight * grid->taps[tap];
        weight *= factor;
    }
}

static double power_of(const struct fourier_series *series, int point)
{
    return series->re[point] * series->re[point] + series->im[point] * series->im[point];
}

/* Divides by the power of the Gaussian, exp(-(2 pi distance / size)^2 variance), from the middle outwards. */
static void divide_out(struct spectrum *spectrum, const struct grid *grid, const struct fourier_series *transformed)
{
    const int middle = spectrum->count / 2;
    const double turn = 2 * M_PI / grid->size, growth = exp_of(2 * turn * turn * grid->variance);
    double factor = exp_of(turn * turn * grid->variance), gain = 1 / (2 * M_PI * grid->variance);
    for (int distance = 0; distance <= middle; distance++) {
        spectrum->power[middle - distance] = gain * power_of(transformed, (grid->size - distance) & (grid->size - 1));
        if (middle + distance < spectrum->count)
            spectrum->power[middle + distance] = gain * power_of(transformed, distance);
        gain *= factor;
        factor *= growth;
    }
}

void spectrum_sample(struct spectrum *spectrum, const int64_t *times_ns, int64_t count, double from_hz, double step_hz,
                     int points)
{
    struct grid grid;
    spectrum->from_hz = from_hz;
    spectrum->step_hz = step_hz;
    spectrum->count = points;
    grid_init(&grid, spectrum);
    for (int64_t i = 0; i < count; i++)
        grid_add(&grid, ns_to_s(times_ns[i] - times_ns[0]));
    divide_out(spectrum, &grid, fourier_transform(&spectrum->fourier, grid.size));
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
