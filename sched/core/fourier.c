/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fourier.h"

#include <math.h>

/*
 * One pass of Stockham's algorithm with radix 2. The series has `length` blocks of `together` numbers. Each block of the first half is
 * combined with its counterpart in the second half, and the two results become neighbours. So the result needs no bit reversal.
 */
static void pass(const struct fourier_series *from, struct fourier_series *to, int length, int together)
{
    const int half = length / 2;
    const double turn_re = cos(2 * M_PI / length), turn_im = -sin(2 * M_PI / length);
    double re = 1, im = 0; /* exp(-j 2 pi block / length) */
    for (int block = 0; block < half; block++) {
        const int first = block * together, second = first + half * together, sum = 2 * first, difference = sum + together;
        for (int i = 0; i < together; i++) {
            const double less_re = from->re[first + i] - from->re[second + i], less_im = from->im[first + i] - from->im[second + i];
            to->re[sum + i] = from->re[first + i] + from->re[second + i];
            to->im[sum + i] = from->im[first + i] + from->im[second + i];
            to->re[difference + i] = less_re * re - less_im * im;
            to->im[difference + i] = less_re * im + less_im * re;
        }
        const double turned_re = re * turn_re - im * turn_im;
        im = re * turn_im + im * turn_re;
        re = turned_re;
    }
}

const struct fourier_series *fourier_transform(struct fourier *fourier, int size)
{
    int latest = 0;
    for (int length = size; length > 1; length /= 2, latest = !latest)
        pass(&fourier->series[latest], &fourier->series[!latest], length, size / length);
    return &fourier->series[latest];
}
