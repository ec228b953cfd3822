/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim_report.h"

#include "build_facts.h"
#include "ns.h"

#include <math.h>

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static int droppable_pictures(const struct sim_film *film)
{
    int count = 0;
    for (int packet = 0; packet < film->count; packet++)
        count += film->packets[packet].picture_class == CLASS_DROPPABLE;
    return count;
}

/* Returns which part of the CPU time of decoding everything droppable pictures take; NAN: decoding takes none. */
static double droppable_cpu_part(const struct sim_film *film)
{
    double droppable_ns = 0;
    double all_ns = 0;
    for (int packet = 0; packet < film->count; packet++) {
        all_ns += (double)film->cost_ns[packet];
        if (film->packets[packet].picture_class == CLASS_DROPPABLE)
            droppable_ns += (double)film->cost_ns[packet];
    }
    return droppable_ns / all_ns;
}

static json_t *film_json(const struct sim_options *options, const struct sim_film *film)
{
    const double cost_ns = sim_scale(options, film) * sim_film_mean_cost_ns(film);
    const double presenting_ns = (double)(options->playing.draw_cpu_ns + options->playing.flip_cpu_ns);
    const double supply_ns = sim_supply_mean(options) * (double)film->frame_duration_ns;
    return json_pack("{s:i, s:i, s:o, s:f, s:f, s:f}",
                     "pictures", film->count,
                     "droppable", droppable_pictures(film),
                     "droppable_cpu_part", number_or_null(droppable_cpu_part(film)),
                     "frame_ms", ns_to_ms(film->frame_duration_ns),
                     "decode_ms_mean", cost_ns / NS_PER_MS,
                     "demand", (cost_ns + presenting_ns) / supply_ns);
}

json_t *sim_report_begin(const struct sim_options *options, const struct sim_film *film)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:o}",
                     "format", 1,
                     "version", PROGRAM_VERSION,
                     "commit", DLEX_COMMIT,
                     "trace", options->trace_path,
                     "supply", options->supply_text,
                     "queue", (json_int_t)options->playing.queue,
                     "film", film_json(options, film));
}

static json_t *bound_json(const struct sim_figures *figures)
{
    return figures->drops_at_least < 0 ? json_null()
                                       : json_pack("{s:i, s:f}",
                                                   "drops", figures->drops_at_least,
                                                   "rmse_q16_sum", figures->rmse_q16_at_least);
}

static json_t *count_or_null(const struct loss_windows *windows, int64_t count)
{
    return windows->window.y > 0 ? json_integer(count) : json_null();
}

json_t *sim_report_run(const struct sim_figures *figures)
{
    const struct quality *const quality = &figures->quality;
    const double wasted = (double)figures->wasted_cpu_ns;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o}",
                     "seed", (json_int_t)figures->seed,
                     "frames", (json_int_t)quality->frames,
                     "shown", (json_int_t)quality->shown,
                     "dropped", (json_int_t)quality->dropped,
                     "aborted", (json_int_t)quality->aborted,
                     "skipped", (json_int_t)quality->skipped,
                     "late", (json_int_t)quality->late,
                     "violations_sliding", count_or_null(&figures->windows, figures->windows.violations_sliding),
                     "violations_aligned", count_or_null(&figures->windows, figures->windows.violations_aligned),
                     "degraded", (json_int_t)quality->degraded,
                     "drifted", (json_int_t)quality->drifted,
                     "rmse_q16_sum", rmse_q16(quality->rmse_sum_8bit),
                     "skew_ms_mean", number_or_null(quality->skew_ms.mean),
                     "skew_ms_sd", number_or_null(quality->skew_ms.sd),
                     "skew_ms_abs_mean", number_or_null(figures->skew_ms_abs_mean),
                     "skew_ms_p99", number_or_null(quality->skew_ms.p99),
                     "longest_freeze_ms", number_or_null(quality->longest_freeze_ms),
                     "cost_mape", number_or_null(figures->cost_mape),
                     "cost_r2", number_or_null(figures->cost_r2),
                     "wasted_cpu_ms", wasted / NS_PER_MS,
                     "wasted_of_droppable", number_or_null(wasted / (double)figures->droppable_cpu_ns),
                     "at_least", bound_json(figures));
}
