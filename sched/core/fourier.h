/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The discrete Fourier transform of a series of complex numbers. */
#ifndef SCHED_FOURIER_H
#define SCHED_FOURIER_H

enum { FOURIER_MAX = 16384 };

struct fourier_series {
    double re[FOURIER_MAX];
    double im[FOURIER_MAX];
};

/* Working memory, 512 KiB, which the caller holds. Of a shorter series, only as much is touched as it needs. */
struct fourier {
    struct fourier_series series[2];
};

/*
 * Transforms the first `size` numbers of series[0] and returns the result, which is one of the two series:
 *
 *     X[k] = sum over m of x[m] exp(-j 2 pi k m / size)
 *
 * The other one holds what was computed on the way. `size` is a power of 2, at most FOURIER_MAX.
 */
const struct fourier_series *fourier_transform(struct fourier *fourier, int size);

#endif
