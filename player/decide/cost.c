/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cost.h"

#include <math.h>

enum { FEW = 3, AVERAGED = 50 };

/* With each decode, older ones count this many times less. */
static const double forgetting = 0.97;
/* Limits of a prediction, as multiples of the class's mean. */
static const double least_of_mean = 0.3, most_of_mean = 4;
/* While sizes do not vary, the variance of the slope grows. Beyond the limit nothing is forgotten, or one sample of another
 * size would count alone. */
static const double variance_start = 1e3, variance_max = 1e4;
static const double unknown_of_frame = 0.2;
/* The loop filter took 4 to 35 % of the decodes that were measured. A single picture may be far from what is expected of it. */
static const double unknown_degraded_part = 0.9, least_degraded_part = 0.5, most_seen_part = 1.5;
enum { PARTS_AVERAGED = 32, DEGRADED_RUN_MAX = 16 };
/* In so many whole decodes it is forgotten that degrading saved nothing, and it is tried again. */
static const double parts_forgotten = 500;

void cost_init(struct cost_model *model)
{
    *model = (struct cost_model){0};
    for (int i = 0; i < PICTURE_CLASSES; i++) {
        model->lines[i].covariance[0][0] = model->lines[i].covariance[1][1] = variance_start;
        model->degraded_part[i] = unknown_degraded_part;
    }
}

double cost_predict_ns(const struct cost_model *model, enum picture_class picture_class, int64_t size_bytes,
                       int64_t frame_duration_ns)
{
    const struct cost_line *const line = &model->lines[picture_class];
    if (line->count < FEW)
        return model->count ? model->mean_ns : unknown_of_frame * (double)frame_duration_ns;
    const double fitted_ns = line->at_zero_ns + line->slope_ns * (double)size_bytes / COST_SIZE_UNIT;
    return fmin(fmax(fitted_ns, least_of_mean * line->mean_ns), most_of_mean * line->mean_ns);
}

double cost_degraded_part(const struct cost_model *model, enum picture_class picture_class)
{
    return fmin(fmax(model->degraded_part[picture_class], least_degraded_part), 1);
}

static void average(double *mean_ns, int64_t *count, double cpu_ns)
{
    ++*count;
    *mean_ns += (cpu_ns - *mean_ns) / (double)(*count < AVERAGED ? *count : AVERAGED);
}

/* One step of recursive least squares on (1, size). */
static void fit(struct cost_line *line, double size, double cpu_ns)
{
    double(*const p)[2] = line->covariance;
    const double kept = p[0][0] + p[1][1] < variance_max ? forgetting : 1;
    const double px[2] = {p[0][0] + p[0][1] * size, p[1][0] + p[1][1] * size};
    const double scale = kept + px[0] + size * px[1];
    const double error_ns = cpu_ns - (line->at_zero_ns + line->slope_ns * size);
    line->at_zero_ns += px[0] / scale * error_ns;
    line->slope_ns += px[1] / scale * error_ns;
    for (int row = 0; row < 2; row++)
        for (int column = 0; column < 2; column++)
            p[row][column] = (p[row][column] - px[row] * px[column] / scale) / kept;
}

static void learn_line(struct cost_model *model, enum picture_class picture_class, int64_t size_bytes, double cpu_ns)
{
    struct cost_line *const line = &model->lines[picture_class];
    fit(line, (double)size_bytes / COST_SIZE_UNIT, cpu_ns);
    average(&line->mean_ns, &line->count, cpu_ns);
    average(&model->mean_ns, &model->count, cpu_ns);
}

void cost_learn(struct cost_model *model, enum picture_class picture_class, int64_t size_bytes, int64_t cpu_ns)
{
    double *const part = &model->degraded_part[picture_class];
    learn_line(model, picture_class, size_bytes, (double)cpu_ns);
    if (*part > unknown_degraded_part)
        *part += (unknown_degraded_part - *part) / parts_forgotten;
    model->degraded_run[picture_class] = 0;
}

void cost_learn_at_least(struct cost_model *model, enum picture_class picture_class, int64_t size_bytes, int64_t cpu_ns,
                         int64_t frame_duration_ns)
{
    if ((double)cpu_ns > cost_predict_ns(model, picture_class, size_bytes, frame_duration_ns))
        cost_learn(model, picture_class, size_bytes, cpu_ns);
}

void cost_learn_degraded(struct cost_model *model, enum picture_class picture_class, int64_t size_bytes, int64_t cpu_ns,
                         int64_t frame_duration_ns)
{
    double *const part = &model->degraded_part[picture_class];
    const double whole_ns = cost_predict_ns(model, picture_class, size_bytes, frame_duration_ns);
    if (model->lines[picture_class].count >= FEW && whole_ns > 0 && model->degraded_run[picture_class]++ < DEGRADED_RUN_MAX)
        *part += (fmin((double)cpu_ns / whole_ns, most_seen_part) - *part) / PARTS_AVERAGED;
    learn_line(model, picture_class, size_bytes, (double)cpu_ns / cost_degraded_part(model, picture_class));
}
