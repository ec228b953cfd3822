/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tolerance.h"

/* Weights below this part of the largest no longer change a sum of so many. */
static const double NEGLIGIBLE = 1e-20;

/* Weights of a binomial distribution, relative to that of its mode: the true weights need logarithms of
 * factorials, but a quotient of sums does not. */
static double weight_below(double weight, uint64_t i, uint64_t n, double ratio)
{
    return weight * (double)i / (double)(n - i + 1) * (1 - ratio) / ratio;
}

static double weight_above(double weight, uint64_t i, uint64_t n, double ratio)
{
    return weight * (double)(n - i) / (double)(i + 1) * ratio / (1 - ratio);
}

static double sum_to_mode(uint64_t mode, uint64_t n, double ratio)
{
    double sum = 0, weight = 1;
    for (uint64_t i = mode; weight > NEGLIGIBLE; i--) {
        sum += weight;
        weight = weight_below(weight, i, n, ratio); /* 0 below i = 0 */
    }
    return sum;
}

static double sum_above_mode(uint64_t mode, uint64_t n, double ratio)
{
    double sum = 0, weight = weight_above(1, mode, n, ratio);
    for (uint64_t i = mode + 1; weight > NEGLIGIBLE; i++) {
        sum += weight;
        weight = weight_above(weight, i, n, ratio);
    }
    return sum;
}

/* Returns the largest j with P(at most j of n lie above) <= the doubt. */
int64_t dlex_tolerance_above(uint64_t n, double ratio)
{
    uint64_t i = (uint64_t)((double)n * ratio);
    double up_to_i = sum_to_mode(i, n, ratio);
    const double doubt = TOLERANCE_DOUBT * (up_to_i + sum_above_mode(i, n, ratio));
    for (double weight = 1; up_to_i > doubt; i--) {
        if (i == 0)
            return -1;
        up_to_i -= weight;
        weight = weight_below(weight, i, n, ratio);
    }
    return (int64_t)i;
}

static double power(double base, uint64_t exponent)
{
    double product = 1;
    for (; exponent > 0; exponent >>= 1, base *= base) {
        if (exponent & 1)
            product *= base;
    }
    return product;
}

/* The maximum is a limit as soon as (1 - ratio)^n, the chance that none lies above, is small. */
uint64_t dlex_tolerance_samples(double ratio)
{
    uint64_t too_few = 0, enough = 1;
    while (power(1 - ratio, enough) > TOLERANCE_DOUBT && enough < UINT64_MAX / 2) {
        too_few = enough;
        enough *= 2;
    }
    while (enough - too_few > 1) {
        const uint64_t n = too_few + (enough - too_few) / 2;
        if (power(1 - ratio, n) > TOLERANCE_DOUBT)
            too_few = n;
        else
            enough = n;
    }
    return enough;
}
